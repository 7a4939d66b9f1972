// Which instructions of the CPU kernels may use.

#ifndef SWITCHBOARD_OPS_CPU_CPU_CAPABILITY_H_
#define SWITCHBOARD_OPS_CPU_CPU_CAPABILITY_H_

#include <cstdint>
#include <string_view>

namespace sb {

// Each includes those before it. As `at::native::CPUCapability`.
enum class CpuCapability : uint8_t {
  Baseline,  // what every CPU that the program was compiled for has
  Avx2,      // AVX2, FMA and F16C
  Avx512,    // AVX-512 F, DQ, BW and VL
};

// The best that this machine has, or less if the environment variable SB_CPU_CAPABILITY says
// "baseline", "avx2" or "avx512" (other values are ignored). Fixed at the first call; thread-safe.
CpuCapability cpu_capability();

// "baseline", "avx2", "avx512".
std::string_view to_string(CpuCapability capability);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_CPU_CPU_CAPABILITY_H_
