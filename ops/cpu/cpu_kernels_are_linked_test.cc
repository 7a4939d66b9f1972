#include "catch2/catch.hpp"
#include "switchboard/ops/cpu/gemm_kernels.h"

namespace sb {

extern const GemmKernels gemm_float_kernels_avx2 [[gnu::weak]];
extern const GemmKernels gemm_float_kernels_avx512 [[gnu::weak]];

#if defined(__x86_64__)
TEST_CASE("a program has the kernels of every CPU capability, though it names them weakly") {
  CHECK(&gemm_float_kernels_avx2 != nullptr);
  CHECK(&gemm_float_kernels_avx512 != nullptr);
}
#endif

}  // namespace sb
