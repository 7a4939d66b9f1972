#include "switchboard/tests/explain/explained_calls.h"

#include <exception>
#include <utility>

#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/inspect/explain.h"

namespace sb::test {
namespace {

constexpr size_t kMostTexts = 20;

// Events as their kernels start; whether they threw is known at their ends.
class Recorder final : public TraceSink {
 public:
  void kernel_started(const TraceEvent& event) override { events.push_back(event); }
  void kernel_ended(const TraceEvent& event) override {
    for (TraceEvent& e : events)
      if (e.id == event.id) e.threw = event.threw;
  }
  std::vector<TraceEvent> events;
};

using Onward = PathStep::Onward;

// The kernels that the one of event `at` called.
std::vector<size_t> children(const std::vector<TraceEvent>& trace, size_t at) {
  std::vector<size_t> found;
  for (size_t i = at + 1; i < trace.size() && trace[i].depth > trace[at].depth; ++i)
    if (trace[i].depth == trace[at].depth + 1) found.push_back(i);
  return found;
}

bool is_event(const PathStep& step, const TraceEvent& event) {
  return step.kind == PathStep::Kind::Kernel && step.row.has_kernel && step.op == event.op &&
         step.row.key == event.key && to_string(step.row.where) == event.where;
}

// Whether the kernel of event `at` called the operator at a key below its own.
bool goes_down(const std::vector<TraceEvent>& trace, size_t at) {
  for (const size_t child : children(trace, at)) {
    if (trace[child].op == trace[at].op &&
        functionality_of(trace[child].key) < functionality_of(trace[at].key))
      return true;
  }
  return false;
}

// Of the step that is event `at`, and what comes after it.
Explained follow(const std::vector<PathStep>& path, size_t step,
                 const std::vector<TraceEvent>& trace, size_t at) {
  bool decided = false;  // before the next kernel
  for (;;) {
    switch (path[step].onward) {
      case Onward::Ends:
        if (decided) return Explained::Decided;
        return goes_down(trace, at) ? Explained::Otherwise : Explained::AsTraced;
      case Onward::Fails:
        return trace[at].threw && !goes_down(trace, at) ? Explained::AsTraced
                                                        : Explained::Otherwise;
      case Onward::Decides:
        decided = true;
        if (step + 1 == path.size()) return Explained::Decided;
        break;
      case Onward::GoesOn:
        break;
    }
    if (path[++step].kind == PathStep::Kind::Kernel) break;
  }
  for (const size_t child : children(trace, at)) {
    if (!is_event(path[step], trace[child])) continue;
    const Explained rest = follow(path, step, trace, child);
    if (rest != Explained::Otherwise) return decided ? Explained::Decided : rest;
  }
  // An error may come before the next kernel; and who decides may do without it, but has no other.
  if (trace[at].threw) return decided ? Explained::Decided : Explained::AsTraced;
  return decided && !goes_down(trace, at) ? Explained::Decided : Explained::Otherwise;
}

std::string decider_in(const std::vector<PathStep>& path) {
  for (const PathStep& step : path) {
    if (step.onward != Onward::Decides) continue;
    return str_cat(step.op, ": ",
                   step.kind == PathStep::Kind::Kernel ? sb::to_string(step.row.key) : step.what);
  }
  return "";
}

std::string text_of(const std::vector<PathStep>& path, const std::vector<TraceEvent>& trace) {
  std::string text = str_cat(to_string(path), "  traced\n");
  for (const TraceEvent& e : trace) {
    text += str_cat(std::string(4 + 2 * static_cast<size_t>(e.depth), ' '), e.op, "  ",
                    to_string(e.key), "  ", e.where, e.threw ? "  threw" : "", "\n");
  }
  return text;
}

thread_local ExplainedCalls* current = nullptr;

}  // namespace

Explained compare(const std::vector<PathStep>& path, const std::vector<TraceEvent>& trace) {
  if (path.empty()) return Explained::Otherwise;
  if (trace.empty())
    return path[0].onward == Onward::Fails ? Explained::AsTraced : Explained::Otherwise;
  return is_event(path[0], trace[0]) ? follow(path, 0, trace, 0) : Explained::Otherwise;
}

void ExplainedCalls::call(const OperatorHandle& op, Stack* stack) {
  const std::vector<PathStep> path = explain(op, *stack).path;
  Recorder recorder;
  std::exception_ptr error;
  {
    const TraceCalls trace(recorder);
    try {
      op.call_boxed(stack);
    } catch (...) {
      error = std::current_exception();
    }
  }
  switch (compare(path, recorder.events)) {
    case Explained::AsTraced:
      ++as_traced_;
      break;
    case Explained::Decided:
      ++decided_;
      ++deciders_[decider_in(path)];
      break;
    case Explained::Otherwise:
      ++otherwise_;
      if (texts_.size() < kMostTexts) texts_.push_back(text_of(path, recorder.events));
      break;
  }
  if (error) std::rethrow_exception(error);
}

std::string ExplainedCalls::to_string() const {
  return str_cat(as_traced_, " calls explained as traced, ", decided_,
                 " more up to where a kernel's own code decides, ", otherwise_, " otherwise");
}

ExplainCallsGuard::ExplainCallsGuard(ExplainedCalls* calls)
    : previous_(std::exchange(current, calls)) {}
ExplainCallsGuard::~ExplainCallsGuard() { current = previous_; }

void call_explained(const OperatorHandle& op, Stack* stack) {
  if (current)
    current->call(op, stack);
  else
    op.call_boxed(stack);
}

}  // namespace sb::test
