// Fake rules: what fake mode runs for single operators in place of their shape rules.

#ifndef SWITCHBOARD_FAKE_FAKE_RULE_H_
#define SWITCHBOARD_FAKE_FAKE_RULE_H_

#include <functional>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "switchboard/core/source_location.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/dispatch/registration_handle.h"

namespace sb {

class ShapeEnv;
namespace internal {
class FakeMode;
}

// A call that a fake rule may take. Its arguments are fake tensors of one mode, which is active
// neither in the rule nor in what it calls; operators on fake tensors reach that mode all the same.
class FakeCall {
 public:
  FakeCall(internal::FakeMode& mode, const OperatorHandle& op, Stack* stack)
      : mode_(mode), op_(op), stack_(stack) {}
  FakeCall(const FakeCall&) = delete;
  FakeCall& operator=(const FakeCall&) = delete;

  const OperatorHandle& op() const { return op_; }
  // "aten::nonzero": for messages.
  std::string name() const { return op_.name().to_string(); }
  // The argument of that place, or of that name in the schema. Valid until a result is given.
  // Throws IndexError, ValueError where there is none.
  IValue& argument(size_t index) const;
  IValue& argument(std::string_view name) const;
  const Tensor& tensor(size_t index) const { return argument(index).to_tensor(); }
  const Tensor& tensor(std::string_view name) const { return argument(name).to_tensor(); }

  // The environment of symbolic sizes; nullptr in a mode without.
  ShapeEnv* shape_env() const;
  // Grows when memos of data (what nonzero found) cease to hold.
  uint64_t epoch() const;

  // A fake tensor, contiguous. Throws as `aten::empty` does.
  Tensor empty(SymIntArrayRef sizes, DType dtype, Device device) const;
  // A fake tensor of that shape on the storage of `base`, with its dtype and device.
  Tensor view(const Tensor& base, SymIntArrayRef sizes, SymIntArrayRef strides,
              const SymInt& storage_offset = 0) const;
  // Runs the operator's Meta kernel on the arguments; the results replace them, as fake tensors of
  // `device`, or of the device that the arguments agree on. Throws UnsupportedOperatorError where
  // it has none.
  void run_meta_kernel(std::optional<Device> device = std::nullopt) const;
  // Runs the real kernel on zeros (fallback_kernel.h).
  void run_fallback_kernel() const;
  // Puts results in the place of the arguments.
  void give(std::vector<IValue> results) const;

  internal::FakeMode& mode() const { return mode_; }
  Stack* stack() const { return stack_; }

 private:
  internal::FakeMode& mode_;
  const OperatorHandle& op_;
  Stack* stack_;
};

// True if it took the call, with the results given; false if it declines, with the stack as it was.
using FakeRule = std::function<bool(FakeCall& call)>;
using FakeRulePredicate = std::function<bool(const OperatorHandle& op)>;

// Registers a fake rule for one operator ("aten::nonzero", "aten::add.Tensor"), for several, or for
// all that satisfy a predicate, which is asked once for each operator. The rule of an operator
// comes first, then those by predicate in the order of their registration; the first that does not
// decline runs. The rule goes with the handle. Throws RuntimeError, naming both places, where the
// operator has a rule already. Thread-safe. As `register_op_impl`.
RegistrationHandle register_fake_rule(std::string_view op, FakeRule rule,
                                      SourceLocation where = SourceLocation::current());
RegistrationHandle register_fake_rule(std::initializer_list<std::string_view> ops, FakeRule rule,
                                      SourceLocation where = SourceLocation::current());
RegistrationHandle register_fake_rule(FakeRulePredicate predicate, FakeRule rule,
                                      SourceLocation where = SourceLocation::current());

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_FAKE_RULE_H_
