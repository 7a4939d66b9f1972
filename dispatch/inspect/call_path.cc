#include "switchboard/dispatch/inspect/call_path.h"

#include <mutex>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/alias_keys.h"
#include "switchboard/dispatch/dispatcher.h"

namespace sb {
namespace {

// More than there are keys and modes: a way that is longer goes in a circle.
constexpr size_t kMostSteps = 200;

struct Said {
  DispatchKey key;
  bool of_fallback;
  std::string file;   // empty: a convention
  unsigned line = 0;  // 0: of all the file
  ExplainCall explain;
};
struct AllSaid {
  std::mutex mutex;  // not absl::Mutex; see Dispatcher
  std::vector<Said> list;
};
// Never destroyed: plugins come and go.
AllSaid& all_said() {
  static AllSaid* const all = new AllSaid;
  return *all;
}

void say(Said said) {
  std::lock_guard<std::mutex> lock(all_said().mutex);
  all_said().list.push_back(std::move(said));
}

void say_once(Said said) {
  std::lock_guard<std::mutex> lock(all_said().mutex);
  for (const Said& other : all_said().list) {
    if (other.key == said.key && other.of_fallback == said.of_fallback && other.line == said.line &&
        other.file == said.file)
      return;
  }
  all_said().list.push_back(std::move(said));
}

bool covers(DispatchKey said, DispatchKey slot) {
  return said == slot || said == functionality_of(slot) ||
         (is_alias_key(said) && alias_includes(said, slot));
}

bool is_composite(ResolutionRule rule) {
  return rule == ResolutionRule::MathKernel || rule == ResolutionRule::NestedKernel ||
         rule == ResolutionRule::DefaultBackendKernel;
}

ExplainCall find_said(const TableRow& row) {
  std::lock_guard<std::mutex> lock(all_said().mutex);
  const bool of_fallback = row.rule == ResolutionRule::BackendFallback;
  ExplainCall convention = nullptr, of_file = nullptr;
  for (const Said& said : all_said().list) {
    if (said.of_fallback != of_fallback) continue;
    // Of a composite kernel only what is said of its file: it is there by no convention.
    if (is_composite(row.rule) ? said.key != row.source || said.file.empty()
                               : !covers(said.key, row.key))
      continue;
    if (said.file.empty()) convention = said.explain;
    if (said.file != row.where.file_name()) continue;
    if (said.line == row.where.line()) return said.explain;
    if (said.line == 0) of_file = said.explain;
  }
  return of_file ? of_file : convention;
}

// What kernels at BackendSelect do: they go on with the backend that an argument names.
void select_backend(CallPath& path, const PathCall& c) {
  DeviceType type = DeviceType::CPU;
  const FunctionSchema& schema = c.op.schema();
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const IValue& value = c.arguments[c.arguments.size() - schema.arguments.size() + i];
    if (schema.arguments[i].name == "device" && value.is_Device()) type = value.to_device().type;
  }
  path.enter(c.op, backend_key_set(type), c.arguments);
}
const ExplainConvention explain_select(DispatchKey::BackendSelect, select_backend);

// Whether kernels at the key compute, and do not only do something with calls that pass.
bool is_of_backend(DispatchKey key) { return functionality_of(key) < DispatchKey::BackendSelect; }

}  // namespace

ExplainFallback::ExplainFallback(DispatchKey key, ExplainCall explain, SourceLocation where) {
  say({key, true, where.file_name(), 0, explain});
}

ExplainKernels::ExplainKernels(DispatchKey key, ExplainCall explain, SourceLocation where) {
  explain_kernels(key, explain, where);
}

ExplainConvention::ExplainConvention(DispatchKey key, ExplainCall explain) {
  say({key, false, "", 0, explain});
}

void explain_kernels(DispatchKey key, ExplainCall explain, SourceLocation where) {
  say_once({key, false, where.file_name(), 0, explain});
}

void explain_kernel(DispatchKey key, ExplainCall explain, SourceLocation where) {
  say_once({key, false, where.file_name(), where.line(), explain});
}

void CallPath::add(PathStep step) {
  if (!steps_.empty() && steps_.back().onward == PathStep::Onward::Ends)
    steps_.back().onward = PathStep::Onward::GoesOn;
  steps_.push_back(std::move(step));
}

void CallPath::decides() {
  if (!steps_.empty()) steps_.back().onward = PathStep::Onward::Decides;
}

void CallPath::fails(const std::string& why) {
  if (steps_.empty()) return;
  steps_.back().onward = PathStep::Onward::Fails;
  steps_.back().what += str_cat(steps_.back().what.empty() ? "" : ": ", why);
}

void CallPath::passes(const std::string& op, std::string what) {
  PathStep step;
  step.kind = PathStep::Kind::Other;
  step.op = op;
  step.what = std::move(what);
  add(std::move(step));
}

