// Call traces: every kernel that runs on a thread, with its operator, key, source line, depth and
// time, given to a sink. They are switched on at run time, in every build.
//
//   ChromeTrace file("trace.json");     // opens in ui.perfetto.dev and chrome://tracing
//   {
//     TraceCalls trace(file);           // this thread, until the end of the scope
//     add(x, y);
//   }
//   file.close();
//
// TraceCalls is for one thread: it includes the key Observed, which sends its calls off the fast
// path. TraceAllThreads is for the process: it withholds the operators' tables from the fast path.
// While neither is there, tracing costs nothing.

#ifndef SWITCHBOARD_DISPATCH_INSPECT_TRACE_H_
#define SWITCHBOARD_DISPATCH_INSPECT_TRACE_H_

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/slow_call.h"

namespace sb {

using TraceClock = std::chrono::steady_clock;

// One kernel that ran, or that has just started; or a rule of a higher-order operator: at a key,
// for a mode (at Python, PreDispatch) or for a function transform (FuncTorchDynamicLayerFrontMode).
struct TraceEvent {
  std::string op;     // "aten::add.Tensor", "higher_order::cond"
  DispatchKey key;    // that the kernel ran for
  std::string where;  // "ops/add.cc:31"; "(removed)" if it was taken away as it started; of a mode
                      // that takes all higher-order calls, its name, "(LoggingMode)"
  int depth = 0;      // 0: called by the program; 1: by a kernel of depth 0; ...
  int thread = 0;     // threads count from 1, in the order of their first trace
  uint64_t id = 0;    // the same at start and end, and of no other event
  TraceClock::time_point start{};
  TraceClock::duration duration{};  // with the kernels that it called; 0 at the start
  bool threw = false;               // it ended with an exception
};

// Takes events. Called on the thread of the kernel, so that a sink shared by threads guards its
// state. Calls of operators that a sink makes are not traced.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Every kernel that started also ends, in reverse order on its thread.
  virtual void kernel_started(const TraceEvent& event) { (void)event; }
  virtual void kernel_ended(const TraceEvent& event) = 0;
};

// Gives each event, as its kernel ends, to a function.
class TraceCallback final : public TraceSink {
 public:
  explicit TraceCallback(std::function<void(const TraceEvent&)> function)
      : function_(std::move(function)) {}
  void kernel_ended(const TraceEvent& event) override { function_(event); }

 private:
  std::function<void(const TraceEvent&)> function_;
};

// Writes a line for each kernel, callers first, indented by depth. Thread-safe: `write` is called
// by one thread at a time. With When::End, kernels that still run when the trace is destroyed are
// written as "... running".
class TextTrace final : public TraceSink {
 public:
  enum class When {
    Start,  // as a kernel starts: "aten::add.Tensor  CPU  ops/add.cc:31"
    End,    // when the call of depth 0 has ended, with times: "...  12.3 us", "...  0.8 us  threw".
            // The lines of one such call stay together; a line "thread 2" goes before those of
            // another thread than the last.
  };
  using Write = std::function<void(const std::string& line)>;
  explicit TextTrace(Write write, When when = When::End);
  ~TextTrace() override;

  void kernel_started(const TraceEvent& event) override;
  void kernel_ended(const TraceEvent& event) override;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

namespace internal {

class CallRecorder;
class TracedRule;

}  // namespace internal

// Traces this thread for a scope. Scopes nest and end in reverse order, not in their own sinks; an
// observer from before goes on seeing all calls.
//
// A trace does not change what the program does: when its sink throws, the exception is kept, the
// sink gets nothing more from this scope, and the calls go on.
class TraceCalls : public CallObserver {
 public:
  // The sink must outlive the scope.
  explicit TraceCalls(TraceSink& sink) : TraceCalls(&sink, nullptr) {}
  // Lines, as kernels start: TextTrace::When::Start.
  explicit TraceCalls(TextTrace::Write write)
      : TraceCalls(nullptr, std::make_unique<TextTrace>(std::move(write), TextTrace::When::Start)) {
  }
  ~TraceCalls() override;

  // The exception that the sink threw; null if there is none.
  std::exception_ptr sink_error() const;

  void enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) override;
  void leave(const OperatorEntry& op, DispatchKeySet keys) override;

 private:
  friend class internal::TracedRule;
  void enter_rule(const TraceEvent& event);
  void leave_rule();

  TraceCalls(TraceSink* sink, std::unique_ptr<TraceSink> owned);

  std::unique_ptr<TraceSink> owned_;
  CallObserver* next_;
  TraceCalls* outer_;  // the trace of this thread before
  const std::unique_ptr<internal::CallRecorder> recorder_;
  ObserveCalls observe_;
};

// Traces every thread for a scope: the calls of a dispatcher's operators that start in it. Calls
// take the slow path meanwhile, and the sink is told of one at a time. The scope may end while
// other threads are in calls; the sink is not told of their ends. RuntimeError if the dispatcher is
// traced so already.
class TraceAllThreads {
 public:
  explicit TraceAllThreads(TraceSink& sink, Dispatcher& dispatcher = default_dispatcher());
  ~TraceAllThreads();
  TraceAllThreads(const TraceAllThreads&) = delete;
  TraceAllThreads& operator=(const TraceAllThreads&) = delete;

  // The first exception that the sink threw; null if there is none.
  std::exception_ptr sink_error() const;

 private:
  friend class internal::TracedRule;
  class Observer;
  Dispatcher& dispatcher_;
  std::shared_ptr<Observer> observer_;
};

namespace internal {

// Shows a rule of a higher-order operator, which no dispatcher has in its tables, and which runs in
// this scope. Traces of the thread, and of all threads that the default dispatcher's operators are
// traced on, have an event for it. Without traces it reads two pointers.
class TracedRule {
 public:
  // `where` gives the rule's place, "transforms/control_flow/cond.cc:31"; called for traces alone.
  template <class Where>
  TracedRule(std::string_view op, DispatchKey key, Where&& where)
      : of_all_(default_dispatcher().observer()) {
    if (of_all_ || dispatch_tls.observer) begin(op, key, where());
  }
  ~TracedRule() {
    if (of_all_ || of_thread_) end();
  }
  TracedRule(const TracedRule&) = delete;
  TracedRule& operator=(const TracedRule&) = delete;

 private:
  void begin(std::string_view op, DispatchKey key, const std::string& where);
  void end();

  CallObserver* of_all_;
  TraceCalls* of_thread_ = nullptr;  // the innermost
};

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_INSPECT_TRACE_H_
