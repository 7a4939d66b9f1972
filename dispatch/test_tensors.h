// Tensors for tests of dispatch: their keys are all that counts.

#ifndef SWITCHBOARD_DISPATCH_TEST_TENSORS_H_
#define SWITCHBOARD_DISPATCH_TEST_TENSORS_H_

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/tensor.h"

namespace sb {

// A tensor as a program makes it on that device; it need not have an allocator.
inline Tensor tensor_on(DeviceType type) {
  return empty_generic({1}, get_allocator(DeviceType::Meta), tensor_key_set(type), DType::Float32,
                       Device(type));
}

// A tensor with exactly these keys.
inline Tensor tensor_with(DispatchKeySet keys) {
  return empty_generic({1}, get_allocator(DeviceType::Meta), keys, DType::Float32,
                       Device(DeviceType::Meta));
}

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_TEST_TENSORS_H_
