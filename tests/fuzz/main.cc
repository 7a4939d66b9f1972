// Calls operators at random until the time is up: see README.md.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "switchboard/core/error.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tests/failures/failure_files.h"
#include "switchboard/tests/fuzz/random_arguments.h"
#include "switchboard/tests/fuzz/random_calls.h"
#include "switchboard/tools/progress.h"

ABSL_FLAG(double, seconds, 20, "how long to go on");
ABSL_FLAG(uint64_t, seed, 1, "of the first call; call i has seed + i");
ABSL_FLAG(uint64_t, calls, 0, "stop after so many calls; 0: when the time is up");
ABSL_FLAG(std::string, only, "", "operators whose name contains this");
ABSL_FLAG(int, faults, 20, "stop after so many faults");
ABSL_FLAG(bool, verbose, false, "print each call before it is made, to find the one that crashes");
ABSL_FLAG(
    std::string, failures, "",
    "the folder to leave each call with a fault in; by default the one that this is run from");
ABSL_FLAG(bool, leave, false, "leave the call of --seed there, without making it");

// What a sanitizer runs before it ends the program.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

// The CPU's memory, but for requests that would only keep the machine busy.
class LimitedAllocator : public sb::Allocator {
 public:
  explicit LimitedAllocator(sb::Allocator& memory) : memory_(memory) {}
  sb::DataPtr allocate(size_t bytes) override {
    constexpr size_t kMost = size_t{64} << 20;
    SB_CHECK(bytes <= kMost, "no more than ", kMost, " bytes here, got ", bytes);
    return memory_.allocate(bytes);
  }
  void copy_data(void* destination, const void* source, size_t bytes) override {
    memory_.copy_data(destination, source, bytes);
  }

 private:
  sb::Allocator& memory_;
};

uint64_t mixed(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The operators that calls are drawn from, and the call of each seed.
class Calls {
 public:
  explicit Calls(const std::string& only) {
    for (const sb::OperatorHandle& op : sb::default_dispatcher().all_ops())
      if (absl::StrContains(op.schema().name.to_string(), only)) ops_.push_back(op);
  }
  size_t operators() const { return ops_.size(); }
  const sb::OperatorHandle& op(uint64_t seed) const { return ops_[mixed(seed) % ops_.size()]; }
  sb::fuzz::Outcome make(uint64_t seed) const {
    return sb::fuzz::random_call(op(seed), mixed(seed + 1));
  }
  // Leaves the call as two programs, with its tensors on cpu and on meta, and says where.
  void leave(uint64_t seed) const {
    const std::string folder = sb::test::failure_folder(absl::GetFlag(FLAGS_failures));
    const sb::fuzz::ArgumentPlan plan(op(seed).schema(), mixed(seed + 1));
    for (const sb::DeviceType device : {sb::DeviceType::CPU, sb::DeviceType::Meta}) {
      const std::string name =
          absl::StrFormat("random_calls_%d%s", seed, device == sb::DeviceType::Meta ? "_meta" : "");
      try {
        for (const std::string& path :
             sb::test::leave_call(folder, name, op(seed), plan.build(device)))
          std::printf("  left in %s\n", path.c_str());
      } catch (const sb::Error& error) {
        std::printf("  no %s.cc: %s\n", name.c_str(), error.what());
      }
    }
    std::fflush(stdout);
  }

 private:
  std::vector<sb::OperatorHandle> ops_;
};

// For the end of the process in a call: what it was, and the program's own command for leaving it.
// Never destroyed: the leak checker dies after main().
struct Current {
  std::string text;
  std::string seed, only, failures;
};
Current& current = *new Current;

void print_current() { std::fprintf(stderr, "in %s\n", current.text.c_str()); }

// Another process leaves the call, as nothing is sound in this one any more.
void leave_current() {
  const pid_t pid = fork();
  if (pid == 0) {
    execl("/proc/self/exe", "random_calls", "--leave", current.seed.c_str(), current.only.c_str(),
          current.failures.c_str(), nullptr);
    _exit(1);
  }
  if (pid > 0) waitpid(pid, nullptr, 0);
}
void on_death() {
  print_current();
  leave_current();
}
// The signal comes again, to the default handler.
void on_signal(int) { on_death(); }

void watch_for_death() {
  // A sanitizer has handlers of its own.
  if (__sanitizer_set_death_callback) {
    __sanitizer_set_death_callback(&on_death);
    return;
  }
  // A stack of its own, for the case that the other one is full.
  static char memory[1 << 16];
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof(memory);
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = &on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(signal, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Calls operators with random arguments on cpu and on meta.");
  absl::ParseCommandLine(argc, argv);
  static LimitedAllocator limited(*sb::get_allocator(sb::DeviceType::CPU));
  sb::set_allocator(sb::DeviceType::CPU, &limited);
  const std::string only = absl::GetFlag(FLAGS_only);
  const Calls all(only);
  if (all.operators() == 0) {
    std::fprintf(stderr, "no operator's name contains '%s'\n", only.c_str());
    return 2;
  }
  if (absl::GetFlag(FLAGS_leave)) {
    all.leave(absl::GetFlag(FLAGS_seed));
    return 0;
  }
  current.only = "--only=" + only;
  current.failures = "--failures=" + absl::GetFlag(FLAGS_failures);
  watch_for_death();
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration<double>(absl::GetFlag(FLAGS_seconds));
  const auto begin = std::chrono::steady_clock::now();
  sb::tools::Progress progress("seconds of random calls",
                               static_cast<uint64_t>(absl::GetFlag(FLAGS_seconds)));
  uint64_t calls = 0, succeeded = 0;
  int faults = 0;
  for (uint64_t seed = absl::GetFlag(FLAGS_seed);
       std::chrono::steady_clock::now() < end && faults < absl::GetFlag(FLAGS_faults) &&
       (absl::GetFlag(FLAGS_calls) == 0 || calls < absl::GetFlag(FLAGS_calls));
       ++seed, ++calls) {
    current.seed = absl::StrFormat("--seed=%d", seed);
    current.text = absl::StrFormat("%s %s: %s", current.only, current.seed,
                                   all.op(seed).schema().name.to_string());
    if (absl::GetFlag(FLAGS_verbose)) print_current();
    const sb::fuzz::Outcome outcome = all.make(seed);
    succeeded += outcome.succeeded;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    progress.set(static_cast<uint64_t>(elapsed.count()));
    if (outcome.fault.empty()) continue;
    ++faults;
    progress.clear();
    std::printf("FAULT %s\n  %s\n  %s\n", current.text.c_str(), outcome.call.c_str(),
                outcome.fault.c_str());
    all.leave(seed);
  }
  progress.clear();
  std::printf("%d calls of %d operators, %d succeeded, %d faults\n", static_cast<int>(calls),
              static_cast<int>(all.operators()), static_cast<int>(succeeded), faults);
  return faults == 0 ? 0 : 1;
}
