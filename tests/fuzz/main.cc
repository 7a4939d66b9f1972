// Calls operators at random until the time is up: see README.md.

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
#include "switchboard/tests/fuzz/random_calls.h"
#include "switchboard/tools/progress.h"

ABSL_FLAG(double, seconds, 20, "how long to go on");
ABSL_FLAG(uint64_t, seed, 1, "of the first call; call i has seed + i");
ABSL_FLAG(uint64_t, calls, 0, "stop after so many calls; 0: when the time is up");
ABSL_FLAG(std::string, only, "", "operators whose name contains this");
ABSL_FLAG(int, faults, 20, "stop after so many faults");
ABSL_FLAG(bool, verbose, false, "print each call before it is made, to find the one that crashes");

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

// Never destroyed: the leak checker dies after main().
std::string& current = *new std::string;

void print_current() { std::fprintf(stderr, "in %s\n", current.c_str()); }

uint64_t mixed(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Calls operators with random arguments on cpu and on meta.");
  absl::ParseCommandLine(argc, argv);
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(&print_current);
  static LimitedAllocator limited(*sb::get_allocator(sb::DeviceType::CPU));
  sb::set_allocator(sb::DeviceType::CPU, &limited);
  std::vector<sb::OperatorHandle> ops;
  for (const sb::OperatorHandle& op : sb::default_dispatcher().all_ops()) {
    if (absl::StrContains(op.schema().name.to_string(), absl::GetFlag(FLAGS_only)))
      ops.push_back(op);
  }
  if (ops.empty()) {
    std::fprintf(stderr, "no operator's name contains '%s'\n", absl::GetFlag(FLAGS_only).c_str());
    return 2;
  }
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
    const sb::OperatorHandle& op = ops[mixed(seed) % ops.size()];
    current = absl::StrFormat("--only=%s --seed=%d: %s", absl::GetFlag(FLAGS_only), seed,
                              op.schema().name.to_string());
    if (absl::GetFlag(FLAGS_verbose)) print_current();
    const sb::fuzz::Outcome outcome = sb::fuzz::random_call(op, mixed(seed + 1));
    succeeded += outcome.succeeded;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    progress.set(static_cast<uint64_t>(elapsed.count()));
    if (outcome.fault.empty()) continue;
    ++faults;
    progress.clear();
    std::printf("FAULT %s\n  %s\n  %s\n", current.c_str(), outcome.call.c_str(),
                outcome.fault.c_str());
  }
  progress.clear();
  std::printf("%d calls of %d operators, %d succeeded, %d faults\n", static_cast<int>(calls),
              static_cast<int>(ops.size()), static_cast<int>(succeeded), faults);
  return faults == 0 ? 0 : 1;
}
