#include "switchboard/dispatch/objects/inspect_higher_order.h"

#include <algorithm>
#include <optional>
#include <typeinfo>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/modes/pre_dispatch.h"
#include "switchboard/dispatch/objects/callable.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/dispatch/resolve_key.h"

namespace sb {
namespace {

using K = DispatchKey;
using RuleKind = OperatorBase::RuleInfo::Kind;

std::string place_of_rule(const OperatorBase& op, RuleKind kind, std::string_view what) {
  for (const OperatorBase::RuleInfo& rule : op.rules())
    if (rule.kind == kind && rule.what == what) return to_string(rule.where);
  return "";
}

}  // namespace

namespace internal {

TableRow row_at(const OperatorBase& op, DispatchKey key) {
  const std::vector<OperatorBase::RuleInfo> rules = op.rules();
  const auto find = [&](DispatchKey k) {
    return std::find_if(rules.begin(), rules.end(), [k](const OperatorBase::RuleInfo& r) {
      return r.kind == RuleKind::Key && r.key == k;
    });
  };
  const ResolvedKey found = resolve_key(key, NestedComposite::WithoutBackendKernel,
                                        [&](DispatchKey k) { return find(k) != rules.end(); });
  TableRow row{key, found.rule, found.source, false, false, false, {}};
  if (const auto rule = find(found.source); rule != rules.end()) {
    row.has_kernel = found.rule != ResolutionRule::AmbiguousAutogradOther;
    row.where = rule->where;
  }
  return row;
}

std::string place_of_rule(const OperatorBase& op, std::type_index mode) {
  return sb::place_of_rule(op, RuleKind::Mode, type_name(mode));
}

std::string place_of_rule(const OperatorBase& op, TransformType transform) {
  return sb::place_of_rule(op, RuleKind::Transform, to_string(transform));
}

}  // namespace internal

namespace {

using internal::place_of_rule;
using internal::row_at;

// One call, as redispatch_boxed makes it.
class Way {
 public:
  Way(const HigherOrderOperator& op, const Stack& arguments, DispatchKeySet keys_of_arguments)
      : op_(op), arguments_(arguments), keys_of_arguments_(keys_of_arguments) {}

  // On this thread as it is.
  DispatchKeySet call_keys() const {
    return ((keys_of_arguments_ | dispatch_tls.included) & dispatch_tls.kept &
            op_.non_fallthrough_keys()) -
           K::Observed;
  }

  void enter(DispatchKeySet keys) {
    const DispatchKey key = keys.highest_key();
    if (key == K::FuncTorchDynamicLayerFrontMode) return enter_transform();
    if (key == K::Python) return enter_mode();
    if (key == K::PreDispatch && internal::pre_dispatch_modes_run()) return enter_pre_dispatch();
    if (key == K::PreDispatch && !row_at(op_, key).has_kernel) return enter(keys - key);
    add_rule(key);
    const TableRow& row = path.steps().back().row;
    if (!row.has_kernel) return;
    if (functionality_of(key) > K::BackendSelect && row.rule != ResolutionRule::MathKernel) {
      path.decides();
      const DispatchKeySet below = keys & DispatchKeySet::below(key);
      if (!below.empty()) enter(below);
    } else {
      add_functions();
    }
  }

  CallPath path;

 private:
  void add_rule(DispatchKey key) {
    PathStep step;
    step.kind = PathStep::Kind::KeyRule;
    step.op = op_.name();
    step.row = row_at(op_, key);
    if (!step.row.has_kernel) step.onward = PathStep::Onward::Fails;
    path.add(std::move(step));
  }
  // The rule that makes the operator a composition of others, in the place of one for a mode or a
  // transform.
  bool add_composition(bool has_rule) {
    if (has_rule || !row_at(op_, K::CompositeImplicitAutograd).has_kernel) return false;
    add_rule(K::CompositeImplicitAutograd);
    add_functions();
    return true;
  }
  // The rule may call what it was given.
  void add_functions() {
    std::vector<std::string> names;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (!Callable::find(arguments_[i])) continue;
      names.push_back(i < op_.parameters().size() ? op_.parameters()[i] : str_cat("argument ", i));
    }
    if (names.empty()) return;
    path.decides();
    for (const std::string& name : names) {
      path.passes(op_.name(), str_cat("function ", name));
      path.decides();
    }
  }
  void add_mode_rule(std::string_view what, const std::string& name, const std::string& place) {
    path.passes(op_.name(), str_cat("rule for the ", what, " ", name, " (", place, ")"));
    path.decides();
  }

  void enter_transform() {
    const internal::CallPin pin;
    const FunctionTransform* const top = current_transform();
    path.passes(op_.name(), "function transform");
    if (!top) return path.fails("none is active");
    const std::string place = place_of_rule(op_, top->type());
    if (add_composition(!place.empty())) return;
    if (place.empty()) return path.fails(str_cat("no rule for ", to_string(top->type())));
    add_mode_rule("transform", top->name(), place);
  }

