#include "switchboard/ops/cpu/gemm_impl.h"

namespace sb {

SB_CPU_KERNEL(GemmKernels, gemm_integer_kernels, internal::gemm_kernels_of<uint64_t>());

}  // namespace sb
