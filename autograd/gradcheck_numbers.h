// Elements of tensors as numbers, and back, for gradcheck.

#ifndef SWITCHBOARD_AUTOGRAD_GRADCHECK_NUMBERS_H_
#define SWITCHBOARD_AUTOGRAD_GRADCHECK_NUMBERS_H_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "switchboard/core/tensor.h"

namespace sb::internal {

// The elements of a tensor in the order of its indices.
using GradcheckNumbers = std::vector<std::complex<double>>;

GradcheckNumbers numbers_of(const Tensor& t);
// A leaf of these elements; sizes, strides, dtype, device and requires_grad are those of `like`.
Tensor tensor_like(const Tensor& like, const GradcheckNumbers& numbers);
// The same, contiguous, and requiring no gradient.
Tensor plain_tensor_like(const Tensor& like, const GradcheckNumbers& numbers);

// The largest distance between elements of tensors of one shape; NaN is NaN, and infinitely far
// from everything else.
double largest_difference(const Tensor& a, const Tensor& b);

// The indices of the n-th element.
std::vector<int64_t> element_index(const Tensor& t, size_t n);

// "[0, 2]".
std::string text_of(const std::vector<int64_t>& index);
// Six digits; 0 for what is 0 but for rounding.
std::string text_of(double x);
// "2.5", or "(1-2j)" with an imaginary part.
std::string text_of(std::complex<double> z);

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_GRADCHECK_NUMBERS_H_
