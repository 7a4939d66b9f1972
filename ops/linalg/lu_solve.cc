#include "switchboard/ops/define/define.h"
#include "switchboard/ops/linalg/broadcast_index.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/lu.h"
#include "switchboard/ops/linalg/solve_by_lu.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

void check_factors(const char* op, const Tensor& lu, const Tensor& pivots) {
  check_square(op, lu);
  check_defined(op, pivots);
  SB_CHECK(pivots.dtype() == DType::Int32, op, ": argument pivots: expected int32, got ",
           pivots.describe());
  const SymIntArrayRef sizes = lu.sym_sizes();
  SB_CHECK(equal_sizes<SymInt>(pivots.sym_sizes(), sizes.first(sizes.size() - 1)), op,
           ": argument pivots: expected one for each row of ", lu.describe(), ", got ",
           pivots.describe());
}

// Makes the columns of `x`, which are broadcast from the factors' batch, the solutions of M X = X,
// of the transposed, or of the complex conjugate of either.
template <class T>
void solve_columns(const Tensor& lu, const Tensor& pivots, bool transposed, bool conjugate,
                   const Tensor& x) {
  const Tensor factors = empty_matrices(lu, lu.size(-2), lu.size(-1));
  copy_elements(factors, lu);
  const Tensor swaps = clone(pivots, MemoryFormat::Contiguous);
  const int64_t n = lu.size(-1);
  for (int64_t i = 0; i < swaps.numel(); ++i) {
    const int32_t row = swaps.data<int32_t>()[i];
    SB_CHECK(row >= 1 && row <= n, "linalg_lu_solve: argument pivots: expected rows from 1 to ", n,
             ", got ", row);
  }
  const BroadcastIndex factors_of(batch_sizes(lu), batch_sizes(x));
  for_each_matrix(x, [&](int64_t i) {
    const int64_t k = factors_of(i);
    auto columns = matrix_at<T>(x, i);
    if (conjugate) columns = columns.conjugate().eval();
    solve_by_lu<T>(matrix_at<T>(factors, k), vector_at<int32_t>(swaps, k, n), transposed, columns);
    if (conjugate) columns = columns.conjugate().eval();
  });
}

// With left alone: X M = B is M^T X^T = B^T.
template <bool with_data>
Tensor lu_solve_kernel(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left,
                       bool adjoint) {
  constexpr const char* op = "linalg_lu_solve";
  check_factors(op, lu, pivots);
  check_matrices(op, b);
  SB_CHECK(lu.dtype() == b.dtype() && lu.device() == b.device(), op,
           ": B: expected the dtype and device of LU = ", lu.describe(), ", got ", b.describe());
  SB_CHECK(b.sym_size(left ? -2 : -1) == lu.sym_size(-1), op, ": B: expected matrices of ",
           lu.sym_size(-1).to_string(), left ? " rows" : " columns", ", got ", b.describe());
  const SymDimVector batch = broadcast_batches(lu, b);
  SymDimVector sizes = batch;
  sizes.insert(sizes.end(), {lu.sym_size(-1), b.sym_size(left ? -1 : -2)});
  const Tensor columns = empty_column_major(sizes, lu.dtype(), lu.device());
  const Tensor result = left ? columns : alias_transposed(columns, batch.size(), batch.size() + 1);
  if (!with_data || result.numel() == 0) return result;
  copy_elements(result, b);
  visit_matrix_type(lu.dtype(), [&]<class T>() {
    solve_columns<T>(lu, pivots, /*transposed=*/left == adjoint,
                     /*conjugate=*/adjoint && is_complex(lu.dtype()), columns);
  });
  return result;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, linalg_lu_solve)
      .cpu(lu_solve_kernel<true>)
      .meta(lu_solve_kernel<false>)
      .out(linalg_lu_solve_out, kStructuredOut);
  define(m, lu_solve)
      .composed([](const Tensor& self, const Tensor& lu, const Tensor& pivots) {
        return linalg_lu_solve(lu, pivots, self);
      })
      .out(lu_solve_out, kStructuredOut);
}

}  // namespace sb
