#include "switchboard/dispatch/objects/operator_base.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/reclaim.h"

namespace sb {

// Never changed once published.
struct OperatorBase::Tables {
  struct KeyRule {
    DispatchKey key;
    IntrusivePtr<internal::OwnKernel> kernel;
    bool unmasks;  // whether the rule put its key into the mask
    uint64_t id;
    SourceLocation where;
  };
  // Shared, as they are copied with each table, and a table that goes must not take the rules of
  // the next one with it.
  struct RuleForMode {
    std::type_index type;
    std::shared_ptr<const ModeRule> rule;
    uint64_t id;
    SourceLocation where;
  };
  struct RuleForTransform {
    TransformType type;
    std::shared_ptr<const TransformRule> rule;
    uint64_t id;
    SourceLocation where;
  };

  const KeyRule* find(DispatchKey key) const {
    for (const KeyRule& r : keys)
      if (r.key == key) return &r;
    return nullptr;
  }
  const RuleForMode* find(std::type_index type) const {
    for (const RuleForMode& r : modes)
      if (r.type == type) return &r;
    return nullptr;
  }
  const RuleForTransform* find(TransformType type) const {
    for (const RuleForTransform& r : transforms)
      if (r.type == type) return &r;
    return nullptr;
  }

  // Each throws if there is a rule already; `op` is the operator's name.
  // The rules come ready-made: what is refused is destroyed by the caller, without the lock.
  void add(const std::string& op, DispatchKey key, const IntrusivePtr<internal::OwnKernel>& kernel,
           uint64_t id, SourceLocation where) {
    check_free(op, find(key), to_string(key), where);
    const bool unmasks = !DispatchKeySet(key).empty() && !mask.has(key);
    if (unmasks) mask |= key;
    keys.push_back({key, kernel, unmasks, id, where});
  }
  void add(const std::string& op, std::type_index mode, const std::shared_ptr<const ModeRule>& rule,
           uint64_t id, SourceLocation where) {
    check_free(op, find(mode), str_cat("the mode ", internal::type_name(mode)), where);
    modes.push_back({mode, rule, id, where});
  }
  void add(const std::string& op, TransformType type,
           const std::shared_ptr<const TransformRule>& rule, uint64_t id, SourceLocation where) {
    check_free(op, find(type), str_cat("the transform ", to_string(type)), where);
    transforms.push_back({type, rule, id, where});
  }
  // Removes what was added with that id.
  void remove(uint64_t id) {
    const auto is_it = [id](const auto& r) { return r.id == id; };
    DispatchKeySet masked;
    for (const KeyRule& r : keys)
      if (is_it(r) && r.unmasks) masked |= r.key;
    std::erase_if(keys, is_it);
    std::erase_if(modes, is_it);
    std::erase_if(transforms, is_it);
    for (KeyRule& r : keys) {  // a rule for another backend keeps the functionality
      if (DispatchKeySet(functionality_of(r.key)).empty()) continue;
      if ((masked - functionality_of(r.key)) == masked) continue;
      r.unmasks = true;
      masked -= functionality_of(r.key);
    }
    mask -= masked;
  }
  static void check_free(const std::string& op, const auto* there, std::string_view what,
                         SourceLocation where) {
    if (!there) return;
    SB_THROW(RuntimeError, op, ": a rule for ", what,
             " is already registered; destroy its handle first\nregistered at: ",
             to_string(there->where), "\nand again at: ", to_string(where));
  }

  std::vector<KeyRule> keys;
  std::vector<RuleForMode> modes;
  std::vector<RuleForTransform> transforms;
  DispatchKeySet mask = DispatchKeySet::full();
};

struct OperatorBase::State {
  explicit State(std::string n) : name(std::move(n)), cache(name) {}

  // Replaces the tables by what f makes of them. If it throws, nothing has changed.
  template <class F>
  void change(F&& f) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      auto next = std::make_shared<Tables>(*tables);
      f(*next);
      current.store(next.get(), std::memory_order_release);
      internal::retire(std::exchange(tables, std::move(next)));
    }
    cache.clear();
  }
  // The same, by a caller who holds no lock of a dispatcher.
  template <class F>
  void change_and_reclaim(F&& f) {
    change(std::forward<F>(f));
    internal::reclaim();
  }

  const std::string name;
  mutable internal::DispatchCache cache;
  std::mutex mutex;  // not absl::Mutex; see Dispatcher
  uint64_t last_id = 0;
  std::shared_ptr<const Tables> tables = std::make_shared<Tables>();
  std::atomic<const Tables*> current{tables.get()};
};

OperatorBase::OperatorBase(std::string name) : state_(std::make_shared<State>(std::move(name))) {}
// A rule that runs may destroy the operator.
OperatorBase::~OperatorBase() {
  internal::retire(std::move(state_));
  internal::reclaim();
}

