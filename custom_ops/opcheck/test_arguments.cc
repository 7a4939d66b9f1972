#include "switchboard/custom_ops/opcheck/test_arguments.h"

#include <algorithm>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {

Tensor tensor_with(std::vector<int64_t> sizes, DType dtype,
                   const std::vector<std::complex<double>>& elements, Device device) {
  const NoGradGuard off;
  const Tensor numbers = empty_on(DeviceType::CPU, sizes, DType::Complex128);
  SB_CHECK_VALUE(numbers.numel() == static_cast<int64_t>(elements.size()), "tensor_with: expected ",
                 numbers.numel(), " elements, got ", elements.size());
  if (!elements.empty())
    std::copy(elements.begin(), elements.end(), numbers.data<std::complex<double>>());
  // By the operator, which knows the index of a device that is given without one.
  const Tensor t = empty(sizes, dtype, std::nullopt, device);
  copy_(t, numbers);
  return t;
}

Tensor view_of(const Tensor& memory, std::vector<int64_t> sizes, std::vector<int64_t> strides,
               int64_t offset) {
  return alias_with(memory, sizes, strides, offset);
}

Tensor requiring_grad(const Tensor& tensor) {
  set_requires_grad(tensor);
  return tensor;
}

}  // namespace sb
