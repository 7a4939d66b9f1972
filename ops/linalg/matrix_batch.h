// What operators on batches of matrices share. Included by .cc files only: it brings Eigen in.

#ifndef SWITCHBOARD_OPS_LINALG_MATRIX_BATCH_H_
#define SWITCHBOARD_OPS_LINALG_MATRIX_BATCH_H_

#include <algorithm>
#include <complex>

#include "Eigen/Core"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/symbols/symbolic_shape.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {

template <class T>
using ColumnMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

inline bool is_matrix_dtype(DType t) {
  return t == DType::Float32 || t == DType::Float64 || is_complex(t);
}
// What is wrong with integers: PyTorch refuses them as no matrices, or where a kernel lacks them.
enum class Integers { AreWrong, HaveNoKernel };
// Throws RuntimeError unless `t` is a batch of matrices, NotImplementedError for 16-bit numbers.
inline void check_matrices(const char* op, const Tensor& t,
                           Integers integers = Integers::AreWrong) {
  check_defined(op, t);
  SB_CHECK(t.dim() >= 2, op, ": expected at least 2 dimensions, got ", t.describe());
  const bool known = is_matrix_dtype(t.dtype());
  SB_CHECK(known || is_floating_point(t.dtype()) || integers == Integers::HaveNoKernel, op,
           ": expected float32, float64 or complex, got ", t.describe());
  SB_CHECK_NOT_IMPLEMENTED(known, op, ": not implemented for ", t.describe());
}
inline void check_square(const char* op, const Tensor& t, Integers integers = Integers::AreWrong) {
  check_matrices(op, t, integers);
  SB_CHECK(t.sym_size(-1) == t.sym_size(-2), op, ": expected square matrices, got ", t.describe());
}

inline IntArrayRef batch_sizes(const Tensor& t) { return t.sizes().first(t.sizes().size() - 2); }
inline SymIntArrayRef sym_batch_sizes(const Tensor& t) {
  return t.sym_sizes().first(t.sym_sizes().size() - 2);
}
// Whether a batch of matrices has no elements: some functions have another result then. Rows and
// columns of which only data tell the number are some, which is checked once it is known.
inline bool has_no_elements(const Tensor& t) {
  const SymIntArrayRef sizes = t.sym_sizes();
  for (const SymInt& size : sizes)
    if (same_size(size, 0)) return true;
  return !std::ranges::all_of(sizes.last(2), [](const SymInt& n) { return expect_true(n != 0); });
}

// What the batches of both broadcast to.
inline SymDimVector broadcast_batches(const Tensor& a, const Tensor& b) {
  return broadcast_sizes<SymInt>(sym_batch_sizes(a), sym_batch_sizes(b));
}
// The sizes of the batch, and then `last`.
inline SymDimVector sym_batch_and(const Tensor& t, std::initializer_list<SymInt> last) {
  SymDimVector sizes(t.sym_sizes().begin(), t.sym_sizes().end() - 2);
  sizes.insert(sizes.end(), last.begin(), last.end());
  return sizes;
}
// A new batch of column-major matrices, one after the other.
inline Tensor empty_column_major(const SymDimVector& sizes, DType dtype, Device device) {
  const SymInt &rows = sizes[sizes.size() - 2], &cols = sizes[sizes.size() - 1];
  SymDimVector strides(sizes.size());
  const auto counted = [](const SymInt& size) { return sym_max(size, SymInt(1)); };
  SymInt step = counted(rows) * counted(cols);
  strides[sizes.size() - 1] = counted(rows);
  strides[sizes.size() - 2] = 1;
  for (size_t d = sizes.size() - 2; d-- > 0;) {
    strides[d] = step;
    step *= counted(sizes[d]);
  }
  const SymIntArrayRef all_sizes = sizes, all_strides = strides;
  if (any_symbolic(all_sizes)) return empty_with_symbols(all_sizes, all_strides, dtype);
  return empty_strided_on(device, all_sizes.expect_ints(), all_strides.expect_ints(), dtype);
}
// The same of self's batch.
inline Tensor empty_matrices(const Tensor& like, const SymInt& rows, const SymInt& cols,
                             DType dtype) {
  return empty_column_major(sym_batch_and(like, {rows, cols}), dtype, like.device());
}
inline Tensor empty_matrices(const Tensor& like, const SymInt& rows, const SymInt& cols) {
  return empty_matrices(like, rows, cols, like.dtype());
}

// Calls f.template operator()<T>() with the C++ type of the dtype.
template <class F>
void visit_matrix_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::Float32:
      return f.template operator()<float>();
    case DType::Float64:
      return f.template operator()<double>();
    case DType::Complex64:
      return f.template operator()<std::complex<float>>();
    default:
      return f.template operator()<std::complex<double>>();
  }
}

// Matrix i of a tensor of empty_matrices.
template <class T>
Eigen::Map<ColumnMajor<T>> matrix_at(const Tensor& t, int64_t i) {
  return {t.data<T>() + i * t.size(-2) * t.size(-1), t.size(-2), t.size(-1)};
}
inline int64_t num_matrices(const Tensor& t) { return checked_numel(batch_sizes(t)); }

// Calls f(i) for each matrix of the batch, for several at once where they are worth a thread: those
// that are factorized cost about the product of their sizes times the lesser one.
template <class F>
void for_each_matrix(const Tensor& t, const F& f) {
  const int64_t rows = std::max<int64_t>(t.size(-2), 1), cols = std::max<int64_t>(t.size(-1), 1);
  const double cost = static_cast<double>(rows) * static_cast<double>(cols) *
                      static_cast<double>(std::min(rows, cols));
  const auto grain = static_cast<int64_t>(std::max(1.0, kElementGrain / cost));
  parallel_for(0, num_matrices(t), grain, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) f(i);
  });
}
// Where vectors of `n` elements lie in a contiguous batch of them.
template <class T>
T* vector_at(const Tensor& t, int64_t i, int64_t n) {
  return t.data<T>() + i * n;
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_MATRIX_BATCH_H_
