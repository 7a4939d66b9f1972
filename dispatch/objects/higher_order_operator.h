// Operators that take functions: cond, while_loop, map, and those of users.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_HIGHER_ORDER_OPERATOR_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_HIGHER_ORDER_OPERATOR_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/dispatch/objects/callable.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

// The keys that higher-order operators pass over unless they have a key rule for them.
inline constexpr DispatchKeySet kHigherOrderFallthroughKeys{
    DispatchKey::PythonDispatcher, DispatchKey::PythonTLSSnapshot, DispatchKey::ADInplaceOrView,
    DispatchKey::BackendSelect,    DispatchKey::AutocastCPU,       DispatchKey::AutocastCUDA,
    DispatchKey::AutocastXPU};

// As `torch._ops.HigherOrderOperator`: an operator of the namespace higher_order that has no
// schema. Its arguments are any values, functions (Callable) among them; tensors are found in lists
// too. It has the own rules of OperatorBase, and nothing else: neither a table nor backend
// fallbacks. A call goes to the highest key of
//
//   (keys of the tensors | thread's included) - thread's excluded, of those that it does not pass
//   over
//
// and there runs
//
// 1. what is cached for the key;
// 2. at FuncTorchDynamicLayerFrontMode, the transform rule for the transform on top;
// 3. at Python, the mode rule for the current mode, or for the mode that owns arguments;
// 4. at PreDispatch, if pre-dispatch modes run, the mode rule for the top one;
// 5. the key rule that resolve_key finds, which is then cached, but for PreDispatch. PreDispatch
//    without modes or a key rule passes the call on.
//
// with the transform or mode popped. Where there is no rule for a mode or transform,
//
// - an operator with a key rule at CompositeImplicitAutograd is what that calls: it runs, with the
//   mode or transform as it was;
// - a mode that only watches (DispatchMode::only_watches) sees the call, which goes on below it,
//   and the functions among the arguments run with the mode active again;
// - a mode that supports_higher_order_operators() handles the call itself.
//
// Any other call throws NotImplementedError, naming the operator, the key or mode, and the rules
// that there are.
//
// Thread-safe as OperatorBase; calls on other threads must have ended before it is destroyed.
class HigherOrderOperator final : public OperatorBase {
 public:
  // Registers the operator under that name: "cond". ValueError if it is no identifier, RuntimeError
  // if the name is taken. `parameters` are the names by which calls may give the arguments:
  // {"pred", "true_fn", "false_fn", "operands"}.
  explicit HigherOrderOperator(std::string name, std::vector<std::string> parameters = {});
  ~HigherOrderOperator();

  // name() is "higher_order::cond".
  std::string_view ns() const { return "higher_order"; }
  const std::string& opname() const { return opname_; }

  const std::vector<std::string>& parameters() const { return parameters_; }

  std::vector<IValue> operator()(std::vector<IValue> arguments) const;
  // The same with arguments by name behind the positional ones. TypeError, naming the argument, for
  // one that is unknown, given twice or missing.
  std::vector<IValue> operator()(std::vector<IValue> positional,
                                 std::vector<std::pair<std::string, IValue>> keyword) const;
  // The arguments in their order, as such a call gives them.
  std::vector<IValue> bind(std::vector<IValue> positional,
                           std::vector<std::pair<std::string, IValue>> keyword) const;
  // All of the stack are the arguments; they are replaced by the results.
  void call_boxed(Stack* stack) const;
  // Enters at the highest key of exactly `keys`: how rules pass a call on.
  void redispatch_boxed(DispatchKeySet keys, Stack* stack) const;
  std::vector<IValue> redispatch(DispatchKeySet keys, std::vector<IValue> arguments) const;

  // Lets calls pass over a key, even if it has a rule; a rule that comes later brings it back.
  void fallthrough(DispatchKey key);
  // Every key that calls do not pass over.
  DispatchKeySet non_fallthrough_keys() const;
  // The keys that a call with these arguments has now, on this thread.
  DispatchKeySet call_keys(const std::vector<IValue>& arguments) const;

 private:
  std::string opname_;
  std::vector<std::string> parameters_;
};

// The mode's own handler, call_higher_order(), becomes the operator's rule for that type of mode,
// whether or not it supports others. As `redirect_to_mode`.
template <class Mode>
RegistrationHandle redirect_to_mode(HigherOrderOperator& op,
                                    SourceLocation where = SourceLocation::current()) {
  return op.impl_mode<Mode>([&op](Mode& mode, DispatchKeySet keys,
                                  Stack* stack) { mode.call_higher_order(op, keys, stack); },
                            where);
}

// Every higher-order operator that there is, sorted by name; their names; the one of that name
// ("cond"), or nullptr. Operators are owned by whoever made them.
std::vector<HigherOrderOperator*> all_higher_order_ops();
std::vector<std::string> higher_order_op_names();
HigherOrderOperator* find_higher_order_op(std::string_view name);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_HIGHER_ORDER_OPERATOR_H_
