// Typed calls on tensors that a mode owns, without a stack.

#ifndef SWITCHBOARD_DISPATCH_MODES_DIRECT_CALL_H_
#define SWITCHBOARD_DISPATCH_MODES_DIRECT_CALL_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/kernel.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/schema/typed_frame.h"

namespace sb::internal {

// The tensors among the arguments of a typed call, which its caller holds.
class DirectArguments {
 public:
  static constexpr size_t kMost = 8;

  // Finds them, in their order. False if a mode must look at more than tensors: at a symbol, a
  // storage, a value of any type, or too many tensors.
  bool collect(const TypedFrame& frame) {
    const CallDescription& call = frame.description;
    // The most frequent calls: some tensors, and perhaps Scalars.
    if (call.other_tensors | call.special_but_scalar) [[unlikely]]
      return collect_in_order(frame);
    for (ArgumentMask left = call.tensors; left != 0; left &= left - 1)
      if (!add(*static_cast<const Tensor*>(frame.arguments[__builtin_ctzll(left)]))) return false;
    for (ArgumentMask left = call.special; left != 0; left &= left - 1) {
      if (static_cast<const Scalar*>(frame.arguments[__builtin_ctzll(left)])->is_symbolic())
        return false;
    }
    return true;
  }
  bool add(const Tensor& t) {
    if (count_ == kMost) [[unlikely]]
      return false;
    tensors_[count_++] = &t;
    return true;
  }
  absl::Span<const Tensor* const> span() const { return {tensors_, count_}; }

 private:
  bool collect_in_order(const TypedFrame& frame);

  const Tensor* tensors_[kMost];
  size_t count_ = 0;
};

// Implemented by a mode (DispatchMode::direct_path) that needs no stack for most calls: one that
// shows a kernel the arguments in another guise, or knows the result.
class DirectPath {
 public:
  // Handles the call, results and all, and returns true; or leaves everything as it was and returns
  // false: then comes DispatchMode::call(). Some arguments may be real, or of other modes. Not
  // asked while the call is observed, nor for operators with rules for modes. An active mode is off
  // the stack meanwhile.
  virtual bool call_direct(OperatorEntry& op, const TypedFrame& frame) = 0;

 protected:
  ~DirectPath() = default;
};

// Calls f for each tensor among the results, which are there.
void for_each_result(const TypedFrame& frame, absl::FunctionRef<void(const Tensor&)> f);

// The kernel at the Python key: hands calls to modes, typed ones by a direct path where there is
// one.
KernelFunction make_python_kernel();

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_MODES_DIRECT_CALL_H_
