// A call that comes to a fallback, on a stack or typed: one way to ask for its tensors.

#ifndef SWITCHBOARD_AUTOGRAD_FALLBACK_CALL_H_
#define SWITCHBOARD_AUTOGRAD_FALLBACK_CALL_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/schema/boxing.h"
#include "switchboard/dispatch/schema/typed_frame.h"
#include "switchboard/dispatch/slow_call.h"
#include "switchboard/dispatch/visit_tensors.h"

namespace sb::internal {

// What follows from the schema, and from `Call`'s
//   argument(i, f)  f(t) for every tensor of an argument
template <class Call>
class FallbackCall {
 public:
  FallbackCall(OperatorEntry& op, const FunctionSchema& schema) : op_(op), schema_(schema) {}

  OperatorEntry& op() const { return op_; }
  const FunctionSchema& schema() const { return schema_; }
  std::string op_name() const { return op_.name().to_string(); }

  template <class F>
  void each_argument(F&& f) const {
    for (size_t i = 0; i < schema_.arguments.size(); ++i) call().argument(i, f);
  }
  bool any_needs_grad() const {
    bool any = false;
    call().each_argument([&](const Tensor& t) { any = any || needs_grad(t); });
    return any;
  }
  // Tensors of the arguments that the schema says are written to.
  using Written = absl::InlinedVector<Tensor, 2>;
  Written written() const {
    Written tensors;
    for (size_t i = 0; i < schema_.arguments.size(); ++i)
      if (schema_.arguments[i].is_write())
        call().argument(i, [&](const Tensor& t) {
          if (t.defined()) tensors.push_back(t);
        });
    return tensors;
  }
  // What results are views of: the first argument with an annotation that is no write. Undefined
  // where there is none, or where it is no tensor.
  Tensor base() const {
    const auto found = std::ranges::find_if(
        schema_.arguments, [](const Argument& a) { return a.alias && !a.is_write(); });
    Tensor base;
    if (found != schema_.arguments.end() && !found->type.is_list())
      call().argument(static_cast<size_t>(found - schema_.arguments.begin()),
                      [&](const Tensor& t) { base = t; });
    return base;
  }
  bool has_out() const {
    return std::ranges::any_of(schema_.arguments, [](const Argument& a) { return a.is_out(); });
  }

 private:
  const Call& call() const { return static_cast<const Call&>(*this); }

  OperatorEntry& op_;
  const FunctionSchema& schema_;
};

// On the end of a stack. Going on takes the arguments off it.
class StackCall : public FallbackCall<StackCall> {
 public:
  StackCall(const OperatorHandle& op, Stack* stack)
      : FallbackCall(op.entry(), op.schema()), stack_(stack) {}

  absl::Span<const IValue> arguments() const { return last(schema().arguments.size()); }
  absl::Span<const IValue> results() const { return last(schema().returns.size()); }

  template <class F>
  void argument(size_t i, F&& f) const {
    arguments()[i].for_each_tensor(f);
  }
  template <class F>
  void each_result(F&& f) const {
    for (const IValue& value : results()) value.for_each_tensor(f);
  }
  // Whether what it gave is one tensor.
  bool gave_tensor() const { return results().size() == 1 && results()[0].is_Tensor(); }

  void keep_arguments() { kept_.assign(arguments().begin(), arguments().end()); }
  Stack kept_arguments() { return std::move(kept_); }
  void go_on(DispatchKeySet keys) const { OperatorHandle(&op()).redispatch_boxed(keys, stack_); }

 private:
  absl::Span<const IValue> last(size_t n) const {
    return absl::Span<const IValue>(stack_->data() + (stack_->size() - n), n);
  }

  Stack* stack_;
  Stack kept_;
};

// One that was never put on a stack.
class FrameCall : public FallbackCall<FrameCall> {
 public:
  FrameCall(OperatorEntry& op, const TypedFrame& frame)
      : FallbackCall(op, op.schema()), frame_(frame) {}

  // Whether it may stay off the stack: nobody watches.
  static bool serves(const OperatorEntry& op) {
    return !dispatch_tls.observer && !op.dispatcher().observer();
  }

  template <class F>
  void argument(size_t i, F&& f) const {
    if (is_tensor_code(types().arguments[i])) [[likely]]
      return f(*static_cast<const Tensor*>(frame_.arguments[i]));
    with_argument(types().arguments[i], frame_.arguments[i],
                  [&](const auto& value) { visit_tensors(value, f); });
  }
  template <class F>
  void each_argument(F&& f) const {
    const CallDescription& call = frame_.description;
    for_each_argument(call.tensors | call.other_tensors, [&](size_t i) { argument(i, f); });
  }
  template <class F>
  void each_result(F&& f) const {
    if (gave_tensor()) return f(*static_cast<const Tensor*>(frame_.result));
    for (size_t i = 0; i < types().returns.size(); ++i)
      with_result(types().returns[i], frame_.results[i],
                  [&](const auto& value) { visit_tensors(value, f); });
  }
  bool gave_tensor() const { return frame_.description.returns_tensor; }

  void keep_arguments() {}  // they stay where they are
  Stack kept_arguments() const {
    Stack stack;
    for (size_t i = 0; i < types().arguments.size(); ++i)
      stack.push_back(box_argument(types().arguments[i], frame_.arguments[i]));
    return stack;
  }
  void go_on(DispatchKeySet keys) const { call_slow(op(), &keys, frame_); }

 private:
  const CppSignature& types() const { return *frame_.description.types; }

  const TypedFrame& frame_;
};

// A kernel for both kinds of calls. `Fallback` has
//   static void call_boxed(const OperatorHandle&, DispatchKeySet, Stack*)
//   static bool call_typed(FrameCall&, DispatchKeySet)   false: call it through the stack instead
template <class Fallback>
KernelFunction make_fallback() {
  struct State final : KernelState {
    static void call(const Kernel&, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
      Fallback::call_boxed(op, keys, stack);
    }
    bool take_typed_call(OperatorEntry& op, DispatchKeySet keys,
                         const TypedFrame& frame) const override {
      if (!FrameCall::serves(op)) return false;
      FrameCall call(op, frame);
      return Fallback::call_typed(call, keys);
    }
  };
  KernelFunction kernel;
  kernel.state = make_intrusive<State>();
  kernel.entries = {nullptr, &State::call, kernel.state.get()};
  return kernel;
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_FALLBACK_CALL_H_
