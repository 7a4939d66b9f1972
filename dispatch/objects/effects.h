// Operators whose calls must stay in order while a program is traced.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_EFFECTS_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_EFFECTS_H_

#include "switchboard/dispatch/operator_handle.h"

namespace sb {

// Marks an operator as having an ordered effect, on this thread and for a scope: while it is
// traced, and not in the runs of the program before and after. As
// `_register_as_effectful_op_temporarily`. Marks nest.
class OrderedEffectGuard {
 public:
  explicit OrderedEffectGuard(const OperatorHandle& op);
  ~OrderedEffectGuard();
  OrderedEffectGuard(const OrderedEffectGuard&) = delete;
  OrderedEffectGuard& operator=(const OrderedEffectGuard&) = delete;

 private:
  friend bool has_ordered_effect(const OperatorHandle& op);
  const OperatorEntry* op_;
  const OrderedEffectGuard* outer_;
};

// Returns whether this thread has marked the operator.
bool has_ordered_effect(const OperatorHandle& op);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_EFFECTS_H_
