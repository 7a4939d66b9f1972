#include "switchboard/dispatch/inspect/chrome_trace.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

#include "absl/strings/str_format.h"
#include "switchboard/core/error.h"

namespace sb {
namespace {

// The length of the UTF-8 sequence at the start of `text`; 0 if there is none. Lead bytes that can
// only begin an overlong form, a surrogate or a number past U+10FFFF are refused with their second
// byte.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0; };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool refused = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) ||
                       (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f);
  return refused ? 0 : length;
}

// A JSON string. What is not UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const char c = text[0];
    if (length == 0) {
      out += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (length == 1 && (static_cast<uint8_t>(c) < 0x20 || c == 0x7f)) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned>(c));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + '"';
}

double microseconds(TraceClock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

}  // namespace

struct ChromeTrace::State {
  State(std::ostream& stream, std::string name) : out(stream), path(std::move(name)) {}
  explicit State(const std::string& name) : file(name), out(file), path(name) {}

  void write_header();
  void write_event(const TraceEvent& event, bool unfinished);
  void close();

  std::ofstream file;
  std::ostream& out;
  const std::string path;
  const TraceClock::time_point opened = TraceClock::now();
  std::mutex mutex;
  bool closed = false;
  std::map<uint64_t, TraceEvent> running;  // by id
  std::set<int> threads;                   // those that have a name in the file
};

ChromeTrace::ChromeTrace(const std::string& path) : state_(std::make_unique<State>(path)) {
  SB_CHECK(state_->file.is_open(), path, ": cannot be opened for writing: ", std::strerror(errno));
  state_->write_header();
}

ChromeTrace::ChromeTrace(std::ostream& out)
    : state_(std::make_unique<State>(out, "the trace's stream")) {
  state_->write_header();
}

ChromeTrace::~ChromeTrace() {
  try {
    close();
  } catch (...) {  // a destructor cannot report it; close() can
  }
}

void ChromeTrace::State::write_header() {
  out << "[\n"
      << absl::StrFormat(
             R"({"name":"process_name","ph":"M","pid":%d,"tid":0,"args":{"name":"switchboard"}})",
             ::getpid());
}

void ChromeTrace::State::write_event(const TraceEvent& event, bool unfinished) {
  const int pid = ::getpid();
  if (threads.insert(event.thread).second) {
    out << absl::StrFormat(
        ",\n"
        R"({"name":"thread_name","ph":"M","pid":%d,"tid":%d,"args":{"name":"thread %d"}})",
        pid, event.thread, event.thread);
  }
  out << absl::StrFormat(
      ",\n"
      R"({"name":%s,"cat":"kernel","ph":"X","ts":%.3f,"dur":%.3f,"pid":%d,"tid":%d,)"
      R"("args":{"key":%s,"kernel":%s,"depth":%d%s%s}})",
      json_string(event.op), microseconds(event.start - opened), microseconds(event.duration), pid,
      event.thread, json_string(to_string(event.key)), json_string(event.where), event.depth,
      event.threw ? R"(,"threw":true)" : "", unfinished ? R"(,"unfinished":true)" : "");
}

void ChromeTrace::kernel_started(const TraceEvent& event) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (!state_->closed) state_->running.emplace(event.id, event);
}

void ChromeTrace::kernel_ended(const TraceEvent& event) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->closed) return;
  state_->running.erase(event.id);
  state_->write_event(event, /*unfinished=*/false);
}

void ChromeTrace::close() { state_->close(); }

void ChromeTrace::State::close() {
  std::lock_guard<std::mutex> lock(mutex);
  if (closed) return;
  closed = true;
  const TraceClock::time_point now = TraceClock::now();
  for (auto& [id, event] : running) {
    event.duration = now - event.start;
    write_event(event, /*unfinished=*/true);
  }
  running.clear();
  out << "\n]\n" << std::flush;
  if (file.is_open()) file.close();
  SB_CHECK(out, path, ": not everything could be written");
}

}  // namespace sb
