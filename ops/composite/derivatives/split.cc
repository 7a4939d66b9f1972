// The derivatives of split.h, where its results do not tell what they are views of.

#include "switchboard/ops/composite/split.h"

#include <vector>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/cat.h"

namespace sb {
namespace {

// The gradients of the parts in their order; length_of(i, start) is how long part i is.
template <class F>
Tensor joined(absl::Span<const Tensor> grads, const InputMetadata& whole, int64_t dim,
              const F& length_of) {
  const auto d = static_cast<size_t>(dim < 0 ? dim + whole.dim() : dim);
  std::vector<Tensor> parts;
  SymInt start = 0;
  for (size_t i = 0; i < grads.size(); ++i) {
    SymDimVector sizes = whole.sizes;
    sizes[d] = length_of(i, start);
    start = start + sizes[d];
    parts.push_back(grads[i].defined() ? grads[i]
                                       : zeros(sizes, TensorOptions(whole.dtype, whole.device)));
  }
  return cat(parts, dim);
}

Tensor equal_parts_gradient(absl::Span<const Tensor> grads, const InputMetadata& whole,
                            const SymInt& length, int64_t dim) {
  const SymInt& size = whole.sizes[static_cast<size_t>(dim < 0 ? dim + whole.dim() : dim)];
  return joined(grads, whole, dim, [&](size_t i, const SymInt& start) {
    return i + 1 < grads.size() ? length : size - start;
  });
}
Tensor parts_gradient(absl::Span<const Tensor> grads, const InputMetadata& whole,
                      SymIntArrayRef lengths, int64_t dim) {
  return joined(grads, whole, dim, [&](size_t i, const SymInt&) { return lengths[i]; });
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, unsafe_split,
         SB_GRAD(self, (grads, self_meta, split_size, dim),
                 equal_parts_gradient(grads, self_meta, split_size, dim)));
  derive(m, unsafe_split_with_sizes,
         SB_GRAD(self, (grads, self_meta, split_sizes, dim),
                 parts_gradient(grads, self_meta, split_sizes, dim)));
}

}  // namespace
}  // namespace sb
