// Facts about an operator that fake mode needs: found out at the first call, kept with the
// operator.

#ifndef SWITCHBOARD_FAKE_FAKE_OP_H_
#define SWITCHBOARD_FAKE_FAKE_OP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/fake/dispatch_cache.h"
#include "switchboard/fake/fake_rule.h"

namespace sb::internal {

struct RegisteredFakeRule {
  std::shared_ptr<const FakeRule> run;
  SourceLocation where;
};

struct FakeOp {
  std::vector<RegisteredFakeRule> rules;  // in their order
  bool first_rule_is_own = false;         // and not by predicate
  int device_argument = -1;               // the index of `device`, or -1
  bool has_rules = false;                 // or is one of those that fake mode does something for
  bool goes_straight = false;             // no rules, and no effect to look for
  bool mutates = false;                   // some argument is written to
  bool sets_metadata = false;             // inplace_view: an argument's shape or storage is changed
  bool is_view = false;
  bool is_lift = false;     // makes a literal part of the program
  bool is_builtin = false;  // of PyTorch's own namespaces
  bool is_seeded = false;   // nondeterministic_seeded: two calls give two results
  bool returns_nothing = false;
  std::optional<CacheBypass> bypass;  // why its results are not remembered, if no kernel changes it

  // Made anew when the operator has another definition, or other fake rules, than when this was
  // made.
  uint64_t defined_order = 0;
  uint64_t rules_version = 0;
};

// Returns whether a `device` argument names a device that this program does not have.
bool goes_elsewhere(const FakeOp& facts, absl::Span<const IValue> arguments);

// Grows with each fake rule that comes or goes.
extern std::atomic<uint64_t> fake_rules_version;

const FakeOp& make_fake_op(const OperatorHandle& op);

class FakeOpNote final : public OperatorNote {
 public:
  std::atomic<const FakeOp*> fake_op{nullptr};  // of `owned`
  std::shared_ptr<const FakeOp> owned;
};

// The caller holds a CallPin for as long as it uses the result.
inline const FakeOp& fake_op(const OperatorHandle& op) {
  const OperatorEntry& entry = op.entry();
  if (const OperatorNote* const note = entry.find_note(NoteKind::Facts)) {
    const FakeOp* const known =
        static_cast<const FakeOpNote*>(note)->fake_op.load(std::memory_order_acquire);
    if (known && known->defined_order == entry.defined_order() &&
        known->rules_version == fake_rules_version.load(std::memory_order_acquire)) {
      return *known;
    }
  }
  return make_fake_op(op);
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_FAKE_OP_H_