void CallPath::enter(const OperatorHandle& op, DispatchKeySet keys, const Stack& arguments) {
  if (steps_.size() >= kMostSteps) return decides();
  const OperatorEntry& entry = op.entry();
  PathStep step;
  step.op = op.name().to_string();
  step.row = entry.dispatcher().inspect([&] {
    entry.schema();  // throws for a removed operator
    return internal::table_row(entry, keys.highest_key());
  });
  const TableRow row = step.row;
  if (!row.has_kernel || row.is_fallthrough) step.onward = PathStep::Onward::Fails;
  add(std::move(step));
  if (!row.has_kernel || row.is_fallthrough) return;
  if (row.is_autograd_fallback)
    return enter(op, keys & DispatchKeySet::below(DispatchKey::AutogradOther), arguments);
  if (const ExplainCall explain = find_said(row)) {
    explain(*this, {op, keys, arguments});
  } else if (!is_composite(row.rule) && !is_of_backend(row.key)) {
    decides();
    enter(op, keys & DispatchKeySet::below(row.key), arguments);
  } else if (row.rule == ResolutionRule::BackendFallback) {
    decides();
  }
}

void CallPath::call(const OperatorHandle& op, const Stack& arguments) {
  const OperatorEntry& entry = op.entry();
  const DispatchKeySet keys = entry.dispatcher().inspect([&] {
    entry.schema();  // throws for a removed operator
    return internal::call_keys(entry, entry.argument_keys(arguments));
  });
  enter(op, keys, arguments);
}

std::string to_string(const std::vector<PathStep>& path) {
  return path.empty() ? "" : str_cat("    ", path[0].op, "\n", internal::path_text(path, 0));
}

namespace internal {

std::string_view verdict_text(const PathStep& step, bool certain) {
  switch (step.onward) {
    case PathStep::Onward::Ends:
      return certain ? "runs" : "may run";
    case PathStep::Onward::GoesOn:
      return certain ? "runs, and goes on" : "may run, and goes on";
    case PathStep::Onward::Decides:
      return certain ? "runs, and decides" : "may run, and decides";
    case PathStep::Onward::Fails:
      if (step.kind == PathStep::Kind::Other || step.row.has_kernel) return "fails";
      return missing_text(step.row);
  }
  return "";
}

std::string_view missing_text(const TableRow& row) {
  if (row.rule == ResolutionRule::AmbiguousAutogradOther) return "fails: ambiguous";
  return row.is_refused() ? "fails: refused" : "fails: no kernel";
}

std::string path_text(const std::vector<PathStep>& path, size_t first) {
  std::string text;
  bool certain = true;
  for (size_t i = 0; i < path.size(); ++i) {
    const PathStep& step = path[i];
    if (i >= first) {
      if (i > 0 && step.op != path[i - 1].op) text += str_cat("    ", step.op, "\n");
      const std::string verdict(verdict_text(step, certain));
      if (step.kind != PathStep::Kind::Other) {
        const std::string why = step.what.empty() ? "" : str_cat(": ", step.what);
        absl::StrAppendFormat(&text, "    %-26s  %-22s  %-38s  %s%s\n", to_string(step.row.key),
                              verdict, kernel_text(step.row), rule_text(step.row), why);
      } else {
        absl::StrAppendFormat(&text, "    %-26s  %s\n", step.what, verdict);
      }
    }
    certain = certain && step.onward != PathStep::Onward::Decides;
  }
  return text;
}

DispatchKeySet passed_over_on(const OperatorEntry& entry, Backend backend) {
  const auto kernel_at = [&](DispatchKey key) {
    const RegisteredKernel* const kernel = entry.resolve(key).kernel;
    return kernel ? kernel->function.entries : Kernel();
  };
  const Kernel at_other = kernel_at(DispatchKey::AutogradOther);
  DispatchKeySet keys;
  for (int f = kNumFunctionalities; f > 0; --f) {
    const DispatchKey key = runtime_key(static_cast<DispatchKey>(f), backend);
    if (is_passed_over(kernel_at(key), key, at_other)) keys |= key;
  }
  return keys;
}

DispatchKeySet call_keys(const OperatorEntry& entry, DispatchKeySet arguments) {
  const DispatchKeySet all = (arguments | dispatch_tls.included) - DispatchKey::Observed;
  return all - dispatch_tls.excluded() - passed_over_on(entry, all.highest_backend());
}

bool is_implicit_composite(const OperatorHandle& op, DispatchKeySet keys) {
  const DispatchTable& table = op.entry().resolved_table();
  const auto dense = runtime_key(DispatchKey::Dense, keys.highest_backend());
  const Kernel& kernel = table.slots[slot_of(dense)];
  // Such a kernel fills the NestedTensor slots too, which few others do. Most operators are not
  // asked more, as that takes a lock.
  const Kernel& nested = table.slots[slot_of(DispatchKey::NestedTensorCPU)];
  if (!kernel || kernel.boxed != nested.boxed || kernel.unboxed != nested.unboxed ||
      kernel.state != nested.state) {
    return false;
  }
  return op.entry().dispatcher().resolve(op.entry(), dense).source ==
         DispatchKey::CompositeImplicitAutograd;
}

}  // namespace internal
}  // namespace sb
