// Switchboard and a PyTorch of today side by side: each case on both in turns. Prints how many
// times as long PyTorch takes.
//
//   ./bazelw run -c opt //bench:vs_pytorch -- --python ENVIRONMENT/bin/python [--threads 2]
//       [--capability avx2] [--families random,fft] [--filter sort] [--rounds 5] [--ours]
//
// The environment has PyTorch; nothing else needs it. PyTorch runs in a process of its own
// (vs_pytorch.py), which keeps the memory that it frees, so that the pages which the system clears
// do not hide its kernels. A figure is the least of several rounds: processor time with one thread,
// which other work on the machine hardly touches, and time of day with more.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "switchboard/bench/call_case.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/cpu/cpu_capability.h"
#include "switchboard/ops/cpu/parallel.h"

ABSL_FLAG(std::string, python, "", "the python of an environment with PyTorch");
ABSL_FLAG(int, threads, 1, "of each side");
ABSL_FLAG(std::string, capability, "", "avx2 or avx512: what both sides may use; else all");
ABSL_FLAG(std::vector<std::string>, families, {}, "only these families");
ABSL_FLAG(std::string, filter, "", "only cases with this in their text");
ABSL_FLAG(int, rounds, 5, "of which the fastest counts");
ABSL_FLAG(double, milliseconds, 5, "that a turn takes at least");
ABSL_FLAG(bool, ours, false, "without PyTorch: our microseconds alone");

namespace sb::bench {
namespace {

struct Line {
  std::string family;
  std::string call;
};

std::vector<Line> read_lines(const std::string& path) {
  std::ifstream file(path);
  SB_CHECK(file, "cannot read ", path);
  const std::vector<std::string> families = absl::GetFlag(FLAGS_families);
  const auto wanted = [&](const Line& line) {
    return (families.empty() ||
            std::find(families.begin(), families.end(), line.family) != families.end()) &&
           line.call.find(absl::GetFlag(FLAGS_filter)) != std::string::npos;
  };
  std::vector<Line> lines;
  std::string family;
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text[0] == '#') continue;
    if (text[0] == '[') {
      family = text.substr(1, text.size() - 2);
    } else if (const Line line{family, text}; wanted(line)) {
      lines.push_back(line);
    }
  }
  return lines;
}

// The path of a program as who asked for it meant it: Bazel runs this in another folder.
std::string as_asked(const std::string& path) {
  const char* const folder = std::getenv("BUILD_WORKING_DIRECTORY");
  const bool relative = path.find('/') != path.npos && path[0] != '/';
  return folder && relative ? absl::StrCat(folder, "/", path) : path;
}

// PyTorch, in a process that is asked by lines.
class Reference {
 public:
  Reference(const std::string& python, const std::string& script, int threads) {
    int to_child[2], from_child[2];
    SB_CHECK(pipe(to_child) == 0 && pipe(from_child) == 0, "cannot make a pipe");
    child_ = fork();
    SB_CHECK(child_ >= 0, "cannot start a process");
    if (child_ == 0) {
      dup2(to_child[0], STDIN_FILENO);
      dup2(from_child[1], STDOUT_FILENO);
      for (int end : {to_child[0], to_child[1], from_child[0], from_child[1]}) close(end);
      execlp(python.c_str(), python.c_str(), script.c_str(), nullptr);
      std::perror(python.c_str());
      _exit(127);
    }
    close(to_child[0]);
    close(from_child[1]);
    questions_ = fdopen(to_child[1], "w");
    answers_ = fdopen(from_child[0], "r");
    version_ = read();
    ask(absl::StrCat("threads ", threads));
  }
  ~Reference() {
    std::fclose(questions_);
    std::fclose(answers_);
    waitpid(child_, nullptr, 0);
  }
  const std::string& version() const { return version_; }
  std::string ask(const std::string& question) {
    std::fprintf(questions_, "%s\n", question.c_str());
    std::fflush(questions_);
    return read();
  }
  double seconds(int64_t times) {
    double seconds = 0;
    const std::string answer = ask(absl::StrCat("time ", times));
    SB_CHECK(absl::SimpleAtod(answer, &seconds), "PyTorch: ", answer);
    return seconds;
  }

 private:
  std::string read() {
    char line[4096];
    SB_CHECK(std::fgets(line, sizeof(line), answers_), "PyTorch's process ended");
    std::string text = line;
    text.pop_back();
    return text;
  }
  pid_t child_;
  FILE* questions_;
  FILE* answers_;
  std::string version_;
};

