// Typed calls on tensors that a mode owns, without a stack.

#ifndef SWITCHBOARD_DISPATCH_MODES_DIRECT_CALL_H_
#define SWITCHBOARD_DISPATCH_MODES_DIRECT_CALL_H_

#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "switchboard/core/scalar.h"
#include "switchboard/dispatch/kernel.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/schema/cpp_types.h"

namespace sb::internal {

// The tensors among the arguments of a typed call, in their order, where they are all that a mode
// need look at: not where there is a symbol, a storage, a value of any type, or too many tensors.
class DirectArguments {
 public:
  static constexpr size_t kMost = 8;

  bool are_plain() const { return plain_; }
  absl::Span<const Tensor* const> tensors() const { return {tensors_, num_tensors_}; }

  void add(const Tensor& t) {
    if (num_tensors_ == kMost) [[unlikely]]
      plain_ = false;
    else
      tensors_[num_tensors_++] = &t;
  }
  void add(const std::optional<Tensor>& t) {
    if (t) add(*t);
  }
  void add(TensorList list) {
    for (const Tensor& t : list) add(t);
  }
  void add(OptionalTensorList list) {
    for (const std::optional<Tensor>& t : list) add(t);
  }
  void add(const OptionalSpan<TensorList>& list) {
    if (list) add(*list);
  }
  void add(const SymInt& value) {
    if (value.is_symbolic()) plain_ = false;
  }
  void add(const std::optional<SymInt>& value) {
    if (value) add(*value);
  }
  void add(SymIntArrayRef values) {
    for (const SymInt& value : values) add(value);
  }
  void add(const OptionalSymIntArrayRef& values) {
    if (values) add(*values);
  }
  void add(const Scalar& value) {
    if (value.is_symbolic()) plain_ = false;
  }
  void add(const std::optional<Scalar>& value) {
    if (value) add(*value);
  }
  void add(absl::Span<const Scalar> values) {
    for (const Scalar& value : values) add(value);
  }
  void add(const Storage&) { plain_ = false; }
  void add(const IValue&) { plain_ = false; }
  template <class Number>
  void add(const Number&) {}

 private:
  const Tensor* tensors_[kMost];
  size_t num_tensors_ = 0;
  bool plain_ = true;
};

// Gives the tensors of a result to the mode that a direct call belongs to.
class DirectResults {
 public:
  explicit DirectResults(DispatchMode* mode) : mode_(mode) {}
  void add(const Tensor& t) { mode_->adopt_direct(t); }
  void add(const std::optional<Tensor>& t) {
    if (t) add(*t);
  }
  void add(const std::vector<Tensor>& list) {
    for (const Tensor& t : list) add(t);
  }
  void add(const std::vector<std::optional<Tensor>>& list) {
    for (const std::optional<Tensor>& t : list) add(t);
  }
  void add(const std::optional<std::vector<Tensor>>& list) {
    if (list) add(*list);
  }
  void add(const IValue& value) {
    value.for_each_tensor([&](const Tensor& t) { add(t); });
  }
  template <class... R>
  void add(const std::tuple<R...>& results) {
    std::apply([&](const R&... r) { (add(r), ...); }, results);
  }
  template <class Number>
  void add(const Number&) {}

 private:
  DispatchMode* mode_;
};

// For a call that reached the Python key: has `run` call the kernel, and give its results, that the
// mode in charge names (DispatchMode::enter_direct); the mode is off the stack meanwhile. False if
// the call must go to the mode by a stack: it wants one, somebody observes, the operator has rules
// of its own for modes, or the kernel is not implemented for these arguments, in which case the
// mode may know another way.
bool run_direct(OperatorEntry* entry, absl::Span<const Tensor* const> tensors,
                absl::FunctionRef<void(const Kernel& kernel, DirectResults results)> run);

// Whether a kernel is that of the Python key, which hands calls to modes.
void enter_mode(const Kernel&, const OperatorHandle& op, DispatchKeySet keys, Stack* stack);
inline bool enters_mode(const Kernel& kernel) { return kernel.boxed == &enter_mode; }

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_MODES_DIRECT_CALL_H_
