// The matrix product that the matmul family is made of.

#ifndef SWITCHBOARD_OPS_GEMM_H_
#define SWITCHBOARD_OPS_GEMM_H_

#include <cstdint>
#include <utility>

#include "switchboard/core/dtype.h"
#include "switchboard/core/scalar.h"

namespace sb {

// A matrix in memory; strides in elements.
struct MatrixRef {
  void* data;
  int64_t rows;
  int64_t cols;
  int64_t row_stride;
  int64_t col_stride;

  MatrixRef transposed() const { return {data, cols, rows, col_stride, row_stride}; }
};

// Whether gemm has arithmetic for the dtype: everything but bool.
constexpr bool has_gemm(DType t) { return t != DType::Bool; }

// c = beta * c + alpha * (a @ b), all three of one dtype. Integers wrap; 16-bit floats compute in
// float32. Where beta is 0, c is written without being read; where alpha is 0, a and b are not
// read. `c` shares no memory with the others and no two of its elements have one address.
void gemm(DType dtype, const Scalar& alpha, const MatrixRef& a, const MatrixRef& b,
          const Scalar& beta, const MatrixRef& c);

namespace internal {

// The same for the types that Eigen computes in: float, double, their complex types, and uint64_t
// for all integers. Each is compiled in a file of its own, as that takes long.
template <class T>
void gemm_of(T alpha, const MatrixRef& a, const MatrixRef& b, T beta, const MatrixRef& c);

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_OPS_GEMM_H_
