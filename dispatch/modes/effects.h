// Operators that do more than their schemas say: they print, or change an object. Layers run them
// as often as the program calls them, and in its order.

#ifndef SWITCHBOARD_DISPATCH_MODES_EFFECTS_H_
#define SWITCHBOARD_DISPATCH_MODES_EFFECTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "switchboard/core/source_location.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/dispatch/registration_handle.h"

namespace sb {

// As `torch._library.effects.EffectType`; None is for operators that have no effect although their
// schemas say so.
enum class Effect : uint8_t { None, Ordered };

// Returns whether the calls of the operator must neither be left out nor change places with one
// another. So it is
//
// - while this thread marks the operator (OrderedEffectGuard),
// - where it was registered,
// - else by its schema, if it takes an object of a class, whose state may change (but for classes
//   that register_custom_class() says to be constant), or if it neither returns nor writes to
//   anything, and so could have no other use.
//
// A graph keeps such calls, numbers them (Node::token) and never runs one twice or for another. The
// calls that a kernel makes count as part of the operator that it is a kernel of: one that is not
// CompositeImplicitAutograd and calls operators with effects must be registered as having one.
bool has_ordered_effect(const OperatorHandle& op);

// Says of an operator what its schema does not, as long as the handle lives. Throws RuntimeError,
// naming both places, if it was said already. Thread-safe. As `_register_effectful_op`.
RegistrationHandle register_effect(const OperatorHandle& op, Effect effect,
                                   SourceLocation where = SourceLocation::current());

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

// For code that is run to see what it calls: calls with effects do not come about. One that returns
// nothing is passed over, any other is NotImplementedError, that begins with the operator and says
// who would have run it, `who`. On fake tensors nothing is run anyway, and all go on.
class WithoutEffects final : public DispatchMode {
 public:
  explicit WithoutEffects(std::string who) : who_(std::move(who)) {}
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override;
  std::string name() const override { return "WithoutEffects"; }
  bool only_watches() const override { return true; }

  // Passes over a call with an effect, or refuses it; false, and nothing done, for any other.
  static bool pass_over(std::string_view who, const OperatorHandle& op, Stack* stack);
  // Whether it would pass over the call, or refuse it.
  static bool concerns(const OperatorHandle& op, const Stack& stack);

 private:
  std::string who_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MODES_EFFECTS_H_
