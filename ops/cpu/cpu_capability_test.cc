#include "switchboard/ops/cpu/cpu_capability.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "catch2/catch.hpp"
#include "switchboard/ops/cpu/cpu_kernel.h"

namespace sb {
namespace {

// What a process finds whose environment says so. This one's capability is fixed by now.
CpuCapability capability_with(const char* wish) {
  const std::string command = std::string("SB_CPU_CAPABILITY=") + wish + " /proc/" +
                              std::to_string(getpid()) + "/exe --nothrow '[.child]'";
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) >= 100);
  return static_cast<CpuCapability>(WEXITSTATUS(status) - 100);
}

TEST_CASE("tells its parent the capability", "[.child]") {
  _exit(100 + static_cast<int>(cpu_capability()));
}

TEST_CASE("SB_CPU_CAPABILITY lowers the capability, and never raises it", "[ops]") {
  const CpuCapability best = capability_with("unheard-of");
  CHECK(capability_with("avx512") == best);
  CHECK(capability_with("") == best);
  CHECK(capability_with("avx2") == std::min(best, CpuCapability::Avx2));
  CHECK(capability_with("baseline") == CpuCapability::Baseline);
}

TEST_CASE("a kernel is the best variant that was compiled and the machine has", "[ops]") {
  const int baseline = 0, avx2 = 1, avx512 = 2;
  CHECK(*CpuKernel<int>(&baseline, nullptr, nullptr) == 0);
  const CpuCapability here = cpu_capability();
  CHECK(*CpuKernel<int>(&baseline, &avx2, nullptr) == (here >= CpuCapability::Avx2 ? 1 : 0));
  CHECK(*CpuKernel<int>(&baseline, &avx2, &avx512) == static_cast<int>(here));
}

}  // namespace
}  // namespace sb
