// Derivatives of views: the gradient is looked at the other way round.

#include <algorithm>
#include <optional>
#include <vector>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/autograd/view_nodes.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/ops/indexing/view_backward.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

Tensor permute_gradient(const Tensor& grad, IntArrayRef dims) {
  const int64_t rank = grad.dim();
  DimVector inverse(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    inverse[static_cast<size_t>(wrap_dim("permute", dims[i], rank))] = static_cast<int64_t>(i);
  return permute(grad, inverse);
}

// With the dimensions that were dropped of those that might be, which is known of their sizes. Of
// what is in them nothing is asked, as view() would.
Tensor unsqueeze_gradient(const Tensor& grad, const InputMetadata& self,
                          std::optional<IntArrayRef> dims = std::nullopt) {
  const auto rank = static_cast<int64_t>(self.sizes.size());
  Tensor result = grad;
  for (int64_t d = 0; d < rank && result.dim() < rank; ++d) {
    const bool may_be = !dims || std::ranges::any_of(*dims, [&](int64_t dim) {
      return wrap_dim("squeeze", dim, rank) == d;
    });
    if (may_be && known(self.sizes[static_cast<size_t>(d)] == 1)) result = unsqueeze(result, d);
  }
  return result.dim() == rank ? result : view(grad, self.sizes);
}

// The number that PyTorch writes for "to the end".
constexpr int64_t kEnd = INT64_MAX;

// Backward of a view of all elements in their order.
class ReshapedNode final : public GradNode {
 public:
  ReshapedNode(const Tensor& self, const Tensor& result)
      : sizes_(self.sym_sizes().begin(), self.sym_sizes().end()) {
    add_edge(gradient_edge(self));
    add_input(result);
  }
  std::string name() const override { return "aten::_reshape_alias backward"; }
  TensorVector apply(TensorVector grads) override {
    return {grads[0].defined() ? reshape(grads[0], sizes_) : Tensor()};
  }

 private:
  SymDimVector sizes_;
};

// Whether the strides are known to be those of a view of self.
bool is_reshaped(const Tensor& self, SymIntArrayRef size, SymIntArrayRef stride) {
  SymInt numel = 1;
  for (const SymInt& n : size) numel = numel * n;
  if (!known(numel == self.sym_numel())) return false;
  if (any_symbolic(self, size, stride)) {
    const SymDimVector dense = contiguous_strides(size);
    return self.is_contiguous() && known(equal_sizes<SymInt>(stride, dense));
  }
  const std::optional<DimVector> strides =
      view_strides(self.sizes(), self.strides(), size.expect_ints());
  return strides && std::ranges::equal(*strides, stride.expect_ints());
}

// With symbols: true where it may be so.
bool may_reach_beyond(const Tensor& self, const Tensor& view) {
  if (known(view.sym_numel() == 0)) return false;
  SymInt last = view.sym_storage_offset();
  for (int64_t d = 0; d < view.dim(); ++d) last += (view.sym_size(d) - 1) * view.sym_stride(d);
  const SymInt begin = self.sym_storage_offset();
  return !self.is_contiguous() || !asked_or_false(view.sym_storage_offset() >= begin) ||
         !asked_or_false(last < begin + self.sym_numel());
}

bool reaches_beyond(const Tensor& self, const Tensor& view) {
  if (any_symbolic(self) || any_symbolic(view)) return may_reach_beyond(self, view);
  return *internal::reaches_beyond(internal::Geometry(self), internal::Geometry(view));
}

// Says that `result` is what lies at its places of self's memory: neither an argument nor a size
// says where self has them. What self itself has not comes from the tensor that self is a view of.
void record_strided(const Tensor& self, const Tensor& result) {
  const Tensor base = base_of(self);
  const bool beyond = base.defined() && base.is_alias_of(result) && reaches_beyond(self, result);
  constexpr DispatchKeySet kBits{DispatchKey::Conjugate, DispatchKey::Negative};
  const bool is_alike = beyond && base.dtype() == result.dtype() &&
                        (base.key_set() & kBits) == (result.key_set() & kBits);
  internal::grad_meta(result).grad_fn = make_intrusive<internal::AsStridedNode>(
      is_alike ? base : self, result, /*must_be_inside=*/beyond && !is_alike);
}

Tensor as_strided_recorded(DispatchKeySet keys, const Tensor& self, SymIntArrayRef size,
                           SymIntArrayRef stride, std::optional<SymInt> storage_offset) {
  const Tensor result = [&] {
    const internal::BelowRecordingGuard below;
    return as_strided.redispatch(internal::keys_below_recording(keys), self, size, stride,
                                 storage_offset);
  }();
  internal::note_view(self, result, internal::view_origin(false));
  if (is_grad_enabled() && internal::needs_grad(self)) record_strided(self, result);
  return result;
}

Tensor reshape_alias_recorded(DispatchKeySet keys, const Tensor& self, SymIntArrayRef size,
                              SymIntArrayRef stride) {
  const Tensor result = [&] {
    const internal::BelowRecordingGuard below;
    return _reshape_alias.redispatch(internal::keys_below_recording(keys), self, size, stride);
  }();
  internal::note_view(self, result, internal::view_origin(false));
  if (!is_grad_enabled() || !internal::needs_grad(self)) return result;
  if (is_reshaped(self, size, stride))
    internal::grad_meta(result).grad_fn = make_intrusive<ReshapedNode>(self, result);
  else
    record_strided(self, result);
  return result;
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  m.impl(as_strided, DispatchKey::Autograd, as_strided_recorded);
  m.impl(_reshape_alias, DispatchKey::Autograd, reshape_alias_recorded);
  derive(m, alias, SB_GRAD(self, (grad), grad));

  derive(m, permute, SB_GRAD(self, (grad, dims), permute_gradient(grad, dims)));
  derive(m, transpose, SB_GRAD(self, (grad, dim0, dim1), transpose(grad, dim0, dim1)));
  derive(m, t, SB_GRAD(self, (grad), t(grad)));

  derive(m, squeeze, SB_GRAD(self, (grad, self_meta), unsqueeze_gradient(grad, self_meta)));
  derive(m, squeeze_dim,
         SB_GRAD(self, (grad, self_meta, dim), unsqueeze_gradient(grad, self_meta, {{dim}})));
  derive(m, squeeze_dims,
         SB_GRAD(self, (grad, self_meta, dim), unsqueeze_gradient(grad, self_meta, dim)));
  derive(m, unsqueeze, SB_GRAD(self, (grad, dim), squeeze_dim(grad, dim)));

  derive(m, expand, SB_GRAD(self, (grad), grad));

  derive(m, view, SB_GRAD(self, (grad, self_meta), reshape(grad, self_meta.sizes)));
  derive(m, _unsafe_view, SB_GRAD(self, (grad, self_meta), reshape(grad, self_meta.sizes)));
  // Of bytes under another dtype there is no gradient: the view does not hang on self.
  m.impl(view_dtype, DispatchKey::Autograd, fallthrough);

  derive(m, select,
         SB_GRAD(self, (grad, self_meta, dim, index),
                 select_backward(grad, self_meta.sizes, dim, index.guard_int())));
  derive(m, slice,
         SB_GRAD(self, (grad, self_meta, dim, start, end, step),
                 slice_backward(grad, self_meta.sizes, dim, start.value_or(0), end.value_or(kEnd),
                                step)));
}

SB_LIBRARY_IMPL(aten, ADInplaceOrView, m) {
  m.impl(view_dtype, DispatchKey::ADInplaceOrView, fallthrough);
}

}  // namespace
}  // namespace sb
