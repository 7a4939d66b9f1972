// Fourier transforms of all lines of a tensor along a dimension.

#ifndef SWITCHBOARD_OPS_FFT_TRANSFORM_LINES_H_
#define SWITCHBOARD_OPS_FFT_TRANSFORM_LINES_H_

#include <cstdint>

#include "switchboard/core/tensor.h"

namespace sb {

// Transforms the lines along `dim`, of `points` numbers, by FFTW where it is there and by Eigen
// otherwise, and multiplies by `scale`. CPU tensors of float32, float64 and their complex types:
// complex to complex, real to complex, or the first points / 2 + 1 numbers of a symmetric spectrum
// to real. The two may be one. Each line is computed as it would be alone, at any number of
// threads. RuntimeError for more than 2^27 points.
void transform_lines(const Tensor& from, const Tensor& to, int64_t dim, int64_t points,
                     bool forward, double scale);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_FFT_TRANSFORM_LINES_H_
