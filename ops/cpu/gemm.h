// The matrix product that the matmul family is made of.

#ifndef SWITCHBOARD_OPS_CPU_GEMM_H_
#define SWITCHBOARD_OPS_CPU_GEMM_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "switchboard/core/dtype.h"
#include "switchboard/core/scalar.h"

namespace sb {

// A matrix in memory, or a batch of `count` of them; strides in elements.
struct MatrixRef {
  void* data;
  int64_t rows;
  int64_t cols;
  int64_t row_stride;
  int64_t col_stride;
  int64_t count = 1;
  int64_t batch_stride = 0;

  MatrixRef transposed() const {
    return {data, cols, rows, col_stride, row_stride, count, batch_stride};
  }
};

// Whether gemm has arithmetic for the dtype: everything but bool.
constexpr bool has_gemm(DType t) { return t != DType::Bool; }

// c = beta * c + alpha * (a @ b), all three of one dtype and with equally many matrices. Integers
// wrap; 16-bit floats compute in float32. Where beta is 0, c is written without being read; where
// alpha is 0, a and b are not read. `c` shares no memory with the others and no two of its elements
// have one address. On several threads; the result does not depend on how many. Throws RuntimeError
// where memory for copies of operands is wanting, before it writes.
void gemm(DType dtype, const Scalar& alpha, const MatrixRef& a, const MatrixRef& b,
          const Scalar& beta, const MatrixRef& c);
// Calls fill_c once nothing can fail any more, and before c is read: it writes what c is to hold.
void gemm(DType dtype, const Scalar& alpha, const MatrixRef& a, const MatrixRef& b,
          const Scalar& beta, const MatrixRef& c, absl::FunctionRef<void()> fill_c);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_CPU_GEMM_H_
