// Typed calls on tensors that a mode owns, without a stack.

#ifndef SWITCHBOARD_DISPATCH_MODES_DIRECT_CALL_H_
#define SWITCHBOARD_DISPATCH_MODES_DIRECT_CALL_H_

#include <cstddef>

#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/kernel.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb::internal {

// Implemented by a mode (DispatchMode::direct_path) that does nothing but show a kernel the
// arguments in another guise. A typed call then need not be put on a stack for it.
class DirectPath {
 public:
  // The most tensors that such a call may have.
  static constexpr size_t kMost = 8;

  // `tensors` are those among the arguments; there are no symbols. Changes the tensors and returns
  // the unboxed kernel to run on them, at the key Meta, or changes nothing and returns nullptr:
  // then comes DispatchMode::call(). Not asked while the call is observed, nor for operators with
  // rules for modes. An active mode is still on the stack here; the kernel and adopt_direct() run
  // without it.
  virtual const Kernel* enter_direct(const OperatorHandle& op,
                                     absl::Span<const Tensor* const> tensors) = 0;
  // The kernel gave this, among other results.
  virtual void adopt_direct(const Tensor& result) = 0;
  // At the end, on exceptions too: the arguments are as they were.
  virtual void leave_direct() noexcept = 0;

 protected:
  ~DirectPath() = default;
};

// The kernel at the Python key: hands calls to modes, typed ones by a direct path where there is
// one.
KernelFunction make_python_kernel();

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_MODES_DIRECT_CALL_H_
