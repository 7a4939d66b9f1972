// How far a long work has come, and how long it will still take: a line on the terminal of standard
// error, which goes when the work ends. Where that is no terminal, nothing is written.
//
//   Progress progress("programs", 10'000);
//   for (...) { work(); progress.advance(); }

#ifndef SWITCHBOARD_TOOLS_PROGRESS_H_
#define SWITCHBOARD_TOOLS_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace sb::tools {

// "programs  1,204 of 3,000  40 %  8 s left". No time is said of the first moments.
std::string progress_text(const std::string& what, uint64_t done, uint64_t total, double seconds);

class Progress {
 public:
  // `total` is how often advance() will be called, or a guess; 0 if nobody knows.
  Progress(std::string what, uint64_t total);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // For one thread. Costs a comparison where nothing is shown.
  void advance() {
    ++done_;
    if (shown_) show();
  }
  // Where the work counts in another way.
  void set(uint64_t done) {
    done_ = done;
    if (shown_) show();
  }
  // Takes the line away, so that something else can be written; the next advance() brings it back.
  void clear();

 private:
  void show();

  const std::string what_;
  const uint64_t total_;
  const bool shown_;
  uint64_t done_ = 0;
  bool visible_ = false;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_ = begin_;
};

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_PROGRESS_H_
