// Tensors as text, as PyTorch prints them.

#ifndef SWITCHBOARD_CORE_PRINT_TENSOR_PRINT_H_
#define SWITCHBOARD_CORE_PRINT_TENSOR_PRINT_H_

#include <ostream>
#include <string>

#include "switchboard/core/tensor.h"

namespace sb {

// As Python's repr of a torch.Tensor with default print options: "tensor([[1., 2.],\n [3., 4.]])".
// Tensors without readable data print their metadata: "tensor(..., device='meta', size=(2, 3))".
// The data is read directly and so must be on the CPU; tensors of other devices print like meta
// ones.
std::string to_string(const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_PRINT_TENSOR_PRINT_H_
