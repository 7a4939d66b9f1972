#include "switchboard/ops/linalg/solve.h"

#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/linalg/broadcast_index.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/solve_by_lu.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

bool has_vectors(const Tensor& a, const Tensor& b) {
  return b.dim() == 1 ||
         (b.dim() == a.dim() - 1 &&
          std::ranges::equal(b.sym_sizes(), a.sym_sizes().first(a.sym_sizes().size() - 1),
                             [](const SymInt& x, const SymInt& y) { return same_size(x, y); }));
}

// A tensor of these sizes, as a batch of column-major matrices where they are two or more.
Tensor empty_vectors(const Tensor& like, const SymDimVector& sizes) {
  if (sizes.size() >= 2) return empty_column_major(sizes, like.dtype(), like.device());
  const SymIntArrayRef all = sizes;
  if (any_symbolic(all)) return empty_with_symbols(all, {}, like.dtype());
  return empty_on(like.device(), all.expect_ints(), like.dtype());
}

template <bool with_data>
Four solve_kernel(const Tensor& a, const Tensor& b, bool left, bool check) {
  const char* const op = "linalg_solve";
  check_square(op, a);
  check_defined(op, b);
  SB_CHECK(a.dtype() == b.dtype() && a.device() == b.device(), op,
           ": B: expected the dtype and device of A = ", a.describe(), ", got ", b.describe());
  SB_CHECK(b.dim() >= 1, op, ": B: expected at least 1 dimension, got ", b.describe());
  const bool vectors = has_vectors(a, b);
  SB_CHECK(left || !vectors, op, ": B: expected matrices where left is false, got ", b.describe());
  const Tensor matrices = vectors ? unsqueeze(b, -1) : b;
  const SymInt n = a.sym_size(-1);
  const auto check_length = [&](const SymBool& fits) {
    SB_CHECK(fits, op, ": B: expected matrices of ", n.to_string(), left ? " rows" : " columns",
             ", got ", b.describe());
  };
  check_length(matrices.dim() >= 2);
  check_length(matrices.sym_size(left ? -2 : -1) == n);
  const SymDimVector batch = broadcast_batches(a, matrices);
  SymDimVector sizes = batch;
  sizes.insert(sizes.end(), {n, matrices.sym_size(left ? -1 : -2)});
  // X, or its transposed, whose columns are what is solved for.
  const Tensor columns = empty_column_major(sizes, a.dtype(), a.device());
  Tensor result = left ? columns : alias_transposed(columns, batch.size(), batch.size() + 1);
  if (vectors) {
    sizes.pop_back();
    result = empty_vectors(a, sizes);
  }

  const bool of_transposed = a.is_contiguous() && !is_complex(a.dtype());
  const auto rank = static_cast<size_t>(a.dim());
  const auto [lu, pivots, info] = linalg_lu_factor_ex(
      of_transposed ? alias_transposed(a, rank - 2, rank - 1) : a, /*pivot=*/true, false);
  check_errors("linalg.solve", info, check);
  if (with_data && columns.numel() != 0) {
    copy_elements(left ? columns : result, matrices);
    const BroadcastIndex factors_of(batch_sizes(a), SymIntArrayRef(batch).expect_ints());
    const Tensor factors = lu, swaps = pivots;
    visit_matrix_type(a.dtype(), [&]<class T>() {
      for_each_matrix(columns, [&](int64_t i) {
        const int64_t k = factors_of(i);
        solve_by_lu<T>(matrix_at<T>(factors, k), vector_at<int32_t>(swaps, k, a.size(-1)),
                       of_transposed == left, matrix_at<T>(columns, i));
      });
    });
    if (vectors) copy_elements(result, squeeze_dim(columns, -1));
  }
  return {result, lu, pivots, info};
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_factorization(m, _linalg_solve_ex, solve_kernel<true>, solve_kernel<false>, "result",
                       {"result", "LU", "pivots", "info"});
  define(m, linalg_solve_ex)
      .composed([](const Tensor& a, const Tensor& b, bool left, bool check) -> Two {
        const auto [result, lu, pivots, info] = _linalg_solve_ex(a, b, left, check);
        return {result, info};
      })
      .out("out", {"result", "info"},
           {.dtype = OutDType::Exact,
            .keep_strides = true,
            .key = DispatchKey::CompositeExplicitAutograd});
  define(m, linalg_solve)
      .composed([](const Tensor& a, const Tensor& b, bool left) {
        const auto [result, info] = linalg_solve_ex(a, b, left, false);
        check_errors("linalg.solve", info, true);
        return result;
      })
      .out(linalg_solve_out, kStructuredOut);
}

}  // namespace sb
