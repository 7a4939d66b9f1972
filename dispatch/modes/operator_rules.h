// The mode rules and transform rules of an operator, as modes and transforms see them.

#ifndef SWITCHBOARD_DISPATCH_MODES_OPERATOR_RULES_H_
#define SWITCHBOARD_DISPATCH_MODES_OPERATOR_RULES_H_

#include <functional>
#include <typeindex>

#include "switchboard/dispatch/modes/function_transform.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb {

// Modes and transforms ask an operator for its rule before they handle its call themselves.
// OperatorBase (operator_base.h) keeps the rules. The caller holds a CallPin for as long as it uses
// one; nullptr where there is none.
class OperatorRules : public OperatorNote {
 public:
  using ModeRule = std::function<void(DispatchMode& mode, DispatchKeySet keys, Stack* stack)>;
  using TransformRule =
      std::function<void(FunctionTransform& transform, DispatchKeySet keys, Stack* stack)>;

  virtual const ModeRule* find_mode_rule(std::type_index mode) const = 0;
  virtual const TransformRule* find_transform_rule(TransformType type) const = 0;
};

namespace internal {

inline const OperatorRules* find_rules(const OperatorEntry& op) {
  return static_cast<const OperatorRules*>(op.find_note(NoteKind::Rules));
}

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MODES_OPERATOR_RULES_H_