  // In a mode that is popped.
  void enter_mode(DispatchMode& mode) {
    const std::string place = place_of_rule(op_, typeid(mode));
    if (!place.empty()) return add_mode_rule("mode", mode.name(), place);
    path.passes(op_.name(), str_cat("mode ", mode.name()));
    if (mode.only_watches()) return enter(call_keys());
    if (!mode.supports_higher_order_operators()) return path.fails("no rule for the mode");
    path.decides();
    add_functions();
  }
  void enter_mode() {
    DispatchMode* mode = current_mode();
    if (!mode) mode = internal::owner_of(arguments_, [&] { return op_.name(); });
    if (!mode) {
      path.passes(op_.name(), "mode");
      return path.fails("no mode is active and no argument belongs to one");
    }
    const bool has_rule = op_.has_rule_for_mode(typeid(*mode));
    if (add_composition(has_rule)) return;
    const internal::PoppedMode popped;
    enter_mode(*mode);
  }
  void enter_pre_dispatch() {
    DispatchMode& mode = *current_pre_dispatch_mode();
    if (add_composition(op_.has_rule_for_mode(typeid(mode)))) return;
    const internal::PoppedPreDispatchMode popped;
    enter_mode(mode);
  }

  const HigherOrderOperator& op_;
  const Stack& arguments_;
  const DispatchKeySet keys_of_arguments_;
};

HigherOrderExplanation explain_call(const HigherOrderOperator& op, const Stack& arguments,
                                    DispatchKeySet keys_of_arguments) {
  Way way(op, arguments, keys_of_arguments);
  HigherOrderExplanation e;
  e.op = op.name();
  e.arguments = keys_of_arguments;
  e.included = dispatch_tls.included - K::Observed;
  e.excluded = dispatch_tls.excluded();
  e.passed_over = (e.arguments | e.included) - e.excluded - op.non_fallthrough_keys();
  e.call_keys = way.call_keys();
  way.enter(e.call_keys);
  e.path = way.path.steps();
  return e;
}

}  // namespace

bool HigherOrderExplanation::runs() const {
  return std::none_of(path.begin(), path.end(),
                      [](const PathStep& step) { return step.onward == PathStep::Onward::Fails; });
}

std::string signature_text(const HigherOrderOperator& op) {
  return str_cat(op.name(), "(", absl::StrJoin(op.parameters(), ", "), ")");
}

std::string table_to_string(const HigherOrderOperator& op, bool all) {
  std::string text = str_cat(signature_text(op), "\n");
  const DispatchKeySet entered = op.non_fallthrough_keys();
  for_each_runtime_key([&](DispatchKey key) {
    const TableRow row = row_at(op, key);
    const bool passed = key != K::Undefined && !entered.has(key);
    if (!all && (passed || !row.has_kernel)) return;
    absl::StrAppendFormat(&text, "%-32s %-40s %s\n", to_string(key),
                          passed ? "falls through" : internal::kernel_text(row),
                          internal::rule_text(row));
  });
  for (const OperatorBase::RuleInfo& rule : op.rules()) {
    if (rule.kind == RuleKind::Key) continue;
    absl::StrAppendFormat(&text, "%-32s %s\n",
                          str_cat(rule.kind == RuleKind::Mode ? "mode " : "transform ", rule.what),
                          to_string(rule.where));
  }
  return text;
}

void dump_higher_order_ops(TableDump* dump) {
  for (const HigherOrderOperator* const op : all_higher_order_ops()) {
    DumpedOp& dumped = (*dump)[op->name()];
    dumped.schema = signature_text(*op);
    for_each_runtime_key([&](DispatchKey key) {
      const TableRow row = row_at(*op, key);
      if (!row.has_kernel) return;
      dumped.slots[key] = {row.rule, row.source, DumpedSlot::Content::Kernel, to_string(row.where)};
    });
  }
}

HigherOrderExplanation explain(const HigherOrderOperator& op, std::vector<IValue> positional,
                               std::vector<std::pair<std::string, IValue>> keyword) {
  const Stack arguments = op.bind(std::move(positional), std::move(keyword));
  DispatchKeySet keys;
  for (const IValue& value : arguments)
    value.for_each_tensor([&](const Tensor& t) { keys |= t.key_set(); });
  return explain_call(op, arguments, keys);
}

HigherOrderExplanation explain(const HigherOrderOperator& op, DispatchKeySet arguments) {
  return explain_call(op, {}, arguments);
}

std::string to_string(const HigherOrderExplanation& e) {
  std::string text = str_cat(e.op, "\n  keys\n");
  const auto line = [&](const std::string& label, const std::string& value) {
    absl::StrAppendFormat(&text, "    %-18s  %s\n", label, value);
  };
  line("arguments", to_string(e.arguments));
  line("thread includes", to_string(e.included));
  line("thread excludes", to_string(e.excluded));
  line("op falls through", to_string(e.passed_over));
  line("left for the call", to_string(e.call_keys));
  text += str_cat("  looked at\n", internal::path_text({e.path.front()}, 0));
  const std::string below = internal::path_text(e.path, 1);
  return below.empty() ? text : str_cat(text, "  below it\n", below);
}

}  // namespace sb
