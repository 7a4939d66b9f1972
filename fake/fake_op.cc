#include "switchboard/fake/fake_op.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/ops/outputs/builtin.h"

namespace sb {
namespace internal {

std::atomic<uint64_t> fake_rules_version{1};

namespace {

struct RuleByPredicate {
  FakeRulePredicate predicate;
  RegisteredFakeRule rule;
  uint64_t id;
};

// All rules. Not destroyed, as handles of static objects may outlive it otherwise.
struct Registry {
  std::mutex mutex;  // of all that follows; not absl::Mutex: see Dispatcher
  absl::flat_hash_map<OperatorName, RegisteredFakeRule> by_op;
  std::vector<RuleByPredicate> by_predicate;
  uint64_t last_id = 0;
};
Registry& registry() {
  static Registry& all = *new Registry();
  return all;
}

// Guards FakeOpNote::owned of all operators.
constinit std::mutex make_mutex;

bool is_lift_op(const OperatorName& op) {
  const std::string& name = op.name;
  return op.overload.empty() &&
         (name == "aten::lift" || name == "aten::lift_fresh" || name == "aten::lift_fresh_copy");
}

// What speaks against remembering results of the operator. As `_validate_cache_key`.
std::optional<CacheBypass> bypass_of(const OperatorEntry& entry, const FakeOp& facts) {
  const std::string& name = entry.name().name;
  if (entry.has_tag(Tag::data_dependent_output)) return CacheBypass::DataDependentOutput;
  if (entry.has_tag(Tag::dynamic_output_shape)) return CacheBypass::DynamicOutputShape;
  if (facts.sets_metadata) return CacheBypass::InplaceView;
  if (name == "aten::_unsafe_view") return CacheBypass::UnsafeView;
  if (facts.is_lift) return CacheBypass::Lift;
  if (name == "inductor::resize_storage_bytes_") return CacheBypass::StorageResize;
  if (!facts.is_builtin) return CacheBypass::NonBuiltin;
  return std::nullopt;
}

}  // namespace

bool goes_elsewhere(const FakeOp& facts, absl::Span<const IValue> arguments) {
  if (facts.device_argument < 0) return false;
  const IValue& device = arguments[static_cast<size_t>(facts.device_argument)];
  return device.is_Device() && !find_allocator(device.to_device().type);
}

const FakeOp& make_fake_op(const OperatorHandle& op) {
  OperatorEntry& entry = op.entry();
  auto made = std::make_shared<FakeOp>();
  const FunctionSchema& schema = op.schema();
  made->defined_order = entry.defined_order();
  made->mutates = schema.is_mutable();
  made->sets_metadata = entry.has_tag(Tag::inplace_view);
  made->is_view = schema.is_view();
  made->is_seeded = entry.has_tag(Tag::nondeterministic_seeded);
  made->is_lift = is_lift_op(op.name());
  made->is_builtin = is_builtin_namespace(op.name().ns());
  made->returns_nothing = schema.returns.empty();
  made->bypass = bypass_of(entry, *made);
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const BaseType base = schema.arguments[i].type.base;
    if (base == BaseType::Device && made->device_argument < 0)
      made->device_argument = static_cast<int>(i);
  }

  Registry& all = registry();
  std::vector<std::pair<FakeRulePredicate, RegisteredFakeRule>> predicates;
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    made->rules_version = fake_rules_version.load(std::memory_order_acquire);
    const auto found = all.by_op.find(op.name());
    if (found != all.by_op.end()) {
      made->rules.push_back(found->second);
      made->first_rule_is_own = true;
    }
    for (const RuleByPredicate& r : all.by_predicate) predicates.emplace_back(r.predicate, r.rule);
  }
  // Without the lock: a predicate may look at the dispatcher.
  for (auto& [predicate, rule] : predicates) {
    if (predicate(op)) made->rules.push_back(std::move(rule));
  }

  made->has_rules = !made->rules.empty() || made->is_lift;
  // PyTorch's own kernels at Meta have no effects; others are asked at each call, as effects come
  // and go.
  made->goes_straight = !made->has_rules && made->is_builtin;

