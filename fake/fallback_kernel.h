// Operators without a shape rule: the real kernel, on zeros, says what the result is like.

#ifndef SWITCHBOARD_FAKE_FALLBACK_KERNEL_H_
#define SWITCHBOARD_FAKE_FALLBACK_KERNEL_H_

#include "switchboard/dispatch/operator_handle.h"

namespace sb::internal {

class FakeMode;
struct FakeOp;

// Runs the operator for real, with all modes off, on tensors of zeros of the arguments' shapes: on
// the fake device where this program has it, otherwise on the CPU. The results replace the
// arguments, as fake tensors of the device that these agree on. As `run_fallback_kernel`.
//
// Throws UnsupportedOperatorError, which says what to register, where the mode allows no fallback
// kernels, the operator is of none of the namespaces that may have them (aten, prims, debugprims,
// quantized, torchvision's and torchaudio's), sizes are symbolic, the operator changes the shape or
// storage of an argument, or a result shares the storage of an argument and is not that argument.
void run_fallback_kernel(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts,
                         Stack* stack);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_FALLBACK_KERNEL_H_