const std::string& OperatorBase::name() const { return state_->name; }
internal::DispatchCache& OperatorBase::cache() const { return state_->cache; }
const OperatorBase::Tables& OperatorBase::tables() const {
  return *state_->current.load(std::memory_order_acquire);
}

template <class F>
RegistrationHandle OperatorBase::add(F&& f) {
  uint64_t id = 0;
  state_->change_and_reclaim([&](Tables& tables) { f(tables, id = ++state_->last_id); });
  return RegistrationHandle([weak = std::weak_ptr<State>(state_), id] {
    if (const std::shared_ptr<State> state = weak.lock())
      state->change_and_reclaim([&](Tables& tables) { tables.remove(id); });
  });
}

RegistrationHandle OperatorBase::impl(DispatchKey key, Rule rule, SourceLocation where) {
  SB_CHECK_VALUE(rule != nullptr, name(), ": expected a rule for ", to_string(key),
                 ", got an empty function");
  SB_CHECK_VALUE(key != DispatchKey::Python, name(),
                 ": a rule cannot be at Python, where modes are called; register one for a type of "
                 "mode (impl_mode)");
  SB_CHECK_VALUE(is_runtime_key(key) || is_alias_key(key), name(),
                 ": a rule cannot be at the functionality ", to_string(key),
                 "; name a key of one of its backends");
  const auto made = make_intrusive<internal::OwnKernel>(std::move(rule));
  return add([&](Tables& tables, uint64_t id) { tables.add(name(), key, made, id, where); });
}

RegistrationHandle OperatorBase::impl_mode(std::type_index mode, ModeRule rule,
                                           SourceLocation where) {
  SB_CHECK_VALUE(rule != nullptr, name(), ": expected a rule for the mode ",
                 internal::type_name(mode), ", got an empty function");
  const auto made = std::make_shared<const ModeRule>(std::move(rule));
  return add([&](Tables& tables, uint64_t id) { tables.add(name(), mode, made, id, where); });
}

RegistrationHandle OperatorBase::impl_transform(TransformType type, TransformRule rule,
                                                SourceLocation where) {
  SB_CHECK_VALUE(rule != nullptr, name(), ": expected a rule for the transform ", to_string(type),
                 ", got an empty function");
  const auto made = std::make_shared<const TransformRule>(std::move(rule));
  return add([&](Tables& tables, uint64_t id) { tables.add(name(), type, made, id, where); });
}

RegistrationHandle OperatorBase::impl_functionalize(FunctionalizeApiRule rule,
                                                    const FunctionalizeRoutes& routes,
                                                    SourceLocation where) {
  SB_CHECK_VALUE(rule != nullptr, name(),
                 ": expected a rule for functionalisation, got an empty function");
  SB_CHECK_VALUE(routes.key || routes.mode || routes.transform, name(),
                 ": expected a route of functionalisation, got none");
  SB_CHECK_VALUE(!routes.mode == !routes.mode_type, name(),
                 ": a route by a mode needs the mode's type, and the type a route");
  const auto shared = std::make_shared<const FunctionalizeApiRule>(std::move(rule));
  // Made before the lock is taken, as each of the routes may be refused.
  IntrusivePtr<internal::OwnKernel> by_key;
  std::shared_ptr<const ModeRule> by_mode;
  std::shared_ptr<const TransformRule> by_transform;
  if (routes.key) {
    by_key = make_intrusive<internal::OwnKernel>(
        [shared, make = routes.key](DispatchKeySet keys, Stack* stack) {
          (*shared)(*make(), keys, stack);
        });
  }
  if (routes.mode) {
    by_mode = std::make_shared<const ModeRule>(
        [shared, make = routes.mode](DispatchMode& mode, DispatchKeySet keys, Stack* stack) {
          (*shared)(*make(mode), keys, stack);
        });
  }
  if (routes.transform) {
    by_transform = std::make_shared<const TransformRule>(
        [shared, make = routes.transform](FunctionTransform& transform, DispatchKeySet keys,
                                          Stack* stack) {
          (*shared)(*make(transform), keys, stack);
        });
  }
  return add([&](Tables& tables, uint64_t id) {
    if (by_key) tables.add(name(), DispatchKey::Functionalize, by_key, id, where);
    if (by_mode) tables.add(name(), *routes.mode_type, by_mode, id, where);
    if (by_transform) tables.add(name(), TransformType::Functionalize, by_transform, id, where);
  });
}

bool OperatorBase::has_kernel_for_dispatch_key(DispatchKey key) const {
  internal::CallPin pin;
  return tables().find(key) != nullptr;
}

bool OperatorBase::has_kernel_for_any_dispatch_key(DispatchKeySet keys) const {
  internal::CallPin pin;
  const Tables& t = tables();
  // has() is false for alias keys, which are in no set.
  return std::any_of(t.keys.begin(), t.keys.end(), [&](const auto& r) { return keys.has(r.key); });
}

