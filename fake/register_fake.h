// Registers a fake rule: the results of an operator on tensors without data. As
// `torch.library.register_fake`.
//
//   register_fake("mylib::nonzero_rows", [](const Tensor& x) {
//     const SymInt rows = fake_context().new_dynamic_size();
//     return empty({rows, x.sym_size(1)}, TensorOptions(x.dtype(), x.device()));
//   });

#ifndef SWITCHBOARD_FAKE_REGISTER_FAKE_H_
#define SWITCHBOARD_FAKE_REGISTER_FAKE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/dispatch/registration_handle.h"
#include "switchboard/fake/fake_rule.h"

namespace sb {

// Answers the questions of a fake rule about the call that it runs for. As
// `torch._library.fake_impl.FakeImplCtx`.
class FakeContext {
 public:
  FakeContext(std::string op, ShapeEnv* env) : op_(std::move(op)), env_(env) {}
  FakeContext(const FakeContext&) = delete;
  FakeContext& operator=(const FakeContext&) = delete;

  // A size that only the data tells, at least `min` and at most `max`. Throws ValueError for a
  // negative `min` or a `max` below it, DynamicOutputShapeError in a mode without a ShapeEnv, or
  // with one that does not allow such sizes.
  SymInt new_dynamic_size(int64_t min = 0, std::optional<int64_t> max = std::nullopt) const;
  // The environment of symbolic sizes; nullptr in a mode without.
  ShapeEnv* shape_env() const { return env_; }
  // The operator: "aten::nonzero", "higher_order::cond".
  const std::string& op() const { return op_; }

 private:
  const std::string op_;
  ShapeEnv* const env_;
};

// The context of the innermost fake rule that runs on this thread. Throws RuntimeError where none
// does: elsewhere, and in a rule that runs for tensors on the meta device, whose sizes are numbers.
// As `torch.library.get_ctx`.
const FakeContext& fake_context();

namespace internal {
RegistrationHandle register_fake_kernel(const OperatorName& op, const KernelFunction& rule,
                                        Dispatcher& dispatcher, bool allow_override,
                                        SourceLocation where);

// Puts a kernel at Meta that says that a fake rule is missing, so that the operator's kernels for
// all devices do not run there; or gives the results where the schema tells them (trivial_rule.h).
void expect_fake_rule(const OperatorName& op, Library& lib, SourceLocation where);
}  // namespace internal

// Gives an operator a fake rule: a function with the operator's own signature, which runs instead
// of its kernels for fake tensors and for those on the meta device. It makes results of the right
// shape, dtype and device by calling operators, and reads no elements: there are none. Its
// arguments are fake tensors, on the devices that they pretend to be on, and what it makes is fake,
// too.
//
// The rule goes with the handle, or, in the second form, with the library. The newest rule runs,
// instead of a kernel at Meta, too; when it goes, the one before. Throws RuntimeError where the
// operator is composed of others (CompositeImplicitAutograd), whose rules serve it; for a rule of
// another type than the operator's; and, if `allow_override` is false, where it has a fake rule or
// a kernel at Meta. A call throws RuntimeError where the rule gives a tensor that is not fake.
template <class F>
RegistrationHandle register_fake(const OpIdentifier& op, F rule, bool allow_override = true,
                                 SourceLocation where = SourceLocation::current()) {
  return internal::register_fake_kernel(op.name(), make_kernel(std::move(rule)),
                                        default_dispatcher(), allow_override, where);
}
template <class F>
void register_fake(const OpIdentifier& op, F rule, Library& lib, bool allow_override = true,
                   SourceLocation where = SourceLocation::current()) {
  lib.own(internal::register_fake_kernel(op.name(), make_kernel(std::move(rule)), lib.dispatcher(),
                                         allow_override, where));
}

// Gives a higher-order operator a rule for fake tensors, as long as the handle lives: it gets the
// arguments and gives the results, with the mode of the tensors active, so that functions among the
// arguments run on fake tensors when it calls them. Throws RuntimeError, naming both places, where
// there is a rule for fake mode already. A call throws as above.
using FakeHigherOrderRule = std::function<std::vector<IValue>(const std::vector<IValue>&)>;
RegistrationHandle register_fake(HigherOrderOperator& op, FakeHigherOrderRule rule,
                                 SourceLocation where = SourceLocation::current());

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_REGISTER_FAKE_H_
