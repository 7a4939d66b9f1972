// Function transforms: what vmap, grad and their like put on a thread while they run a function.

#ifndef SWITCHBOARD_DISPATCH_MODES_FUNCTION_TRANSFORM_H_
#define SWITCHBOARD_DISPATCH_MODES_FUNCTION_TRANSFORM_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "switchboard/dispatch/operator_handle.h"

namespace sb {

// As `torch._C._functorch.TransformType`.
enum class TransformType : uint8_t { Grad, Jvp, Functionalize, Vmap };
// "Grad", "Jvp", "Functionalize", "Vmap".
std::string_view to_string(TransformType type);

// A level of a transform. As `FuncTorchInterpreter`: while it is on top, calls of the thread reach
// it by the key FuncTorchDynamicLayerFrontMode. An operator may have a transform rule for a type of
// transform (OperatorBase::impl_transform), which then runs instead.
class FunctionTransform {
 public:
  virtual ~FunctionTransform() = default;
  virtual TransformType type() const = 0;
  virtual std::string name() const = 0;
  // Handles a call, on the level below: replaces the arguments on the end of the stack by the
  // results.
  virtual void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) = 0;
};

// Puts a level on top of this thread's transforms for a scope. Not owned. Guards end on the thread
// that made them, in any order. ValueError for null.
class FunctionTransformGuard {
 public:
  explicit FunctionTransformGuard(FunctionTransform* transform);
  ~FunctionTransformGuard();
  FunctionTransformGuard(const FunctionTransformGuard&) = delete;
  FunctionTransformGuard& operator=(const FunctionTransformGuard&) = delete;

 private:
  uint64_t id_;
};

// The level on top, or nullptr.
FunctionTransform* current_transform();

namespace internal {

// Takes the level on top away for a scope. As `interpreter.lower()`.
class LoweredTransform {
 public:
  LoweredTransform();
  ~LoweredTransform();
  LoweredTransform(const LoweredTransform&) = delete;
  LoweredTransform& operator=(const LoweredTransform&) = delete;

  // nullptr if there is none.
  FunctionTransform* transform() const { return transform_; }

 private:
  FunctionTransform* transform_;
  uint64_t id_;
};

// The kernel at FuncTorchDynamicLayerFrontMode: the operator's transform rule for the one on top,
// or the transform itself, runs with that level taken away.
void call_transform(const OperatorHandle& op, DispatchKeySet keys, Stack* stack);

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MODES_FUNCTION_TRANSFORM_H_