bool OperatorBase::has_rule_for_mode(std::type_index mode) const {
  internal::CallPin pin;
  return tables().find(mode) != nullptr;
}

bool OperatorBase::has_rule_for_transform(TransformType type) const {
  internal::CallPin pin;
  return tables().find(type) != nullptr;
}

std::vector<OperatorBase::RuleInfo> OperatorBase::rules() const {
  internal::CallPin pin;
  const Tables& t = tables();
  using Kind = RuleInfo::Kind;
  std::vector<RuleInfo> all;
  for (const auto& r : t.keys)
    all.push_back({Kind::Key, r.key, std::string(to_string(r.key)), r.where});
  for (const auto& r : t.modes)
    all.push_back({Kind::Mode, DispatchKey::Undefined, internal::type_name(r.type), r.where});
  for (const auto& r : t.transforms) {
    all.push_back(
        {Kind::Transform, DispatchKey::Undefined, std::string(to_string(r.type)), r.where});
  }
  return all;
}

std::string OperatorBase::describe_rules() const {
  std::string text;
  std::optional<RuleInfo::Kind> last;
  for (const RuleInfo& rule : rules()) {
    if (last != rule.kind) {
      text += str_cat(last ? "; " : "", rule.kind == RuleInfo::Kind::Mode        ? "modes: "
                                        : rule.kind == RuleInfo::Kind::Transform ? "transforms: "
                                                                                 : "");
    } else {
      text += ", ";
    }
    last = rule.kind;
    text += str_cat(rule.what, " (", to_string(rule.where), ")");
  }
  return text.empty() ? "nothing" : text;
}

void OperatorBase::clear() {
  state_->change([](Tables& tables) {
    for (const Tables::KeyRule& r : tables.keys)
      if (r.unmasks) tables.mask -= r.key;
    tables.keys.clear();
    tables.modes.clear();
    tables.transforms.clear();
  });
}

OperatorBase::KeyRules OperatorBase::key_rules() const { return KeyRules(tables()); }

const internal::OwnKernel* OperatorBase::find_kernel(DispatchKey key) const {
  return key_rules().find(key);
}

const internal::OwnKernel* OperatorBase::KeyRules::find(DispatchKey key) const {
  const Tables::KeyRule* const rule = tables_->find(key);
  return rule ? rule->kernel.get() : nullptr;
}

const OperatorBase::ModeRule* OperatorBase::find_mode_rule(std::type_index mode) const {
  const Tables::RuleForMode* const rule = tables().find(mode);
  return rule ? rule->rule.get() : nullptr;
}

const OperatorBase::TransformRule* OperatorBase::find_transform_rule(TransformType type) const {
  const Tables::RuleForTransform* const rule = tables().find(type);
  return rule ? rule->rule.get() : nullptr;
}

DispatchKeySet OperatorBase::mask() const { return tables().mask; }

void OperatorBase::take_from_mask(DispatchKeySet keys) {
  state_->change_and_reclaim([&](Tables& tables) { tables.mask -= keys; });
}

namespace {

class BaseNote final : public OperatorRules {
 public:
  explicit BaseNote(std::string name) : base(std::move(name)) {}
  const ModeRule* find_mode_rule(std::type_index mode) const override {
    return base.find_mode_rule(mode);
  }
  const TransformRule* find_transform_rule(TransformType type) const override {
    return base.find_transform_rule(type);
  }
  void registrations_changed() override { base.uncache_dispatch(); }
  void removed() override { base.clear(); }

  OperatorBase base;
};

}  // namespace

OperatorBase* find_operator_base(const OperatorEntry& op) {
  OperatorNote* const note = op.find_note(NoteKind::Rules);
  return note ? &static_cast<BaseNote*>(note)->base : nullptr;
}

OperatorBase& operator_base(OperatorEntry& op) {
  if (OperatorBase* const base = find_operator_base(op)) return *base;
  OperatorNote& note =
      op.set_note(NoteKind::Rules, std::make_unique<BaseNote>(op.name().to_string()));
  return static_cast<BaseNote&>(note).base;
}

namespace internal {
namespace {

void call_own(const Kernel& kernel, const OperatorHandle&, DispatchKeySet keys, Stack* stack) {
  (*static_cast<const OwnKernel*>(kernel.state))(keys, stack);
}

}  // namespace

KernelFunction OwnKernel::function() const {
  KernelFunction function;
  function.state = IntrusivePtr<KernelState>::share(const_cast<OwnKernel*>(this));
  function.entries = {nullptr, &call_own, this};
  return function;
}

std::string type_name(std::type_index type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : type.name();
}

}  // namespace internal
}  // namespace sb
