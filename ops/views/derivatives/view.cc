// Derivatives of views: the gradient is looked at the other way round.

#include <algorithm>
#include <optional>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/autograd/view_nodes.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/ops/indexing/view_backward.h"
#include "switchboard/ops/shape/dims.h"
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

// The operator itself does not ask how many elements there are.
Tensor reshape_alias_gradient(const Tensor& grad, const InputMetadata& self) {
  SymInt numel = 1;
  for (const SymInt& size : self.sizes) numel = numel * size;
  SB_CHECK_NOT_IMPLEMENTED(grad.sym_numel() == numel, "aten::_reshape_alias backward: expected as ",
                           "many elements as self has, ", numel.to_string(), ", got ",
                           grad.describe(), "; use as_strided");
  return reshape(grad, self.sizes);
}

// The number that PyTorch writes for "to the end".
constexpr int64_t kEnd = INT64_MAX;

// as_strided of what is laid out as self was: neither an argument nor a size says how.
Tensor as_strided_recorded(DispatchKeySet keys, const Tensor& self, SymIntArrayRef size,
                           SymIntArrayRef stride, std::optional<SymInt> storage_offset) {
  const Tensor result = [&] {
    const internal::BelowRecordingGuard below;
    return as_strided.redispatch(internal::keys_below_recording(keys), self, size, stride,
                                 storage_offset);
  }();
  internal::note_view(self, result, internal::view_origin(false));
  if (is_grad_enabled() && internal::needs_grad(self))
    internal::grad_meta(result).grad_fn = make_intrusive<internal::AsStridedNode>(self, result);
  return result;
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  m.impl(as_strided, DispatchKey::Autograd, as_strided_recorded);
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
  derive(m, _reshape_alias,
         SB_GRAD(self, (grad, self_meta), reshape_alias_gradient(grad, self_meta)));
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
