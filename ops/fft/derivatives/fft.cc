// Derivatives of Fourier transforms, which are linear: the gradient is transformed the other way,
// and divided by the same.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/fft/transforms.h"
#include "switchboard/ops/indexing/pad.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// With zeros in front and behind, along a dimension.
Tensor filled_up(const Tensor& t, int64_t dim, const SymInt& front, const SymInt& behind) {
  if (same_size(front, SymInt(0)) && same_size(behind, SymInt(0))) return t;
  // The pairs of numbers begin with the last dimension's.
  SymDimVector pads(2 * static_cast<size_t>(t.dim() - dim), 0);
  pads[pads.size() - 2] = front;
  pads[pads.size() - 1] = behind;
  return constant_pad_nd(t, SymIntArrayRef(pads), 0);
}
SymInt size_along(const InputMetadata& meta, int64_t dim) {
  return meta.sizes[static_cast<size_t>(dim)];
}

// The other half of the spectrum was dropped, and so has no gradient. The engine takes the real
// part.
Tensor real_signal_gradient(const Tensor& grad, const Tensor& self, IntArrayRef dims,
                            int64_t normalization, bool onesided) {
  const int64_t last = dims.back();
  const SymInt missing = onesided ? self.sym_size(last) - grad.sym_size(last) : SymInt(0);
  return _fft_c2c(filled_up(grad, last, 0, missing), dims, normalization, /*forward=*/false);
}

// Each number of the half spectrum counted as itself and as its conjugate, but the first and, of an
// even number of points, the last. What self has behind did not count.
Tensor half_spectrum_gradient(const Tensor& grad, const InputMetadata& self, IntArrayRef dims,
                              int64_t normalization) {
  const int64_t last = dims.back();
  Tensor half = _fft_r2c(grad, dims, normalization, /*onesided=*/true);
  const SymInt size = half.sym_size(last), twice = grad.sym_size(last) - size;
  if (twice > 0)
    half = add(half, filled_up(slice(half, last, 1, 1 + twice), last, 1, size - 1 - twice));
  return filled_up(half, last, 0, size_along(self, last) - size);
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, _fft_c2c,
         SB_GRAD(self, (grad, dim, normalization, forward),
                 _fft_c2c(grad, dim, normalization, !forward)));
  derive(m, _fft_r2c,
         SB_GRAD(self, (grad, self, dim, normalization, onesided),
                 real_signal_gradient(grad, self, dim, normalization, onesided)));
  derive(m, _fft_c2r,
         SB_GRAD(self, (grad, self_meta, dim, normalization),
                 half_spectrum_gradient(grad, self_meta, dim, normalization)));
}

}  // namespace sb
