#include "switchboard/dispatch/inspect/trace.h"

#include <atomic>
#include <cstdio>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/inspect/chrome_trace.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using K = DispatchKey;
using Catch::Contains;
using Catch::StartsWith;

// Two operators: `outer` runs at AutogradCPU and at CPU, where it calls `inner`, which may throw.
class Demo {
 public:
  Demo() : library_(dispatcher_, Library::Kind::Def, "demo") {
    outer_ = library_.define("outer(Tensor x) -> ()");
    inner_ = library_.define("inner(Tensor x) -> ()");
    library_.impl("outer", K::AutogradCPU,
                  [](const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
                    op.redispatch_boxed(keys & DispatchKeySet::below(K::AutogradCPU), stack);
                  });
    library_.impl("outer", K::CPU, [this](const OperatorHandle&, DispatchKeySet, Stack* stack) {
      inner_->call_boxed(stack);
    });
    library_.impl("inner", K::CPU, [this](const OperatorHandle&, DispatchKeySet, Stack* stack) {
      if (in_inner) in_inner();
      stack->clear();
    });
  }
  void call() const {
    Stack stack = {tensor_on(DeviceType::CPU)};
    outer_->call_boxed(&stack);
  }
  Library& library() { return library_; }
  Dispatcher& dispatcher() { return dispatcher_; }
  const OperatorHandle& inner() const { return *inner_; }

  std::function<void()> in_inner;

 private:
  Dispatcher dispatcher_;
  Library library_;
  std::optional<OperatorHandle> outer_, inner_;
};

// "demo::outer AutogradCPU 0": operator, key and depth.
std::string brief(const TraceEvent& event) {
  return str_cat(event.op, " ", to_string(event.key), " ", event.depth);
}

// Numbers that differ from run to run become N.
std::string without_numbers(const std::string& text) {
  return std::regex_replace(
      std::regex_replace(text, std::regex(R"((dispatch/(?:\w+/)?\w+\.cc):\d+)"), "$1:N"),
      std::regex(R"(\d+\.\d+ us)"), "N us");
}

std::vector<std::string> lines_of(const Demo& demo, TextTrace::When when) {
  std::vector<std::string> lines;
  TextTrace text([&](const std::string& line) { lines.push_back(without_numbers(line)); }, when);
  TraceCalls trace(text);
  demo.call();
  return lines;
}

// A reader of JSON that accepts what the grammar does and nothing else; it keeps nothing.
class JsonChecker {
 public:
  static bool valid(const std::string& text) {
    JsonChecker checker(text);
    return checker.value() && (checker.space(), checker.at_ == text.size());
  }

 private:
  explicit JsonChecker(const std::string& text) : text_(text) {}
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) { return peek() == c && ++at_; }
  void space() {
    while (peek() == ' ' || peek() == '\n') ++at_;
  }
  bool word(const std::string& w) {
    if (text_.compare(at_, w.size(), w) != 0) return false;
    at_ += w.size();
    return true;
  }
  bool string() {
    if (!take('"')) return false;
    while (at_ < text_.size() && peek() != '"') {
      if (static_cast<unsigned char>(peek()) < 0x20) return false;
      if (take('\\') && std::string("\"\\/bfnrtu").find(peek()) == std::string::npos) return false;
      ++at_;
    }
    return take('"');
  }
  bool number() {
    const size_t start = at_;
    take('-');
    while (std::isdigit(peek()) || peek() == '.') ++at_;
    return at_ > start;
  }
  bool items(char close, bool named) {
    space();
    if (take(close)) return true;
    do {
      space();
      if (named && !(string() && take(':'))) return false;
      if (!value()) return false;
      space();
    } while (take(','));
    return take(close);
  }
  bool value() {
    space();
    if (take('{')) return items('}', true);
    if (take('[')) return items(']', false);
    if (peek() == '"') return string();
    return word("true") || word("false") || word("null") || number();
  }

  const std::string& text_;
  size_t at_ = 0;
};

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_CASE("a trace gives every kernel with its operator, key, place, depth, thread and time") {
  Demo demo;
  std::vector<TraceEvent> events;
  TraceCallback callback([&](const TraceEvent& event) { events.push_back(event); });
  const TraceClock::time_point before = TraceClock::now();
  {
    TraceCalls trace(callback);
    demo.in_inner = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
    demo.call();
  }
  const TraceClock::time_point after = TraceClock::now();
  demo.call();                  // is not traced
  REQUIRE(events.size() == 3);  // as they end: callees first
  CHECK(brief(events[0]) == "demo::inner CPU 2");
  CHECK(brief(events[1]) == "demo::outer CPU 1");
  CHECK(brief(events[2]) == "demo::outer AutogradCPU 0");
  for (const TraceEvent& event : events) {
    CHECK_THAT(event.where, StartsWith("dispatch/inspect/trace_test.cc:"));
    CHECK(event.thread == events[0].thread);
    CHECK(event.duration >= std::chrono::milliseconds(2));
    CHECK(event.start >= before);
    CHECK(event.start + event.duration <= after);
    CHECK_FALSE(event.threw);
  }
  CHECK(events[0].where != events[1].where);
  CHECK(events[2].start <= events[1].start);
  CHECK(events[1].duration <= events[2].duration);
}

