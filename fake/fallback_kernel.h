// Operators without a shape rule: the real kernel runs on zeros and shows what the result is like.

#ifndef SWITCHBOARD_FAKE_FALLBACK_KERNEL_H_
#define SWITCHBOARD_FAKE_FALLBACK_KERNEL_H_

#include <string_view>

#include "switchboard/dispatch/operator_handle.h"

namespace sb::internal {

class FakeMode;
struct FakeOp;

// Returns whether its namespace is one of those whose operators may run on zeros: aten, prims,
// debugprims, quantized, torchvision's and torchaudio's.
bool may_fall_back(const OperatorHandle& op);

// Runs the operator for real, with all modes off, on tensors of zeros of the arguments' shapes: on
// the fake device where this program has it, otherwise on the CPU. The results replace the
// arguments, as fake tensors of the device that these agree on. As `run_fallback_kernel`.
//
// Throws UnsupportedOperatorError, which says what to register, where the mode allows no fallback
// kernels, the operator is of none of the namespaces that may have them, it has an ordered effect,
// sizes are symbolic, the operator changes the shape or storage of an argument, or a result shares
// the storage of an argument and is not that argument. Throws it too where the zeros would take
// more bytes than the mode allows. `rule_said`: what the operator's own shape rule threw, for these
// errors; empty without a rule.
void run_fallback_kernel(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts,
                         Stack* stack, std::string_view rule_said = {});

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_FALLBACK_KERNEL_H_
