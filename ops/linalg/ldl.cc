#include "switchboard/ops/linalg/ldl.h"

#include "switchboard/ops/define/define.h"
#include "switchboard/ops/linalg/broadcast_index.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/lapack/lapack.h"

namespace sb {
namespace {

void check_lapack(const char* op) {
  SB_CHECK(lapack::is_available(), op, ": needs a LAPACK, and none was found");
}

template <bool with_data>
Three factor_kernel(const Tensor& self, bool hermitian, bool check) {
  constexpr const char* op = "linalg_ldl_factor_ex";
  check_square(op, self);
  const Tensor ld = empty_matrices(self, self.sym_size(-2), self.sym_size(-1));
  const Tensor pivots = empty_batch(self, {self.sym_size(-1)}, DType::Int32);
  const Tensor info = empty_batch(self, {}, DType::Int32);
  if constexpr (with_data) {
    check_lapack(op);
    copy_elements(ld, self);
    const int64_t n = self.size(-1);
    visit_matrix_type(self.dtype(), [&]<class T>() {
      for_each_matrix(ld, [&](int64_t i) {
        auto factors = matrix_at<T>(ld, i);
        factors = ColumnMajor<T>(factors.template triangularView<Eigen::Lower>());
        info.data<int32_t>()[i] =
            lapack::sytrf(hermitian, n, factors.data(), vector_at<int32_t>(pivots, i, n));
      });
    });
  }
  check_errors("linalg.ldl_factor_ex", info, check);
  return {ld, pivots, info};
}

template <bool with_data>
Tensor solve_kernel(const Tensor& ld, const Tensor& pivots, const Tensor& b, bool hermitian) {
  constexpr const char* op = "linalg_ldl_solve";
  check_square(op, ld);
  check_defined(op, pivots);
  check_defined(op, b);
  SB_CHECK_INDEX(b.dim() >= 2, op, ": B: expected at least 2 dimensions, got ", b.describe());
  SB_CHECK(b.dtype() == ld.dtype() && b.device() == ld.device(), op,
           ": B: expected the dtype and device of LD = ", ld.describe(), ", got ", b.describe());
  SB_CHECK(b.sym_size(-2) == ld.sym_size(-1), op, ": B: expected matrices of ",
           ld.sym_size(-1).to_string(), " rows, got ", b.describe());
  const SymIntArrayRef sizes = ld.sym_sizes();
  SB_CHECK(equal_sizes<SymInt>(pivots.sym_sizes(), sizes.first(sizes.size() - 1)), op,
           ": pivots: expected one for each row of ", ld.describe(), ", got ", pivots.describe());
  SB_CHECK(is_integral(pivots.dtype()), op, ": pivots: expected integers, got ", pivots.describe());
  SymDimVector shape = broadcast_batches(ld, b);
  shape.insert(shape.end(), {b.sym_size(-2), b.sym_size(-1)});
  const Tensor result = empty_column_major(shape, b.dtype(), b.device());
  if (!with_data || result.numel() == 0) return result;
  check_lapack(op);
  copy_elements(result, b);
  const int64_t n = ld.size(-1);
  const Tensor factors = empty_matrices(ld, n, n);
  copy_elements(factors, ld);
  const Tensor swaps = cast_copy(pivots, DType::Int32);
  for (int64_t i = 0; i < swaps.numel(); ++i) {
    const int32_t row = swaps.data<int32_t>()[i];
    SB_CHECK(row != 0 && row >= -n && row <= n, op, ": pivots: expected rows from 1 to ", n,
             ", or these negative, got ", row);
  }
  const BroadcastIndex factors_of(batch_sizes(ld), batch_sizes(result));
  visit_matrix_type(ld.dtype(), [&]<class T>() {
    for_each_matrix(result, [&](int64_t i) {
      const int64_t k = factors_of(i);
      auto x = matrix_at<T>(result, i);
      lapack::sytrs<T>(hermitian, n, x.cols(), matrix_at<T>(factors, k).data(),
                       vector_at<int32_t>(swaps, k, n), x.data());
    });
  });
  return result;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_factorization(m, linalg_ldl_factor_ex, factor_kernel<true>, factor_kernel<false>, "out",
                       {"LD", "pivots", "info"});
  define(m, linalg_ldl_factor)
      .composed([](const Tensor& self, bool hermitian) -> Two {
        const auto [ld, pivots, info] = linalg_ldl_factor_ex(self, hermitian, false);
        check_errors("linalg.ldl_factor", info, true);
        return {ld, pivots};
      })
      .out("out", {"LD", "pivots"}, kStructuredOut);
  define(m, linalg_ldl_solve)
      .cpu(solve_kernel<true>)
      .meta(solve_kernel<false>)
      .out(linalg_ldl_solve_out, kStructuredOut);
}

}  // namespace sb