TEST_CASE("typed calls, redispatches and calls by name are traced alike") {
  Demo demo;
  std::vector<std::string> events;
  TraceCallback callback([&](const TraceEvent& event) { events.push_back(brief(event)); });
  TraceCalls trace(callback);
  demo.inner().call({tensor_on(DeviceType::CPU)});
  Stack stack = {tensor_on(DeviceType::CPU)};
  demo.inner().redispatch_boxed(K::CPU, &stack);
  CHECK(events == std::vector<std::string>{"demo::inner CPU 0", "demo::inner CPU 0"});
}

TEST_CASE("text comes as kernels start, or with times when the outermost call has ended") {
  Demo demo;
  const std::string file = "dispatch/inspect/trace_test.cc:N";
  CHECK(lines_of(demo, TextTrace::When::Start) ==
        std::vector<std::string>{"demo::outer  AutogradCPU  " + file, "  demo::outer  CPU  " + file,
                                 "    demo::inner  CPU  " + file});
  CHECK(lines_of(demo, TextTrace::When::End) ==
        std::vector<std::string>{"demo::outer  AutogradCPU  " + file + "  N us",
                                 "  demo::outer  CPU  " + file + "  N us",
                                 "    demo::inner  CPU  " + file + "  N us"});
}

TEST_CASE("an exception of a kernel ends what it passes through, and the next call is at depth 0") {
  Demo demo;
  std::vector<std::string> lines;
  TextTrace text([&](const std::string& line) { lines.push_back(without_numbers(line)); });
  TraceCalls trace(text);
  demo.in_inner = [] { throw ValueError("out of here"); };
  CHECK_THROWS_AS(demo.call(), ValueError);
  REQUIRE(lines.size() == 3);
  for (const std::string& line : lines) CHECK_THAT(line, Catch::EndsWith("N us  threw"));
  demo.in_inner = nullptr;
  demo.call();
  REQUIRE(lines.size() == 6);
  CHECK(lines[3] == "demo::outer  AutogradCPU  dispatch/inspect/trace_test.cc:N  N us");
}

TEST_CASE("a kernel that runs while an exception is under way did not throw") {
  Demo demo;
  std::vector<bool> threw;
  TraceCallback callback([&](const TraceEvent& event) { threw.push_back(event.threw); });
  TraceCalls trace(callback);
  struct CallsInDestructor {
    const Demo& demo;
    ~CallsInDestructor() { demo.call(); }
  };
  try {
    CallsInDestructor calls{demo};
    throw ValueError("out of here");
  } catch (const ValueError&) {
  }
  CHECK(threw == std::vector<bool>{false, false, false});
}

TEST_CASE("traces nest, and each sees all calls of its scope") {
  Demo demo;
  int outer = 0, inner = 0;
  TraceCallback count_outer([&](const TraceEvent&) { ++outer; });
  TraceCallback count_inner([&](const TraceEvent&) { ++inner; });
  const DispatchTls before = dispatch_tls;
  {
    TraceCalls a(count_outer);
    demo.call();
    {
      TraceCalls b(count_inner);
      demo.call();
    }
    demo.call();
  }
  demo.call();
  CHECK(outer == 9);
  CHECK(inner == 3);
  CHECK(dispatch_tls.observer == before.observer);
  CHECK(dispatch_tls.included == before.included);
}

TEST_CASE("calls that a sink makes are not traced") {
  Demo demo;
  int events = 0;
  TraceCallback callback([&](const TraceEvent&) {
    ++events;
    demo.call();
  });
  TraceCalls trace(callback);
  demo.call();
  CHECK(events == 3);
}

TEST_CASE("an exception of a sink is kept, ends its trace, and does not reach the program") {
  Demo demo;
  int events = 0, others = 0;
  TraceCallback count([&](const TraceEvent&) { ++others; });
  TraceCallback callback([&](const TraceEvent&) {
    if (++events == 2) throw ValueError("the sink is full");
  });
  TraceCalls other(count);
  TraceCalls trace(callback);
  CHECK(trace.sink_error() == nullptr);
  CHECK_NOTHROW(demo.call());
  CHECK_NOTHROW(demo.call());
  CHECK(events == 2);
  CHECK(others == 6);
  REQUIRE(trace.sink_error());
  CHECK_THROWS_WITH(std::rethrow_exception(trace.sink_error()), "the sink is full");
}

