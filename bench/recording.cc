// What recording a call costs, in time and in the file: calls of small operators, with nobody
// looking, with an observer that does nothing, and recorded.
//
//   ./bazelw run -c opt //bench:recording [CALLS [off|on]]
//
// With off or on the calls are made once, for valgrind.

#include "switchboard/io/recording/recording.h"

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <string>

#include "switchboard/dispatch/slow_call.h"
#include "switchboard/io/recording/record.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"

namespace {

struct NoObserver final : sb::CallObserver {
  void enter(const sb::OperatorEntry&, sb::DispatchKeySet, const sb::Kernel&) override {}
  void leave(const sb::OperatorEntry&, sb::DispatchKeySet) override {}
};

double processor_nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// The least of some rounds: other programs of the machine only add.
template <class F>
double least_nanoseconds(F&& f) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 9; ++i) {
    const double begin = processor_nanoseconds();
    f();
    least = std::min(least, processor_nanoseconds() - begin);
  }
  return least;
}

void calls(int n) {
  static const sb::Tensor x = sb::ones({2, 2}), y = sb::ones({2, 2});
  for (int i = 0; i < n; i += 4) {
    sb::add(x, y, 2);
    sb::mul(x, y);
    sb::t(x);
    sb::neg(y);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 40000;
  const std::string path = std::filesystem::temp_directory_path() / "sb_bench.sbr";
  if (argc > 2) {
    std::unique_ptr<sb::Recording> recording;
    if (std::string(argv[2]) == "on") recording = std::make_unique<sb::Recording>(path);
    calls(n);
    return 0;
  }
  const auto run = [n] { calls(n); };
  run();
  const double off = least_nanoseconds(run);
  double observed = 0, on = 0, all = 0;
  {
    NoObserver observer;
    const sb::ObserveCalls observe(&observer);
    observed = least_nanoseconds(run);
  }
  {
    const sb::Recording recording(path);
    on = least_nanoseconds(run);
  }
  {
    const sb::Recording recording(path, {.all_threads = true});
    all = least_nanoseconds(run);
  }
  {
    const sb::Recording recording(path);
    run();
  }
  const sb::io::RecordedRun recorded = sb::io::read_recording(path);
  const double kernels = static_cast<double>(recorded.events.size());
  std::cout << n << " calls, " << kernels << " kernels; bytes a kernel "
            << static_cast<double>(std::filesystem::file_size(path)) / kernels
            << "\nnanoseconds a call: off " << off / n << ", observed " << observed / n
            << ", recorded " << on / n << "\nnanoseconds a kernel: recorded +"
            << (on - off) / kernels << ", of these the recorder's own " << (on - observed) / kernels
            << "; all threads +" << (all - off) / kernels << "\n";
  std::filesystem::remove(path);
}
