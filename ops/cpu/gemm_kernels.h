// The arithmetic of gemm.h on one thread, for the types that it computes in.

#ifndef SWITCHBOARD_OPS_CPU_GEMM_KERNELS_H_
#define SWITCHBOARD_OPS_CPU_GEMM_KERNELS_H_

#include "switchboard/ops/cpu/cpu_kernel.h"
#include "switchboard/ops/cpu/gemm.h"

namespace sb {

struct GemmKernels {
  // c = beta * c + alpha * (a @ b), for single matrices. c is column-major; a and b are row-major
  // or column-major, or of few elements (is_tiny_product). Never throws.
  void (*product)(const void* alpha, const MatrixRef& a, const MatrixRef& b, const void* beta,
                  const MatrixRef& c);
  // *sum = a . b, vectors of n elements with any strides.
  void (*dot)(const void* a, int64_t a_stride, const void* b, int64_t b_stride, int64_t n,
              void* sum);
};

// For kernels: at least `bytes` bytes, aligned for vectors, that the calling thread keeps for its
// next product, as fresh memory costs more than a small product; nullptr where none can be had.
void* gemm_scratch(size_t bytes);

extern const CpuKernel<GemmKernels> gemm_float_kernels;
extern const CpuKernel<GemmKernels> gemm_double_kernels;
extern const CpuKernel<GemmKernels> gemm_complex64_kernels;
extern const CpuKernel<GemmKernels> gemm_complex128_kernels;
// Integers compute as unsigned ones of the same size, or of 32 bits.
extern const CpuKernel<GemmKernels> gemm_int32_kernels;
extern const CpuKernel<GemmKernels> gemm_int64_kernels;
// Of a row-major bfloat16 matrix and a dense vector of them alone, and without `dot`; factors and c
// are float32.
extern const CpuKernel<GemmKernels> gemm_bfloat16_kernels;

// Whether the product is computed at once, without packing its operands.
constexpr bool is_tiny_product(int64_t rows, int64_t depth, int64_t cols) {
  return rows <= 16 && depth <= 16 && cols <= 16;
}

// The stride of a dimension with at most one element does not matter.
inline bool is_col_major(const MatrixRef& m) { return m.rows <= 1 || m.row_stride == 1; }
inline bool is_row_major(const MatrixRef& m) { return m.cols <= 1 || m.col_stride == 1; }

}  // namespace sb

#endif  // SWITCHBOARD_OPS_CPU_GEMM_KERNELS_H_
