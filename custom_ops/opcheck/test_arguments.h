// Tensors for the tests that opcheck_variations writes: memory with elements, and views of it.

#ifndef SWITCHBOARD_CUSTOM_OPS_OPCHECK_TEST_ARGUMENTS_H_
#define SWITCHBOARD_CUSTOM_OPS_OPCHECK_TEST_ARGUMENTS_H_

#include <complex>
#include <cstdint>
#include <vector>

#include "switchboard/core/tensor.h"

namespace sb {

// A contiguous tensor of these elements, in the order of the indices. Throws ValueError where there
// are not as many as the sizes say.
Tensor tensor_with(std::vector<int64_t> sizes, DType dtype,
                   const std::vector<std::complex<double>>& elements,
                   Device device = DeviceType::CPU);
// A view of a tensor's storage. Throws RuntimeError where it does not fit in.
Tensor view_of(const Tensor& memory, std::vector<int64_t> sizes, std::vector<int64_t> strides,
               int64_t offset = 0);
// The tensor itself, as a leaf that requires a gradient.
Tensor requiring_grad(const Tensor& tensor);

}  // namespace sb

#endif  // SWITCHBOARD_CUSTOM_OPS_OPCHECK_TEST_ARGUMENTS_H_
