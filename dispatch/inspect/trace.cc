#include "switchboard/dispatch/inspect/trace.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

int thread_number() {
  static constinit std::atomic<int> threads{0};
  static thread_local const int number = ++threads;
  return number;
}

uint64_t next_event() {
  static constinit std::atomic<uint64_t> events{0};
  return ++events;
}

bool same(const Kernel& a, const Kernel& b) {
  return a.unboxed == b.unboxed && a.boxed == b.boxed && a.state == b.state;
}

// Where the kernel of a slot was registered. Another thread may have replaced it since the call
// found it; a typed kernel that can only be called boxed has an entry of its own in the table.
std::string place_of(const OperatorEntry& op, DispatchKey key, const Kernel& kernel) {
  return op.dispatcher().inspect([&]() -> std::string {
    const RegisteredKernel* const registered = op.resolve(key).kernel;
    if (registered && (!registered->fits_schema || same(registered->function.entries, kernel)))
      return to_string(registered->where);
    return "(removed)";
  });
}

constinit thread_local TraceCalls* innermost = nullptr;

// Whether a sink runs on this thread: what it calls is not traced.
thread_local constinit bool in_sink = false;

std::string line_of(const TraceEvent& event) {
  return str_cat(std::string(2 * event.depth, ' '), event.op, "  ", to_string(event.key), "  ",
                 event.where);
}

}  // namespace

struct TextTrace::State {
  // A call of depth 0 and what is under it.
  struct Pending {
    std::vector<std::string> lines;
    std::vector<std::pair<uint64_t, size_t>> running;  // event, line
  };

  void write_lines(int thread, Pending& pending);

  Write write;
  When when;
  std::mutex mutex;
  std::map<int, Pending> pending;  // by thread
  int last_thread = 0;
};

TextTrace::TextTrace(Write write, When when) : state_(std::make_unique<State>()) {
  state_->write = std::move(write);
  state_->when = when;
}

void TextTrace::kernel_started(const TraceEvent& event) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->when == When::Start) {
    state_->write(line_of(event));
    return;
  }
  State::Pending& pending = state_->pending[event.thread];
  pending.running.emplace_back(event.id, pending.lines.size());
  pending.lines.push_back(line_of(event));
}

void TextTrace::kernel_ended(const TraceEvent& event) {
  if (state_->when == When::Start) return;
  std::lock_guard<std::mutex> lock(state_->mutex);
  State::Pending& pending = state_->pending[event.thread];
  const auto started = std::find_if(pending.running.begin(), pending.running.end(),
                                    [&](const auto& r) { return r.first == event.id; });
  if (started == pending.running.end()) return;
  absl::StrAppendFormat(&pending.lines[started->second], "  %.1f us%s",
                        std::chrono::duration<double, std::micro>(event.duration).count(),
                        event.threw ? "  threw" : "");
  pending.running.erase(started);
  if (!pending.running.empty()) return;
  state_->write_lines(event.thread, pending);
}

void TextTrace::State::write_lines(int thread, Pending& pending) {
  const std::vector<std::string> lines = std::exchange(pending.lines, {});
  if (last_thread != 0 && last_thread != thread) write(str_cat("thread ", thread));
  last_thread = thread;
  for (const std::string& line : lines) write(line);
}

TextTrace::~TextTrace() {
  try {
    for (auto& [thread, pending] : state_->pending) {
      for (const auto& [event, line] : pending.running) pending.lines[line] += "  running";
      if (!pending.lines.empty()) state_->write_lines(thread, pending);
    }
  } catch (...) {  // a destructor cannot report what `write` threw
  }
}

namespace internal {

// Makes events of one thread's calls, and gives them to a sink.
class CallRecorder {
 public:
  explicit CallRecorder(TraceSink& sink) : sink_(sink) {}
  void enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel);
  // Of an event of which operator, key and place are known.
  void enter(TraceEvent event);
  void leave();
  // What the sink threw; null if nothing.
  std::exception_ptr sink_error() const { return sink_error_; }

 private:
  // What is known of a slot. Looked up under the dispatcher's lock, once for each kernel in it.
  struct Site {
    const Kernel* slot;
    Kernel kernel;
    OperatorName name;
    std::string op;
    std::string where;
  };
  struct Frame {
    TraceEvent event;
    int exceptions;  // under way at the start
  };

  const Site& site_of(const OperatorEntry& op, DispatchKey key, const Kernel& kernel);
  template <class F>
  void tell_sink(F&& tell);

  TraceSink& sink_;
  std::exception_ptr sink_error_;
  std::vector<Frame> frames_;
  absl::flat_hash_map<std::pair<const OperatorEntry*, DispatchKey>, Site> sites_;
};

template <class F>
void CallRecorder::tell_sink(F&& tell) {
  if (sink_error_) return;
  in_sink = true;
  try {
    tell();
  } catch (...) {
    sink_error_ = std::current_exception();
  }
  in_sink = false;
}

const CallRecorder::Site& CallRecorder::site_of(const OperatorEntry& op, DispatchKey key,
                                                const Kernel& kernel) {
  const auto [it, added] = sites_.try_emplace({&op, key});
  Site& site = it->second;
  // The name too: a dispatcher may have gone, and another one have its addresses.
  if (added || site.slot != &kernel || !same(site.kernel, kernel) || site.name != op.name())
    site = {&kernel, kernel, op.name(), op.name().to_string(), place_of(op, key, kernel)};
  return site;
}

