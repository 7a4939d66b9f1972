// Why a call goes where it goes: tables, explanations and traces, as data first and then as text.

#ifndef SWITCHBOARD_DISPATCH_INSPECTOR_H_
#define SWITCHBOARD_DISPATCH_INSPECTOR_H_

#include <functional>
#include <string>
#include <vector>

#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/dispatch/slow_call.h"

namespace sb {

// One slot of an operator's computed table.
struct TableRow {
  DispatchKey key;
  ResolutionRule rule;
  DispatchKey source;  // the key that the kernel is registered at; key itself if none
  bool has_kernel = false;
  bool is_fallthrough = false;
  SourceLocation where;  // of the kernel, if there is one
};

// The operator's table, lowest key first. Takes the dispatcher's lock. Throws NotImplementedError
// if the operator was removed.
std::vector<TableRow> computed_table(const OperatorHandle& op);
// The same as text, a line a key; keys without a kernel are left out unless `all`.
std::string table_to_string(const OperatorHandle& op, bool all = false);

// One key that a call looked at, highest first.
struct ExplainStep {
  enum class Verdict { Excluded, Fallthrough, Taken, Missing };
  DispatchKey key;
  Verdict verdict;
  TableRow row;
};

// How a call with arguments of these keys is resolved on this thread: every key of the arguments
// and of the thread, why it was passed over, and the one that runs.
struct Explanation {
  std::string op;
  DispatchKeySet arguments;
  DispatchKeySet included;   // what the thread adds
  DispatchKeySet excluded;   // what it takes away
  DispatchKeySet call_keys;  // what is left after masks
  std::vector<ExplainStep> steps;
};
Explanation explain(const OperatorHandle& op, DispatchKeySet arguments);
// As text, a line a key: the key, the verdict, the rule and the kernel's source line.
std::string to_string(const Explanation& explanation);

// Writes one line a kernel to a sink, indented by depth: "aten::add.Tensor  CPU  ops/add.cc:31".
class TraceCalls : public CallObserver {
 public:
  using Sink = std::function<void(const std::string& line)>;
  explicit TraceCalls(Sink sink) : sink_(std::move(sink)), observe_(this) {}
  void enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) override;
  void leave(const OperatorEntry& op, DispatchKeySet keys) override;

 private:
  Sink sink_;
  int depth_ = 0;
  ObserveCalls observe_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_INSPECTOR_H_
