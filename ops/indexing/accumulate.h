// Arithmetic where several elements may meet one place: the reductions of scatter, index_add,
// index_put and their like.

#ifndef SWITCHBOARD_OPS_INDEXING_ACCUMULATE_H_
#define SWITCHBOARD_OPS_INDEXING_ACCUMULATE_H_

#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "switchboard/core/tensor.h"
#include "switchboard/ops/indexing/indexed_walk.h"

namespace sb {

enum class Accumulation : uint8_t { Sum, Product, Mean, Max, Min };

// Of index_reduce: "prod", "mean", "amax" or "amin"; of scatter_reduce also "sum". RuntimeError for
// another name.
Accumulation parse_accumulation(const char* op, std::string_view reduce, bool with_sum);

// Mean is not for bool, Max and Min are not for complex dtypes.
bool has_accumulation(Accumulation kind, DType dtype);

// Makes a walk that writes to `table`, from the elements of `other`.
using MakeWalk = absl::FunctionRef<IndexedWalk(const Tensor& table, const Tensor& other)>;

// Writes other's elements to the places of `table` that the walk gives them; of several for one
// place the last stays.
void write_indexed(const Tensor& table, const Tensor& other, MakeWalk make_walk);

// Combines other's elements with those of `table`, both of one dtype, in the walk's order. Without
// include_self, the elements that `table` had at these places do not count. The 16-bit
// floating-point dtypes are computed in float32. Integers wrap; their mean is rounded down. NaN is
// the largest and the smallest number.
void accumulate_indexed(Accumulation kind, const Tensor& table, const Tensor& other,
                        bool include_self, MakeWalk make_walk);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_ACCUMULATE_H_
