// What an operator makes of shapes: it runs on tensors without data, which nobody sees.

#ifndef SWITCHBOARD_TRANSFORMS_VMAP_SHAPES_H_
#define SWITCHBOARD_TRANSFORMS_VMAP_SHAPES_H_

#include <optional>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb::batching {

// A meta tensor of the same dtype, sizes, strides, offset and lazy bits.
Tensor meta_like(const Tensor& tensor);
// A dense meta tensor of these sizes; one of the tensor's sizes with a batch in front.
Tensor meta_of(std::vector<SymInt> sizes, DType dtype);
Tensor meta_batch(const Tensor& example, int64_t size);
// meta_like() for every tensor in the values.
std::vector<IValue> meta_arguments(const std::vector<IValue>& arguments);

// The results of the operator on meta tensors, below all layers and modes; what it writes to is
// changed. nullopt where nothing can be learned: no shape rule, or one that asks for data. Throws
// what the rule throws.
std::optional<std::vector<IValue>> run_on_meta(const OperatorHandle& op,
                                               const std::vector<IValue>& arguments);
// The same; nullopt where it throws.
std::optional<std::vector<IValue>> try_on_meta(const OperatorHandle& op,
                                               const std::vector<IValue>& arguments);

// Of the batch that shapes are looked at with: a size that no other dimension has.
inline constexpr int64_t kUnlikelySize = 1000003;

// Whether the results of an operator on values are those of one example, with a batch of that size
// in front: in number, dtypes and sizes.
bool has_batch_in_front(const std::vector<IValue>& values, const std::vector<IValue>& example,
                        int64_t size);
// The same for results that have a batch of that size in the place of their first dimension.
bool has_joined_batch(const std::vector<IValue>& values, const std::vector<IValue>& example,
                      int64_t size);

}  // namespace sb::batching

#endif  // SWITCHBOARD_TRANSFORMS_VMAP_SHAPES_H_