void CallRecorder::enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) {
  const DispatchKey key = keys.highest_key();
  const Site& site = site_of(op, key, kernel);
  enter({.op = site.op, .key = key, .where = site.where});
}

void CallRecorder::enter(TraceEvent event) {
  event.depth = static_cast<int>(frames_.size());
  event.thread = thread_number();
  event.id = next_event();
  event.start = TraceClock::now();
  frames_.push_back({std::move(event), std::uncaught_exceptions()});
  tell_sink([&] { sink_.kernel_started(frames_.back().event); });
  frames_.back().event.start = TraceClock::now();  // without the sink's own time
}

void CallRecorder::leave() {
  const TraceClock::time_point end = TraceClock::now();
  Frame& frame = frames_.back();
  frame.event.duration = end - frame.event.start;
  frame.event.threw = std::uncaught_exceptions() > frame.exceptions;
  tell_sink([&] { sink_.kernel_ended(frame.event); });
  frames_.pop_back();
}

}  // namespace internal

TraceCalls::TraceCalls(TraceSink* sink, std::unique_ptr<TraceSink> owned)
    : owned_(std::move(owned)),
      next_(dispatch_tls.observer),
      outer_(std::exchange(innermost, this)),
      recorder_(std::make_unique<internal::CallRecorder>(owned_ ? *owned_ : *sink)),
      observe_(this) {}

TraceCalls::~TraceCalls() { innermost = outer_; }

std::exception_ptr TraceCalls::sink_error() const { return recorder_->sink_error(); }

void TraceCalls::enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) {
  if (next_) next_->enter(op, keys, kernel);
  if (!in_sink) recorder_->enter(op, keys, kernel);
}

void TraceCalls::leave(const OperatorEntry& op, DispatchKeySet keys) {
  if (!in_sink) recorder_->leave();
  if (next_) next_->leave(op, keys);
}

void TraceCalls::enter_rule(const TraceEvent& event) {
  if (outer_) outer_->enter_rule(event);
  if (!in_sink) recorder_->enter(event);
}

void TraceCalls::leave_rule() {
  if (!in_sink) recorder_->leave();
  if (outer_) outer_->leave_rule();
}

class TraceAllThreads::Observer final : public CallObserver {
 public:
  explicit Observer(TraceSink& sink) : sink_(&sink) {}

  void enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) override {
    with_recorder([&](internal::CallRecorder& recorder) { recorder.enter(op, keys, kernel); });
  }
  void leave(const OperatorEntry&, DispatchKeySet) override { leave_rule(); }

  void enter_rule(const TraceEvent& event) {
    with_recorder([&](internal::CallRecorder& recorder) { recorder.enter(event); });
  }
  void leave_rule() {
    if (in_sink) return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (!sink_) return;
    const Telling telling(this);
    internal::CallRecorder& recorder = *recorders_.at(thread_number());
    recorder.leave();
    if (!sink_error_) sink_error_ = recorder.sink_error();
  }

  void close() {
    if (telling_here == this) {  // by its own sink, under the lock
      sink_ = nullptr;
      return;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    sink_ = nullptr;
    recorders_.clear();
  }

  std::exception_ptr sink_error() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return sink_error_;
  }

 private:
  template <class F>
  void with_recorder(F&& f) {
    if (in_sink) return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (!sink_) return;
    const Telling telling(this);
    const auto [it, added] = recorders_.try_emplace(thread_number(), nullptr);
    if (added) it->second = std::make_unique<internal::CallRecorder>(*sink_);
    f(*it->second);
  }

  // Notes that this thread tells the sink something.
  struct Telling {
    explicit Telling(const Observer* observer) { telling_here = observer; }
    ~Telling() { telling_here = nullptr; }
  };
  static constinit thread_local const Observer* telling_here;

  mutable std::mutex mutex_;
  TraceSink* sink_;  // null once the scope has ended
  std::map<int, std::unique_ptr<internal::CallRecorder>> recorders_;
  std::exception_ptr sink_error_;
};

constinit thread_local const TraceAllThreads::Observer* TraceAllThreads::Observer::telling_here =
    nullptr;

TraceAllThreads::TraceAllThreads(TraceSink& sink, Dispatcher& dispatcher)
    : dispatcher_(dispatcher), observer_(std::make_shared<Observer>(sink)) {
  dispatcher_.observe(observer_);
}

TraceAllThreads::~TraceAllThreads() {
  dispatcher_.end_observing(observer_.get());
  observer_->close();
}

std::exception_ptr TraceAllThreads::sink_error() const { return observer_->sink_error(); }

namespace internal {

// Observers of other kinds see what dispatchers have in their tables, and nothing else.
void TracedRule::begin(std::string_view op, DispatchKey key, const std::string& where) {
  const TraceEvent event{.op = std::string(op), .key = key, .where = where};
  if (auto* const all = dynamic_cast<TraceAllThreads::Observer*>(of_all_)) all->enter_rule(event);
  of_thread_ = innermost;
  if (of_thread_) of_thread_->enter_rule(event);
}

void TracedRule::end() {
  if (of_thread_) of_thread_->leave_rule();
  if (auto* const all = dynamic_cast<TraceAllThreads::Observer*>(of_all_)) all->leave_rule();
}

}  // namespace internal

}  // namespace sb
