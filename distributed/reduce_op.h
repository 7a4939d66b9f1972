// What a reduction computes, in an order that depends on nothing but the number of parts.

#ifndef SWITCHBOARD_DISTRIBUTED_REDUCE_OP_H_
#define SWITCHBOARD_DISTRIBUTED_REDUCE_OP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "switchboard/core/tensor.h"

namespace sb {

// As `torch.distributed.ReduceOp`, spelt as functional collectives spell it: sum, avg, product,
// min, max, band, bor, bxor.
enum class ReduceOp : uint8_t { Sum, Avg, Product, Min, Max, BitAnd, BitOr, BitXor };

// Throws RuntimeError, beginning with blame(), for a name that is none of them, and TypeError for a
// dtype that has no such reduction: avg is of floating-point and complex numbers, min and max not
// of complex ones, bitwise ones of integers and bool; quantized tensors have none.
ReduceOp parse_reduce_op(std::string_view name, DType dtype,
                         absl::FunctionRef<std::string()> blame);

// Combines tensors of one shape, one from each rank in order, by a fixed tree: the first half (of
// the largest power of two that is less than n), the rest, and then the two. So the bits depend on
// neither engine nor time, and n parts that one rank has combined by the same tree give what n
// ranks give. `parts` is not empty; the result may be one of them.
Tensor reduce_tree(ReduceOp op, std::vector<Tensor> parts);
// The same into `out`, of their shape and dtype, which may be one of the parts.
void reduce_tree_into(ReduceOp op, absl::Span<const Tensor> parts, const Tensor& out);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_REDUCE_OP_H_
