#include "switchboard/tools/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"

namespace sb::tools {
namespace {

// "4,810".
std::string with_commas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string time_text(double seconds) {
  const int s = static_cast<int>(seconds + 0.5);
  if (s < 60) return absl::StrFormat("%d s", s);
  if (s < 3600) return absl::StrFormat("%d min %d s", s / 60, s % 60);
  return absl::StrFormat("%d h %d min", s / 3600, s / 60 % 60);
}

bool on_terminal() {
  const char* const term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) && !(term && std::string_view(term) == "dumb");
}

}  // namespace

std::string progress_text(const std::string& what, uint64_t done, uint64_t total, double seconds) {
  if (total == 0) return absl::StrFormat("%s  %s", what, with_commas(done));
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  std::string text = absl::StrFormat("%s  %s of %s  %.0f %%", what, with_commas(done),
                                     with_commas(total), 100 * share);
  if (done > 0 && seconds >= 1)
    text += absl::StrFormat("  %s left", time_text(seconds * (1 - share) / share));
  return text;
}

Progress::Progress(std::string what, uint64_t total)
    : what_(std::move(what)), total_(total), shown_(on_terminal()) {}

void Progress::show() {
  constexpr std::chrono::milliseconds kPause(100);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kPause;
  visible_ = true;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  std::fprintf(stderr, "\r\033[2K%s", progress_text(what_, done_, total_, seconds).c_str());
  std::fflush(stderr);
}

void Progress::clear() {
  if (!visible_) return;
  std::fputs("\r\033[2K", stderr);
  std::fflush(stderr);
  visible_ = false;
}

}  // namespace sb::tools
