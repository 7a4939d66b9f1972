#include "switchboard/dispatch/inspect/chrome_trace.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

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

ChromeTrace::ChromeTrace(const std::string& path) : file_(path), out_(file_), path_(path) {
  SB_CHECK(file_.is_open(), path, ": cannot be opened for writing: ", std::strerror(errno));
  write_header();
}

ChromeTrace::ChromeTrace(std::ostream& out) : out_(out), path_("the trace's stream") {
  write_header();
}

ChromeTrace::~ChromeTrace() {
  try {
    close();
  } catch (...) {  // a destructor cannot report it; close() can
  }
}

void ChromeTrace::write_header() {
  out_ << "[\n"
       << absl::StrFormat(
              R"({"name":"process_name","ph":"M","pid":%d,"tid":0,"args":{"name":"switchboard"}})",
              ::getpid());
}

void ChromeTrace::write_event(const TraceEvent& event, bool unfinished) {
  const int pid = ::getpid();
  if (threads_.insert(event.thread).second) {
    out_ << absl::StrFormat(
        ",\n"
        R"({"name":"thread_name","ph":"M","pid":%d,"tid":%d,"args":{"name":"thread %d"}})",
        pid, event.thread, event.thread);
  }
  out_ << absl::StrFormat(
      ",\n"
      R"({"name":%s,"cat":"kernel","ph":"X","ts":%.3f,"dur":%.3f,"pid":%d,"tid":%d,)"
      R"("args":{"key":%s,"kernel":%s,"depth":%d%s%s}})",
      json_string(event.op), microseconds(event.start - opened_), microseconds(event.duration), pid,
      event.thread, json_string(to_string(event.key)), json_string(event.where), event.depth,
      event.threw ? R"(,"threw":true)" : "", unfinished ? R"(,"unfinished":true)" : "");
}

void ChromeTrace::kernel_started(const TraceEvent& event) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!closed_) running_.emplace(event.id, event);
}

void ChromeTrace::kernel_ended(const TraceEvent& event) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  running_.erase(event.id);
  write_event(event, /*unfinished=*/false);
}

void ChromeTrace::close() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  closed_ = true;
  const TraceClock::time_point now = TraceClock::now();
  for (auto& [id, event] : running_) {
    event.duration = now - event.start;
    write_event(event, /*unfinished=*/true);
  }
  running_.clear();
  out_ << "\n]\n" << std::flush;
  if (file_.is_open()) file_.close();
  SB_CHECK(out_, path_, ": not everything could be written");
}

}  // namespace sb
