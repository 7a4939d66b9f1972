#include "switchboard/ops/linalg/solve.h"

#include "Eigen/LU"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

bool has_vectors(const Tensor& a, const Tensor& b) {
  return b.dim() == 1 ||
         (b.dim() == a.dim() - 1 && b.sizes() == a.sizes().first(a.sizes().size() - 1));
}

// Solves M X = X, or M^T X = X, in place; lu and pivots are the factors of M.
template <class T>
void solve_in_place(Eigen::Map<ColumnMajor<T>> lu, const int32_t* pivots, bool transposed,
                    Eigen::Map<ColumnMajor<T>> x) {
  const auto swap = [&](Eigen::Index k) {
    const Eigen::Index other = pivots[k] - 1;
    if (other != k) x.row(k).swap(x.row(other));
  };
  if (transposed) {
    lu.template triangularView<Eigen::Upper>().transpose().solveInPlace(x);
    lu.template triangularView<Eigen::UnitLower>().transpose().solveInPlace(x);
    for (Eigen::Index k = x.rows(); k-- > 0;) swap(k);
  } else {
    for (Eigen::Index k = 0; k < x.rows(); ++k) swap(k);
    lu.template triangularView<Eigen::UnitLower>().solveInPlace(x);
    lu.template triangularView<Eigen::Upper>().solveInPlace(x);
  }
}

// The index of each matrix of a batch of `sizes` in a batch that is broadcast to it.
class BroadcastIndex {
 public:
  BroadcastIndex(IntArrayRef batch, IntArrayRef sizes) : sizes_(sizes.begin(), sizes.end()) {
    steps_.resize(sizes.size(), 0);
    int64_t step = 1;
    for (size_t d = batch.size(); d-- > 0; step *= batch[d]) {
      if (batch[d] != 1) steps_[sizes.size() - batch.size() + d] = step;
    }
  }
  int64_t operator()(int64_t i) const {
    int64_t result = 0;
    for (size_t d = sizes_.size(); d-- > 0; i /= sizes_[d]) result += i % sizes_[d] * steps_[d];
    return result;
  }

 private:
  DimVector sizes_, steps_;
};

// A tensor of these sizes, as a batch of column-major matrices where they are two or more.
Tensor empty_column_major(const Tensor& like, IntArrayRef sizes) {
  if (sizes.size() < 2) return empty_on(like.device(), sizes, like.dtype());
  DimVector swapped(sizes.begin(), sizes.end());
  std::swap(swapped[sizes.size() - 1], swapped[sizes.size() - 2]);
  return alias_transposed(empty_on(like.device(), swapped, like.dtype()), sizes.size() - 2,
                          sizes.size() - 1);
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
  SB_CHECK(matrices.dim() >= 2 && matrices.size(left ? -2 : -1) == a.size(-1), op,
           ": B: expected matrices of ", a.size(-1), left ? " rows" : " columns", ", got ",
           b.describe());
  const auto batch = broadcast_shapes(batch_sizes(a), batch_sizes(matrices));
  DimVector sizes(batch.begin(), batch.end());
  const int64_t n = a.size(-1), count = matrices.size(left ? -1 : -2);
  sizes.insert(sizes.end(), {n, count});
  // X, or its transposed, whose columns are what is solved for.
  const Tensor columns = empty_column_major(a, sizes);
  Tensor result = left ? columns : alias_transposed(columns, batch.size(), batch.size() + 1);
  if (vectors) {
    sizes.pop_back();
    result = empty_column_major(a, sizes);
  }

  const bool of_transposed = a.is_contiguous() && !is_complex(a.dtype());
  const auto rank = static_cast<size_t>(a.dim());
  const auto [lu, pivots, info] = linalg_lu_factor_ex(
      of_transposed ? alias_transposed(a, rank - 2, rank - 1) : a, /*pivot=*/true, false);
  check_errors("linalg.solve", info, check);
  if (with_data && columns.numel() != 0) {
    copy_elements(left ? columns : result, matrices);
    const BroadcastIndex factors_of(batch_sizes(a), batch);
    const Tensor factors = lu, swaps = pivots;
    visit_matrix_type(a.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < num_matrices(columns); ++i) {
        const int64_t k = factors_of(i);
        solve_in_place<T>(matrix_at<T>(factors, k), swaps.data<int32_t>() + k * n,
                          of_transposed == left, matrix_at<T>(columns, i));
      }
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
