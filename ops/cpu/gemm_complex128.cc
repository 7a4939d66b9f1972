#include <complex>

#include "switchboard/ops/cpu/gemm_impl.h"

namespace sb {

SB_CPU_KERNEL(GemmKernels, gemm_complex128_kernels,
              internal::gemm_kernels_of<std::complex<double>>());

}  // namespace sb
