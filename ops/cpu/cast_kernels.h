// The loops of cast.h, for each CPU capability.

#ifndef SWITCHBOARD_OPS_CPU_CAST_KERNELS_H_
#define SWITCHBOARD_OPS_CPU_CAST_KERNELS_H_

#include <array>

#include "switchboard/core/dtype.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/cpu_kernel.h"

namespace sb {

// By the dtype converted from, then the one converted to.
using CastTable = std::array<std::array<CastFunction, kNumDTypes>, kNumDTypes>;
extern const CpuKernel<CastTable> cast_kernels;

}  // namespace sb

#endif  // SWITCHBOARD_OPS_CPU_CAST_KERNELS_H_
