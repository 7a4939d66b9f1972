#include "switchboard/ops/cpu/cpu_capability.h"

#include <algorithm>
#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace sb {
namespace {

#if defined(__x86_64__)
// clang's __builtin_cpu_supports does not know it.
bool has_f16c() {
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}
#endif

CpuCapability of_machine() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !has_f16c()) {
    return CpuCapability::Baseline;
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return CpuCapability::Avx512;
  }
  return CpuCapability::Avx2;
#else
  return CpuCapability::Baseline;
#endif
}

CpuCapability detect() {
  const CpuCapability best = of_machine();
  const char* const wish = std::getenv("SB_CPU_CAPABILITY");
  for (CpuCapability c : {CpuCapability::Baseline, CpuCapability::Avx2, CpuCapability::Avx512}) {
    if (wish && to_string(c) == wish) return std::min(best, c);
  }
  return best;
}

}  // namespace

CpuCapability cpu_capability() {
  static const CpuCapability capability = detect();
  return capability;
}

std::string_view to_string(CpuCapability capability) {
  switch (capability) {
    case CpuCapability::Baseline:
      return "baseline";
    case CpuCapability::Avx2:
      return "avx2";
    default:
      return "avx512";
  }
}

}  // namespace sb