TEST_CASE("a trace sees the kernel of the moment: overridden, brought back, removed as it starts") {
  Demo demo;
  std::vector<std::string> places;
  TraceCallback callback([&](const TraceEvent& event) {
    if (event.op == "demo::inner") places.push_back(event.where);
  });
  TraceCalls trace(callback);
  demo.call();
  {
    Library other(demo.dispatcher(), Library::Kind::Impl, "demo");
    other.allow_override().impl(
        "inner", K::CPU,
        [](const OperatorHandle&, DispatchKeySet, Stack* stack) { stack->clear(); });
    demo.call();
  }
  demo.call();
  REQUIRE(places.size() == 3);
  CHECK(places[0] == places[2]);
  CHECK(places[0] != places[1]);

  // A sink may change the registry: no lock is held while it runs.
  std::optional<Library> fallback;
  TraceCallback registers([&](const TraceEvent&) {
    fallback.reset();
    fallback.emplace(demo.dispatcher(), Library::Kind::Impl, "_");
    fallback->fallback(K::Tracer, fallthrough);
  });
  TraceCalls other(registers);
  demo.call();
  CHECK(other.sink_error() == nullptr);
  CHECK(places.size() == 4);
}

TEST_CASE("threads share one sink, each with its own depth and number") {
  Demo demo;
  std::mutex mutex;
  std::map<int, std::vector<std::string>> by_thread;
  TraceCallback callback([&](const TraceEvent& event) {
    std::lock_guard<std::mutex> lock(mutex);
    by_thread[event.thread].push_back(brief(event));
  });
  std::vector<std::string> lines;
  TextTrace text([&](const std::string& line) { lines.push_back(line); });
  std::ostringstream out;
  ChromeTrace chrome(out);
  std::vector<std::thread> threads;
  std::atomic<bool> stop{false};
  std::thread registering([&] {  // while places are looked up
    while (!stop) {
      Library other(demo.dispatcher(), Library::Kind::Impl, "demo");
      other.allow_override().impl(
          "inner", K::CPU,
          [](const OperatorHandle&, DispatchKeySet, Stack* stack) { stack->clear(); });
    }
  });
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      TraceCalls a(callback), b(text), c(chrome);
      for (int n = 0; n < 50; ++n) demo.call();
    });
  }
  demo.call();  // this thread is not traced
  for (std::thread& t : threads) t.join();
  stop = true;
  registering.join();
  chrome.close();
  CHECK(by_thread.size() == 4);
  for (const auto& [thread, events] : by_thread) {
    REQUIRE(events.size() == 150);
    for (size_t i = 0; i < events.size(); i += 3) CHECK(events[i] == "demo::inner CPU 2");
  }
  CHECK(count(out.str(), R"("ph":"X")") == 600);
  CHECK(count(out.str(), R"("thread_name")") == 4);
  CHECK(JsonChecker::valid(out.str()));
  // Calls of different threads do not mix.
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("thread "); });
  REQUIRE(lines.size() == 600);
  for (size_t i = 0; i < lines.size(); i += 3) {
    CHECK_THAT(lines[i], StartsWith("demo::outer  AutogradCPU"));
    CHECK_THAT(lines[i + 2], StartsWith("    demo::inner"));
  }
}

TEST_CASE("text of another thread than the last has a line with its number before it") {
  std::vector<std::string> lines;
  TextTrace text([&](const std::string& line) { lines.push_back(line); });
  for (const int thread : {7, 7, 8}) {
    TraceEvent event{.op = "f", .key = K::CPU, .where = "here", .thread = thread, .start = {}};
    event.id = static_cast<uint64_t>(thread);
    text.kernel_started(event);
    text.kernel_ended(event);
  }
  CHECK(lines == std::vector<std::string>{"f  CPU  here  0.0 us", "f  CPU  here  0.0 us",
                                          "thread 8", "f  CPU  here  0.0 us"});
}

TEST_CASE("text of kernels that still run is written when the trace ends") {
  std::vector<std::string> lines;
  {
    TextTrace text([&](const std::string& line) { lines.push_back(line); });
    text.kernel_started({.op = "f", .key = K::CPU, .where = "here", .id = 1, .start = {}});
    CHECK(lines.empty());
  }
  CHECK(lines == std::vector<std::string>{"f  CPU  here  running"});
}