  if (!entry.find_note(NoteKind::Facts))
    entry.set_note(NoteKind::Facts, std::make_unique<FakeOpNote>());
  auto& note = static_cast<FakeOpNote&>(*entry.find_note(NoteKind::Facts));
  std::lock_guard<std::mutex> lock(make_mutex);
  std::shared_ptr<const FakeOp> old = std::exchange(note.owned, made);
  note.fake_op.store(made.get(), std::memory_order_release);
  if (old) retire(std::move(old));
  return *made;
}

}  // namespace internal

namespace {

// Takes away the rules that `take`, called with the registry locked, gives, and has every operator
// ask anew. They are destroyed without the lock, as a rule may own anything.
template <class F>
RegistrationHandle undo_by(F take) {
  return RegistrationHandle([take] {
    internal::Registry& all = internal::registry();
    std::vector<internal::RuleByPredicate> taken;
    {
      std::lock_guard<std::mutex> lock(all.mutex);
      taken = take(all);
      internal::fake_rules_version.fetch_add(1, std::memory_order_acq_rel);
    }
  });
}

}  // namespace

RegistrationHandle register_fake_rule(std::initializer_list<std::string_view> ops, FakeRule rule,
                                      SourceLocation where) {
  const auto text = [](std::string* to, std::string_view op) { to->append(op); };
  SB_CHECK_VALUE(rule != nullptr, "register_fake_rule: ", absl::StrJoin(ops, ", ", text),
                 ": expected a rule, got an empty function");
  std::vector<OperatorName> names;
  for (const std::string_view op : ops) names.push_back(OperatorName::parse(op));
  const auto shared = std::make_shared<const FakeRule>(std::move(rule));
  internal::Registry& all = internal::registry();
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    for (auto name = names.begin(); name != names.end(); ++name) {
      const auto there = all.by_op.find(*name);
      SB_CHECK(there == all.by_op.end() && std::find(names.begin(), name, *name) == name,
               "register_fake_rule: ", name->to_string(),
               " has a fake rule already, registered at ",
               there == all.by_op.end() ? where.file_name() : there->second.where.file_name(), ":",
               there == all.by_op.end() ? where.line() : there->second.where.line(),
               "; got another at ", where.file_name(), ":", where.line());
    }
    for (const OperatorName& name : names) all.by_op[name] = {shared, where};
    internal::fake_rules_version.fetch_add(1, std::memory_order_acq_rel);
  }
  return undo_by([names](internal::Registry& r) {
    std::vector<internal::RuleByPredicate> taken;
    for (const OperatorName& name : names) {
      const auto found = r.by_op.find(name);
      if (found == r.by_op.end()) continue;
      taken.push_back({nullptr, std::move(found->second), 0});
      r.by_op.erase(found);
    }
    return taken;
  });
}

RegistrationHandle register_fake_rule(std::string_view op, FakeRule rule, SourceLocation where) {
  return register_fake_rule({op}, std::move(rule), where);
}

RegistrationHandle register_fake_rule(FakeRulePredicate predicate, FakeRule rule,
                                      SourceLocation where) {
  SB_CHECK_VALUE(predicate != nullptr && rule != nullptr,
                 "register_fake_rule: expected a predicate and a rule, got an empty function");
  internal::Registry& all = internal::registry();
  uint64_t id;
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    id = ++all.last_id;
    all.by_predicate.push_back(
        {std::move(predicate), {std::make_shared<const FakeRule>(std::move(rule)), where}, id});
    internal::fake_rules_version.fetch_add(1, std::memory_order_acq_rel);
  }
  return undo_by([id](internal::Registry& r) {
    std::vector<internal::RuleByPredicate> taken;
    const auto found = std::ranges::find(r.by_predicate, id, &internal::RuleByPredicate::id);
    if (found != r.by_predicate.end()) {
      taken.push_back(std::move(*found));
      r.by_predicate.erase(found);
    }
    return taken;
  });
}

}  // namespace sb
