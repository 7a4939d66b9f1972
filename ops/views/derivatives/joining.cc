// Derivatives of what puts tensors side by side (cat, stack, repeat) and of what takes one apart.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/repeat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Whether it is what cat leaves out, whatever the shape of the others: of shape [0].
bool is_left_out(const InputMetadata& t) {
  return t.sizes.size() == 1 && !t.sizes[0].is_symbolic() && t.sizes[0].guard_int() == 0;
}

std::vector<Tensor> cat_gradients(const Tensor& grad, absl::Span<const InputMetadata> tensors,
                                  int64_t dim) {
  const size_t d = static_cast<size_t>(wrap_dim("cat", dim, grad.dim()));
  std::vector<Tensor> parts;
  SymInt start = 0;
  for (const InputMetadata& t : tensors) {
    if (is_left_out(t)) {
      parts.push_back(zeros({0}, TensorOptions(grad.dtype(), grad.device())));
      continue;
    }
    parts.push_back(narrow(grad, dim, start, t.sizes[d]));
    start = start + t.sizes[d];
  }
  return parts;
}

// The sum of the copies.
Tensor repeat_gradient(const Tensor& grad, const InputMetadata& self, SymIntArrayRef repeats) {
  SymDimVector sizes;
  DimVector copies;
  const size_t added = repeats.size() - self.sizes.size();
  for (size_t d = 0; d < repeats.size(); ++d) {
    copies.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(repeats[d]);
    if (d >= added) sizes.push_back(self.sizes[d - added]);
  }
  return copies.empty() ? grad : sum_dim(reshape(grad, sizes), copies);
}

Tensor zeros_of(const InputMetadata& self, SymIntArrayRef sizes) {
  return zeros(sizes, TensorOptions(self.dtype, self.device));
}

Tensor unbind_gradient(absl::Span<const Tensor> grads, const InputMetadata& self, int64_t dim) {
  SymDimVector sizes = self.sizes;
  sizes.erase(sizes.begin() + wrap_dim("unbind", dim, self.dim()));
  std::vector<Tensor> parts(grads.begin(), grads.end());
  for (Tensor& part : parts)
    if (!part.defined()) part = zeros_of(self, sizes);
  return stack(parts, dim);
}

// Of parts whose length along `dim` is length_of(i).
template <class F>
Tensor parts_gradient(absl::Span<const Tensor> grads, const InputMetadata& self, int64_t dim,
                      const F& length_of) {
  SymDimVector sizes = self.sizes;
  const size_t d = static_cast<size_t>(wrap_dim("split", dim, self.dim()));
  std::vector<Tensor> parts(grads.begin(), grads.end());
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].defined()) continue;
    sizes[d] = length_of(i, self.sizes[d]);
    parts[i] = zeros_of(self, sizes);
  }
  return cat(parts, dim);
}
Tensor split_gradient(absl::Span<const Tensor> grads, const InputMetadata& self,
                      const SymInt& split_size, int64_t dim) {
  return parts_gradient(grads, self, dim, [&](size_t i, const SymInt& size) {
    return i + 1 < grads.size() ? split_size
                                : size - split_size * static_cast<int64_t>(grads.size() - 1);
  });
}
Tensor split_with_sizes_gradient(absl::Span<const Tensor> grads, const InputMetadata& self,
                                 SymIntArrayRef split_sizes, int64_t dim) {
  return parts_gradient(grads, self, dim, [&](size_t i, const SymInt&) { return split_sizes[i]; });
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, cat,
         SB_GRAD(tensors, (grad, tensors_meta, dim), cat_gradients(grad, tensors_meta, dim)));
  derive(m, stack, SB_GRAD(tensors, (grad, dim), unbind(grad, dim)));
  derive(m, repeat,
         SB_GRAD(self, (grad, self_meta, repeats), repeat_gradient(grad, self_meta, repeats)));

  // split.sizes and chunk are made of these.
  derive(m, unbind, SB_GRAD(self, (grads, self_meta, dim), unbind_gradient(grads, self_meta, dim)));
  derive(m, split,
         SB_GRAD(self, (grads, self_meta, split_size, dim),
                 split_gradient(grads, self_meta, split_size, dim)));
  derive(m, split_with_sizes,
         SB_GRAD(self, (grads, self_meta, split_sizes, dim),
                 split_with_sizes_gradient(grads, self_meta, split_sizes, dim)));
}

}  // namespace
}  // namespace sb