TEST_CASE("a Chrome trace is valid JSON with a complete event a kernel") {
  Demo demo;
  std::ostringstream out;
  {
    ChromeTrace chrome(out);
    TraceCalls trace(chrome);
    demo.call();
    demo.in_inner = [] { throw ValueError("out of here"); };
    CHECK_THROWS_AS(demo.call(), ValueError);
  }
  const std::string json = out.str();
  INFO(json);
  CHECK(JsonChecker::valid(json));
  CHECK(count(json, R"("ph":"X")") == 6);
  CHECK(count(json, R"("threw":true)") == 3);
  CHECK(count(json, R"("unfinished":true)") == 0);
  CHECK(std::regex_search(
      json, std::regex(R"(\{"name":"demo::inner","cat":"kernel","ph":"X","ts":\d+\.\d{3},)"
                       R"("dur":\d+\.\d{3},"pid":\d+,"tid":\d+,"args":\{"key":"CPU",)"
                       R"("kernel":"dispatch/inspect/trace_test.cc:\d+","depth":2\}\})")));
}

TEST_CASE("closing a Chrome trace in the middle of a call writes what runs as unfinished") {
  Demo demo;
  std::ostringstream out;
  ChromeTrace chrome(out);
  TraceCalls trace(chrome);
  demo.in_inner = [&] { chrome.close(); };
  demo.call();
  const std::string json = out.str();
  INFO(json);
  CHECK(JsonChecker::valid(json));
  CHECK(count(json, R"("unfinished":true)") == 3);
  chrome.close();
  demo.in_inner = nullptr;
  demo.call();
  CHECK(out.str() == json);  // nothing comes after the end
}

TEST_CASE("a trace of all threads sees calls of threads that were there before it") {
  Demo demo;
  demo.call();  // its tables are there
  std::atomic<int> step{0};
  auto wait_for = [&](int value) {
    while (step.load() < value) std::this_thread::yield();
  };
  std::thread other([&] {
    demo.call();
    step = 1;
    wait_for(2);
    demo.call();
    step = 3;
    wait_for(4);
    demo.call();
  });
  wait_for(1);
  std::vector<TraceEvent> events;
  TraceCallback sink([&](const TraceEvent& event) { events.push_back(event); });
  {
    TraceAllThreads trace(sink, demo.dispatcher());
    step = 2;
    wait_for(3);
    demo.call();
    CHECK_THROWS_WITH(TraceAllThreads(sink, demo.dispatcher()),
                      "the dispatcher is observed already; end that observation first");
  }
  step = 4;
  other.join();
  demo.call();
  REQUIRE(events.size() == 6);  // three kernels a call, of one call on each thread
  CHECK(events[0].thread == events[2].thread);
  CHECK(events[3].thread == events[5].thread);
  CHECK(events[0].thread != events[3].thread);
  CHECK(events[2].depth == 0);
}

TEST_CASE(
    "a trace of all threads may end in the middle of a call, and its sink then hears nothing") {
  Demo demo;
  int started = 0, ended = 0;
  struct Counting final : TraceSink {
    int& started;
    int& ended;
    Counting(int& s, int& e) : started(s), ended(e) {}
    void kernel_started(const TraceEvent&) override { ++started; }
    void kernel_ended(const TraceEvent&) override { ++ended; }
  };
  auto sink = std::make_unique<Counting>(started, ended);
  auto trace = std::make_unique<TraceAllThreads>(*sink, demo.dispatcher());
  demo.in_inner = [&] {
    trace.reset();
    sink.reset();
  };
  demo.call();
  CHECK(started == 3);
  CHECK(ended == 0);
}

TEST_CASE("an empty Chrome trace is valid, and names are escaped") {
  std::ostringstream out;
  ChromeTrace chrome(out);
  chrome.kernel_ended({.op = "quote\" back\\slash\n tab\t \x01 \xc3\xa4 \xff \xed\xa0\x80 \xf0\x9f",
                       .key = K::CPU,
                       .where = "C:\\x.cc:1",
                       .start = TraceClock::now()});
  chrome.close();
  INFO(out.str());
  CHECK(JsonChecker::valid(out.str()));
  CHECK_THAT(out.str(), Contains(R"("quote\" back\\slash\u000a tab\u0009 \u0001 )"
                                 "\xc3\xa4"
                                 R"( \ufffd \ufffd\ufffd\ufffd \ufffd\ufffd")"));
  CHECK_THAT(out.str(), Contains(R"("C:\\x.cc:1")"));
  std::ostringstream empty;
  ChromeTrace(empty).close();
  CHECK(JsonChecker::valid(empty.str()));
}

TEST_CASE("a file that cannot be written is named") {
  CHECK_THROWS_AS(ChromeTrace("/no/such/folder/trace.json"), RuntimeError);
  CHECK_THROWS_WITH(ChromeTrace("/no/such/folder/trace.json"),
                    "/no/such/folder/trace.json: cannot be opened for writing: No such file or "
                    "directory");
  ChromeTrace full("/dev/full");
  CHECK_THROWS_WITH(full.close(), "/dev/full: not everything could be written");
}

}  // namespace
}  // namespace sb
