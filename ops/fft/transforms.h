// Discrete Fourier transforms along some dimensions: what the operators of spectra.h are made of.

#ifndef SWITCHBOARD_OPS_FFT_TRANSFORMS_H_
#define SWITCHBOARD_OPS_FFT_TRANSFORMS_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// What a transform is divided by, by the numbers that schemas have for `normalization`: nothing,
// the root of the number of points, the number of points (as of any other number).
enum class FftNorm : int64_t { None = 0, ByRootN = 1, ByN = 2 };

// Dimensions count from 0 up here: RuntimeError for others, for one that is named twice, and for a
// tensor without dimensions. RuntimeError for what is not complex where that is expected, TypeError
// for what is not real, NotImplementedError for 16-bit floats. Results have the transformed
// dimensions innermost, as PyTorch's with MKL. An out may have any dtype.

// Complex numbers to as many.
SB_OP(_fft_c2c,
      "aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor");
SB_OP(_fft_c2c_out, out_of(_fft_c2c, "out"));
// Real numbers to complex ones, forward. The result is symmetric, and has n / 2 + 1 of the n
// numbers in the last of the dimensions if onesided.
SB_OP(_fft_r2c,
      "aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor");
SB_OP(_fft_r2c_out, out_of(_fft_r2c, "out"));
// Back from that, to last_dim_size numbers in the last of the dimensions, where self has
// last_dim_size / 2 + 1: RuntimeError for less; what is more does not count.
SB_OP(_fft_c2r,
      "aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> "
      "Tensor");
SB_OP(_fft_c2r_out, out_of(_fft_c2r, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_FFT_TRANSFORMS_H_
