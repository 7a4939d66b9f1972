#include "switchboard/dispatch/inspect/explain.h"

#include "absl/strings/str_format.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"

namespace sb {
namespace {

using Verdict = ExplainStep::Verdict;

// What happens to a call that enters `key`.
ExplainStep entered(const OperatorEntry& entry, DispatchKey key) {
  const TableRow row = internal::table_row(entry, key);
  return {key,
          !row.has_kernel      ? Verdict::Missing
          : row.is_fallthrough ? Verdict::EntersFallthrough
                               : Verdict::Taken,
          row};
}

// Fills in what the operator's table decides; under the dispatcher's lock, so that all is of one
// moment. The slots are computed here, not read from the table of the last call: a table may go at
// any registration, and computing it would be a change.
void look_up(const OperatorEntry& entry, Explanation& e) {
  entry.schema();  // throws for a removed operator
  const DispatchKeySet all = e.arguments | e.included;
  e.fallthroughs = internal::passed_over_on(entry, all.highest_backend());
  e.call_keys = all - e.excluded - e.fallthroughs;
  const DispatchKey decided = e.call_keys.highest_key();
  for (int f = kNumFunctionalities; f > static_cast<int>(functionality_of(decided)); --f) {
    const DispatchKeySet only(static_cast<DispatchKey>(f));
    if ((all & only).empty()) continue;
    const bool excluded = !(e.excluded & only).empty();
    const DispatchKey key = runtime_key(static_cast<DispatchKey>(f), all.highest_backend());
    e.steps.push_back({key, excluded ? Verdict::Excluded : Verdict::Fallthrough,
                       internal::table_row(entry, key)});
  }
  e.steps.push_back(entered(entry, decided));
  if (!e.runs() || decided == DispatchKey::Undefined) return;
  const DispatchKey last =
      e.decision().row.is_autograd_fallback ? DispatchKey::AutogradOther : decided;
  e.next = entered(entry, (e.call_keys & DispatchKeySet::below(last)).highest_key());
}

void add_tensors(const IValue& value, size_t argument, const std::string& name, Explanation& e) {
  auto add = [&](const Tensor& t, std::string at) {
    e.tensors.push_back({argument, std::move(at), t.key_set()});
    e.arguments |= t.key_set();
  };
  auto element = [&](size_t i) { return str_cat(name, "[", i, "]"); };
  if (value.is_Tensor()) {
    add(value.to_tensor(), name);
  } else if (value.is_TensorList()) {
    const TensorList list = value.to_tensor_list();
    for (size_t i = 0; i < list.size(); ++i) add(list[i], element(i));
  } else if (value.is_OptionalTensorList()) {
    const OptionalTensorList list = value.to_optional_tensor_list();
    for (size_t i = 0; i < list.size(); ++i)
      if (list[i]) add(*list[i], element(i));
  } else if (value.is_List()) {
    const std::vector<IValue>& list = value.to_list();
    for (size_t i = 0; i < list.size(); ++i) add_tensors(list[i], argument, element(i), e);
  }
}

Explanation start(const OperatorHandle& op) {
  Explanation e;
  e.op = op.name().to_string();
  // Observed only makes a call leave the fast path: it never decides.
  e.included = dispatch_tls.included - DispatchKey::Observed;
  e.excluded = dispatch_tls.excluded();
  return e;
}

Explanation finish(const OperatorHandle& op, Explanation e) {
  e.arguments -= DispatchKey::Observed;
  const OperatorEntry& entry = op.entry();
  entry.dispatcher().inspect([&] { look_up(entry, e); });
  return e;
}

void append_step(const ExplainStep& step, std::string_view verdict, std::string* text) {
  absl::StrAppendFormat(text, "    %-26s  %-22s  %-38s  %s\n", to_string(step.key),
                        std::string(verdict), internal::kernel_text(step.row),
                        internal::rule_text(step.row));
}

}  // namespace

std::string_view verdict_text(const ExplainStep& step) {
  switch (step.verdict) {
    case Verdict::Excluded:
      return "excluded by the thread";
    case Verdict::Fallthrough:
      return "falls through";
    case Verdict::Taken:
      return "runs";
    case Verdict::Missing:
      return internal::missing_text(step.row);
    case Verdict::EntersFallthrough:
      return "fails: a fallthrough";
  }
  return "";
}

Explanation explain(const OperatorHandle& op, DispatchKeySet arguments) {
  Explanation e = start(op);
  e.from_keys = true;
  e.arguments = arguments;
  return finish(op, std::move(e));
}

Explanation explain(const OperatorHandle& op, const Stack& arguments) {
  const FunctionSchema& schema = op.schema();
  const size_t n = schema.arguments.size();
  if (arguments.size() < n) op.entry().throw_short_stack(arguments);
  Explanation e = start(op);
  for (size_t i = 0; i < n; ++i) {
    if (schema.arguments[i].type.has_tensor())
      add_tensors(arguments[arguments.size() - n + i], i, schema.arguments[i].name, e);
  }
  e = finish(op, std::move(e));
  CallPath path;
  path.enter(op, e.call_keys, arguments);
  e.path = path.steps();
  return e;
}

std::string to_string(const Explanation& e) {
  std::string text = str_cat(e.op, "\n");
  auto line = [&](const std::string& label, const std::string& value) {
    absl::StrAppendFormat(&text, "    %-18s  %s\n", label, value);
  };
  text += "  keys\n";
  if (e.from_keys) line("arguments", to_string(e.arguments));
  for (const ExplainedTensor& tensor : e.tensors)
    line(str_cat("argument ", tensor.argument, " '", tensor.name, "'"), to_string(tensor.keys));
  if (!e.from_keys && e.tensors.empty()) line("arguments", "no tensors");
  line("thread includes", to_string(e.included));
  // Keys that the call has not, and that every thread excludes, say nothing of it.
  const DispatchKeySet all = e.arguments | e.included;
  line("thread excludes", to_string(e.excluded - (kDefaultExcluded - all)));
  line("op falls through",
       str_cat(to_string(e.fallthroughs & all), " on ",
               to_string(runtime_key(DispatchKey::Dense, all.highest_backend()))));
  line("left for the call", to_string(e.call_keys));
  text += "  looked at\n";
  for (const ExplainStep& step : e.steps) {
    const bool first_of_path = &step == &e.steps.back() && !e.path.empty() && e.runs();
    append_step(step, first_of_path ? internal::verdict_text(e.path[0]) : verdict_text(step),
                &text);
  }
  if (e.has_next()) {
    text += "  a redispatch below it enters\n";
    append_step(*e.next, verdict_text(*e.next), &text);
  }
  const std::string below = internal::path_text(e.path, 1);
  if (!below.empty()) text += str_cat("  below it\n", below);
  return text;
}

}  // namespace sb
