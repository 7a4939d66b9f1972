// Tensors to and from other frameworks, without a copy: DLPack.
//
// A DLManagedTensor describes memory and says how to give it back; who holds it calls its deleter
// once. Both functions share memory: what is written on one side is seen on the other, which
// version counters and autograd do not notice.
//
//   const Tensor x = from_dlpack(other_framework.to_dlpack());
//   DLManagedTensor* const managed = to_dlpack(x);  // now the consumer's, or:
//   managed->deleter(managed);
//
// The CPU is kDLCPU, and PrivateUse1 is kDLExtDev with the number of the device.

#ifndef SWITCHBOARD_IO_DLPACK_DLPACK_H_
#define SWITCHBOARD_IO_DLPACK_DLPACK_H_

#include "dlpack/dlpack.h"
#include "switchboard/core/tensor.h"

namespace sb {

// Describes the tensor's memory, which stays alive until the deleter is called, by any thread. As
// `torch.utils.dlpack.to_dlpack`: strides are always given, that of a dimension of size 0 or 1 as
// 1, and the offset is in `data`. Waits for the work of the tensor's device. The storage must not
// be resized meanwhile.
//
// Throws RuntimeError for a tensor that requires a gradient or that is lazily conjugated or
// negated, as `Tensor.__dlpack__` (which lets negation pass, and the numbers come out wrong); for
// one of a quantized dtype, on another device, fake, of symbolic sizes, or undefined.
DLManagedTensor* to_dlpack(const Tensor& tensor);

// A tensor on the memory of `managed`, which is the tensor's from then on: its deleter runs when
// the last view of the memory is gone, on the thread that drops it. As
// `torch.utils.dlpack.from_dlpack`, which however does not heed byte_offset. The storage cannot be
// resized.
//
// Throws, and leaves `managed` to the caller, NotImplementedError for a device or dtype (vectors,
// of several lanes, among them) that is not here; RuntimeError for what cannot be a tensor:
// negative sizes or strides, sizes that overflow, no memory for elements, memory that is not
// aligned for them, a device that does not exist; ValueError for null.
Tensor from_dlpack(DLManagedTensor* managed);

}  // namespace sb

#endif  // SWITCHBOARD_IO_DLPACK_DLPACK_H_
