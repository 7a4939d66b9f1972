#include "switchboard/ops/cpu/gemm_impl.h"

namespace sb {

SB_CPU_KERNEL(GemmKernels, gemm_double_kernels, internal::gemm_kernels_of<double>());

}  // namespace sb
