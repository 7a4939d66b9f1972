// How a tensor is a view of another: a chain of view operators that can be run forward on any base,
// and backward, to make the base as it would be after a write to the view.

#ifndef SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_VIEW_CHAIN_H_
#define SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_VIEW_CHAIN_H_

#include <optional>
#include <utility>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb {

// One call of a view operator, without the tensor that it views. As `ViewMeta`.
struct ViewStep {
  OperatorHandle op;
  std::vector<IValue> arguments;  // the viewed one is None
  size_t viewed = 0;              // its index
  size_t output = 0;              // which of the tensors that the operator returns

  // The view of another tensor.
  Tensor apply(const Tensor& base) const;
  // `base` as it is after its view was overwritten with `view`; no operator that it calls mutates.
  // See view_inverse.h.
  Tensor invert(const Tensor& base, const Tensor& view) const;
};

// Applied first to last.
using ViewChain = std::vector<ViewStep>;

Tensor apply_chain(const ViewChain& chain, const Tensor& base);
Tensor invert_chain(const ViewChain& chain, const Tensor& base, const Tensor& view);
// `base`, a whole storage, after `old`, a view of it, was overwritten with `view`: all at once, by
// where the elements lie. Where a view repeats elements, a step back at a time would bring back old
// ones.
Tensor write_by_layout(const Tensor& base, const Tensor& old, const Tensor& view);

// What a view of a whole storage looks like; the offset counts elements of `dtype` from the start
// of the storage.
struct ViewForm {
  DType dtype;
  SymIntArrayRef sizes, strides;
  SymInt offset;
  DispatchKeySet keys;  // for lazy bits

  explicit ViewForm(const Tensor& view)
      : ViewForm(view.dtype(), view.sym_sizes(), view.sym_strides(), view.sym_storage_offset(),
                 view.key_set()) {}
  ViewForm(DType dtype, SymIntArrayRef sizes, SymIntArrayRef strides, SymInt offset,
           DispatchKeySet keys)
      : dtype(dtype), sizes(sizes), strides(strides), offset(std::move(offset)), keys(keys) {}
};
// The chain from `base`, a whole storage without lazy bits, to any view of it.
// NotImplementedError where the view is known to end behind a base that has symbols.
ViewChain chain_to(const Tensor& base, const ViewForm& view);
// The steps that set the lazy bits among `keys`.
ViewChain chain_to_bits(DispatchKeySet keys);
// A view of the elements as they lie in memory.
Tensor without_bits(const Tensor& tensor);

// No symbol becomes a number in what follows, and none is asked for: what is not known for all
// sizes is not so. The storage of a tensor with symbols ends where the tensor does: what comes
// behind, if anything, no symbol tells.

// Whether both are the same, number by number.
bool are_same(SymIntArrayRef a, SymIntArrayRef b);
// Whether both have the same sizes, strides and offset.
bool lie_alike(const Tensor& a, const Tensor& b);
// The elements from the start of the storage to the end of such a view of it.
SymInt reach_of(SymIntArrayRef sizes, SymIntArrayRef strides, const SymInt& offset);
// Whether two elements might have one place in memory: true unless strides, smallest first, each
// step over all that came before.
bool may_overlap(const Tensor& tensor);
// Whether the tensor's elements are its storage's bytes, each once.
bool is_whole_storage(const Tensor& tensor);
// The whole storage as a vector of the tensor's dtype, or of bytes where that leaves a remainder;
// without lazy bits.
Tensor flat_storage(const Tensor& tensor);
// `value`, or a copy that has these strides and a storage of its own. The strides are dense.
Tensor with_strides(const Tensor& value, SymIntArrayRef strides);

// The tensors of some results, those in lists included, in order.
std::vector<Tensor> flatten_tensors(absl::Span<const IValue> values);

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_VIEW_CHAIN_H_
