// The own rules of an operator, beside the kernels in its table: mode rules, transform rules, and
// key rules for the Python dispatcher.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_OPERATOR_BASE_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_OPERATOR_BASE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "switchboard/core/dispatch_key_set.h"
#include "switchboard/dispatch/kernel.h"
#include "switchboard/dispatch/modes/function_transform.h"
#include "switchboard/dispatch/modes/operator_rules.h"
#include "switchboard/dispatch/objects/dispatch_cache.h"
#include "switchboard/dispatch/objects/functionalize_api.h"
#include "switchboard/dispatch/registration_handle.h"

namespace sb {

namespace internal {
class OwnKernel;
}

// As `torch._ops.OperatorBase`: the own rules of an operator. A rule finds the arguments on the end
// of the stack (all of the stack for a higher-order operator), and puts the results in their place.
//
// - A key rule (impl) is a kernel of the operator's own, at a runtime or alias key. Ordinary
//   operators (operator_base()) use it while the Python dispatcher is on (python_dispatcher.h),
//   higher-order ones always.
// - A mode rule (impl_mode) runs instead of DispatchMode::call, for exactly one type of mode. Types
//   that this library does not know may have one.
// - A transform rule (impl_transform) runs while a transform of its type is on top.
//
// Thread-safe: rules come and go while other threads call. Calls read without a lock, and run
// either the old rules or the new ones. Registering throws RuntimeError, naming both places, if
// there is a rule already, and ValueError for what cannot have one. A rule goes with the handle
// that registering returns, which may outlive the operator.
class OperatorBase {
 public:
  using Rule = std::function<void(DispatchKeySet keys, Stack* stack)>;
  using ModeRule = OperatorRules::ModeRule;
  using TransformRule = OperatorRules::TransformRule;

  // The name is what errors call the operator: "aten::add.Tensor".
  explicit OperatorBase(std::string name);
  ~OperatorBase();
  OperatorBase(const OperatorBase&) = delete;
  OperatorBase& operator=(const OperatorBase&) = delete;

  const std::string& name() const;

  // As `py_impl`. No rule can be at the key Python: modes have rules of their own.
  RegistrationHandle impl(DispatchKey key, Rule rule,
                          SourceLocation where = SourceLocation::current());
  RegistrationHandle impl_mode(std::type_index mode, ModeRule rule,
                               SourceLocation where = SourceLocation::current());
  // For a mode whose type is known: impl_mode<MyMode>([](MyMode& mode, DispatchKeySet, Stack*) {}).
  template <class Mode, class F>
  RegistrationHandle impl_mode(F rule, SourceLocation where = SourceLocation::current()) {
    static_assert(std::is_base_of_v<DispatchMode, Mode>);
    return impl_mode(
        std::type_index(typeid(Mode)),
        [rule = std::move(rule)](DispatchMode& mode, DispatchKeySet keys, Stack* stack) {
          rule(static_cast<Mode&>(mode), keys, stack);
        },
        where);
  }
  RegistrationHandle impl_transform(TransformType type, TransformRule rule,
                                    SourceLocation where = SourceLocation::current());
  // One rule on every route that is given: at the key Functionalize, for the functional mode, for
  // the transform. All or none of them are installed. As `py_functionalize_impl`.
  RegistrationHandle impl_functionalize(FunctionalizeApiRule rule,
                                        const FunctionalizeRoutes& routes,
                                        SourceLocation where = SourceLocation::current());

  // Returns whether there is a key rule for exactly that key.
  bool has_kernel_for_dispatch_key(DispatchKey key) const;
  // Returns whether there is one for a key of the set. Key rules at alias keys never count.
  bool has_kernel_for_any_dispatch_key(DispatchKeySet keys) const;
  bool has_rule_for_mode(std::type_index mode) const;
  bool has_rule_for_transform(TransformType type) const;
  // A rule, for those who show them.
  struct RuleInfo {
    enum class Kind : uint8_t { Key, Mode, Transform } kind;
    DispatchKey key;   // of a key rule; Undefined for others
    std::string what;  // "CPU", "sb::TracingMode", "Vmap"
    SourceLocation where;
  };
  // All of them, key rules first.
  std::vector<RuleInfo> rules() const;
  // "CPU (transforms/control_flow/cond.cc:31), Autograd (transforms/control_flow/cond.cc:35);
  // modes: sb::TracingMode (transforms/control_flow/cond.cc:40)".
  std::string describe_rules() const;

  // Forgets what the key, or every key, was found to do; the next call finds it out again.
  // Registering does so by itself. As `_uncache_dispatch`.
  void uncache_dispatch(DispatchKey key) { cache().uncache(key); }
  void uncache_dispatch() { cache().clear(); }

  // Takes away all rules. Handles of them do nothing any more.
  void clear();

  // Read by calls. The caller holds a CallPin, for as long as it uses what it got; nullptr where
  // there is none. KeyRules are those of one moment.
  class KeyRules;
  KeyRules key_rules() const;
  const internal::OwnKernel* find_kernel(DispatchKey key) const;
  const ModeRule* find_mode_rule(std::type_index mode) const;
  const TransformRule* find_transform_rule(TransformType type) const;
  internal::DispatchCache& cache() const;

 protected:
  // The keys that calls of the operator are masked with. A key rule at a key that is not in the
  // mask puts the key there for as long as the rule lasts.
  DispatchKeySet mask() const;
  void take_from_mask(DispatchKeySet keys);

 private:
  struct Tables;
  struct State;

  const Tables& tables() const;
  // f(tables, id) adds rules with that id, which the handle takes away.
  template <class F>
  RegistrationHandle add(F&& f);

  std::shared_ptr<State> state_;
};

class OperatorBase::KeyRules {
 public:
  const internal::OwnKernel* find(DispatchKey key) const;

 private:
  friend class OperatorBase;
  explicit KeyRules(const Tables& tables) : tables_(&tables) {}
  const Tables* tables_;
};

// The own rules of an ordinary operator, beside its kernels. Lives as long as the entry;
// find_operator_base() gives nullptr while nobody asked for it.
OperatorBase& operator_base(OperatorEntry& op);
OperatorBase* find_operator_base(const OperatorEntry& op);

namespace internal {

// A key rule, in the form of a kernel.
class OwnKernel final : public KernelState {
 public:
  explicit OwnKernel(OperatorBase::Rule rule) : rule_(std::move(rule)) {}
  void operator()(DispatchKeySet keys, Stack* stack) const { rule_(keys, stack); }
  KernelFunction function() const;

 private:
  OperatorBase::Rule rule_;
};

// "sb::TracingMode": a type as C++ spells it.
std::string type_name(std::type_index type);

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_OPERATOR_BASE_H_