double our_seconds(const CallCase& call, int64_t times, int threads) {
  const clockid_t clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  const auto now = [clock] {
    timespec t;
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double begin = now();
  call.run(times);
  return now() - begin;
}

// So many calls take a turn.
template <class Seconds>
int64_t calibrate(const Seconds& seconds) {
  const double enough = absl::GetFlag(FLAGS_milliseconds) * 1e-3;
  for (int64_t times = 1;; times *= 2) {
    if (seconds(times) >= enough) return times;
  }
}

struct Mean {
  double logarithms = 0;
  int count = 0;
  void add(double ratio) {
    logarithms += std::log(ratio);
    ++count;
  }
  double value() const { return std::exp(logarithms / count); }
};

// What a turn of one side leaves behind, threads that look for work, must not take the other's
// core.
void settle(int threads) {
  if (threads > 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

int run(const std::vector<Line>& lines) {
  const int threads = absl::GetFlag(FLAGS_threads), rounds = absl::GetFlag(FLAGS_rounds);
  set_num_threads(threads);
  std::optional<Reference> reference;
  if (!absl::GetFlag(FLAGS_ours)) {
    reference.emplace(as_asked(absl::GetFlag(FLAGS_python)), "bench/vs_pytorch.py", threads);
    std::printf("PyTorch %s; ", reference->version().c_str());
  }
  std::printf("Switchboard %s; %d thread%s\n%10s %10s %7s  case\n",
              std::string(to_string(cpu_capability())).c_str(), threads, threads == 1 ? "" : "s",
              "ours us", "torch us", "ratio");
  std::map<std::string, Mean> families;
  Mean all, large;
  int lost = 0, refused = 0;
  for (const Line& line : lines) {
    std::optional<CallCase> call;
    std::string refusal;
    try {
      call.emplace(line.call);
      call->run(1);
    } catch (const std::exception& error) {
      refusal = absl::StrCat("ours: ", error.what());
    }
    if (reference && refusal.empty()) {
      const std::string answer = reference->ask("case " + line.call);
      if (answer != "ok") refusal = "PyTorch: " + answer;
    }
    if (!refusal.empty()) {
      std::printf("%29s  %s  (%s)\n", "refused", line.call.c_str(), refusal.c_str());
      ++refused;
      continue;
    }
    const auto ours = [&](int64_t times) { return our_seconds(*call, times, threads); };
    const int64_t our_times = calibrate(ours);
    int64_t their_times = 1;
    if (reference)
      their_times = calibrate([&](int64_t times) { return reference->seconds(times); });
    double best = INFINITY, their_best = INFINITY;
    for (int round = 0; round < rounds; ++round) {
      settle(threads);
      best = std::min(best, ours(our_times) / static_cast<double>(our_times));
      if (!reference) continue;
      settle(threads);
      their_best =
          std::min(their_best, reference->seconds(their_times) / static_cast<double>(their_times));
    }
    const double ratio = their_best / best;
    std::printf("%10.2f ", best * 1e6);
    if (reference) {
      std::printf("%10.2f %7.2f  ", their_best * 1e6, ratio);
      families[line.family].add(ratio);
      all.add(ratio);
      if (line.family != "calls") {
        large.add(ratio);
        lost += ratio < 1;
      }
    }
    std::printf("%s\n", line.call.c_str());
    std::fflush(stdout);
  }
  if (!reference) return 0;
  std::printf("\n%-20s %7s %6s\n", "family", "ratio", "cases");
  for (const auto& [family, mean] : families) {
    std::printf("%-20s %7.2f %6d\n", family.c_str(), mean.value(), mean.count);
  }
  if (large.count > 0) {
    std::printf("%-20s %7.2f %6d, %d of them lost\n", "all but calls", large.value(), large.count,
                lost);
  }
  if (all.count > 0) std::printf("%-20s %7.2f %6d\n", "all", all.value(), all.count);
  if (refused > 0) std::printf("%d refused\n", refused);
  return 0;
}

// Both sides read it as they start, so the program starts anew once it is set.
void set_environment(char** argv) {
  if (std::getenv("SB_VS_PYTORCH_STARTED")) return;
  const std::string threads = std::to_string(absl::GetFlag(FLAGS_threads));
  setenv("SB_VS_PYTORCH_STARTED", "1", 1);
  setenv("OMP_NUM_THREADS", threads.c_str(), 1);
  setenv("MKL_NUM_THREADS", threads.c_str(), 1);
  setenv("MALLOC_MMAP_MAX_", "0", 1);
  setenv("MALLOC_TRIM_THRESHOLD_", "34359738368", 1);
  setenv("MALLOC_TOP_PAD_", "67108864", 1);
  const std::string capability = absl::GetFlag(FLAGS_capability);
  if (!capability.empty()) {
    SB_CHECK_VALUE(capability == "avx2" || capability == "avx512",
                   "--capability: expected avx2 or avx512, got '", capability, "'");
    const bool avx2 = capability == "avx2";
    setenv("SB_CPU_CAPABILITY", capability.c_str(), 1);
    setenv("ATEN_CPU_CAPABILITY", capability.c_str(), 1);
    setenv("ONEDNN_MAX_CPU_ISA", avx2 ? "AVX2" : "AVX512_CORE_BF16", 1);
    setenv("MKL_ENABLE_INSTRUCTIONS", avx2 ? "AVX2" : "AVX512", 1);
  }
  execv("/proc/self/exe", argv);
}

}  // namespace
}  // namespace sb::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Times calls here and in PyTorch. See bench/README.md.");
  absl::ParseCommandLine(argc, argv);
  if (absl::GetFlag(FLAGS_python).empty() && !absl::GetFlag(FLAGS_ours)) {
    std::cerr << "vs_pytorch: --python PATH, of an environment with PyTorch, or --ours\n";
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  try {
    sb::bench::set_environment(argv);
    return sb::bench::run(sb::bench::read_lines("bench/vs_pytorch_cases.txt"));
  } catch (const std::exception& error) {
    std::cerr << "vs_pytorch: " << error.what() << "\n";
    return 1;
  }
}
