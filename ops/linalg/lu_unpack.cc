#include <numeric>
#include <vector>

#include "switchboard/core/dtype_types.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/lu.h"

namespace sb {
namespace {

Tensor row_major(const Tensor& like, const SymInt& rows, const SymInt& cols) {
  const SymDimVector sizes = sym_batch_and(like, {rows, cols});
  return zeros(SymIntArrayRef(sizes), like.dtype(), std::nullopt, like.device());
}

// Writes 1 to (row, column) of each matrix where a row came from.
void permute_rows(const Tensor& pivots, int64_t rows, const Tensor& permutation) {
  const int64_t n = pivots.size(-1);
  const Tensor ones = empty_on(permutation.device(), {permutation.numel()}, DType::Int8);
  int8_t* const to = ones.data<int8_t>();
  std::fill_n(to, ones.numel(), int8_t{0});
  for (int64_t i = 0; i < num_matrices(permutation); ++i) {
    std::vector<int64_t> order(static_cast<size_t>(rows));
    std::iota(order.begin(), order.end(), int64_t{0});
    const int32_t* const swaps = vector_at<int32_t>(pivots, i, n);
    for (int64_t k = 0; k < n; ++k) {
      SB_CHECK(swaps[k] >= 1 && swaps[k] <= rows,
               "lu_unpack: argument LU_pivots: expected rows from 1 to ", rows, ", got ", swaps[k]);
      std::swap(order[static_cast<size_t>(k)], order[static_cast<size_t>(swaps[k] - 1)]);
    }
    for (int64_t k = 0; k < rows; ++k)
      to[(i * rows + order[static_cast<size_t>(k)]) * rows + k] = 1;
  }
  copy_elements(permutation, alias_with(ones, permutation.sizes(), permutation.strides(), 0));
}

template <class T>
void split(const Tensor& data, const Tensor& lower, const Tensor& upper) {
  const Tensor rows = clone(data, MemoryFormat::Contiguous);
  const int64_t m = data.size(-2), n = data.size(-1), k = lower.size(-1);
  const T* const from = rows.data<T>();
  for (int64_t i = 0; i < num_matrices(data); ++i) {
    T* const l = lower.data<T>() + i * m * k;
    T* const u = upper.data<T>() + i * k * n;
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        const T value = from[(i * m + r) * n + c];
        if (c < r) {
          if (c < k) l[r * k + c] = value;
        } else if (r < k) {
          u[r * n + c] = value;
        }
      }
      if (r < k) l[r * k + r] = T(1);
    }
  }
}

template <bool with_data>
Three unpack_kernel(const Tensor& data, const Tensor& pivots, bool unpack_data,
                    bool unpack_pivots) {
  constexpr const char* op = "lu_unpack";
  check_defined(op, data);
  check_defined(op, pivots);
  SB_CHECK(data.dim() >= 2, op, ": expected at least 2 dimensions, got ", data.describe());
  SB_CHECK(!unpack_pivots || pivots.dtype() == DType::Int32, op,
           ": argument LU_pivots: expected int32, got ", pivots.describe());
  const SymInt m = data.sym_size(-2), n = data.sym_size(-1), k = sym_min(m, n);
  const SymDimVector wanted = sym_batch_and(data, {k});
  SB_CHECK_VALUE(!unpack_pivots || equal_sizes<SymInt>(pivots.sym_sizes(), SymIntArrayRef(wanted)),
                 op, ": argument LU_pivots: expected the shape ",
                 shape_text(SymIntArrayRef(wanted)), ", got ", pivots.describe());
  const auto none = [&] { return empty_on(data.device(), {0}, data.dtype()); };
  const Tensor p = unpack_pivots ? row_major(data, m, m) : none();
  const Tensor l = unpack_data ? row_major(data, m, k) : none();
  const Tensor u = unpack_data ? row_major(data, k, n) : none();
  if constexpr (with_data) {
    if (unpack_pivots) permute_rows(clone(pivots, MemoryFormat::Contiguous), data.size(-2), p);
    if (unpack_data) visit_dtype(data.dtype(), [&]<class T>() { split<T>(data, l, u); });
  }
  return {p, l, u};
}

Three lu_of(const Tensor& a, bool pivot) {
  const auto [lu, pivots, info] = linalg_lu_factor_ex(a, pivot, false);
  return lu_unpack(lu, pivots, true, pivot);
}

Tensor logdet_of(const Tensor& self) {
  const auto [sign, log_of, lu, pivots] = _linalg_slogdet(self);
  if (is_complex(self.dtype())) return add(log(sign), log_of);
  return where_ScalarSelf(eq_Scalar(sign, -1), std::numeric_limits<double>::quiet_NaN(), log_of);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_factorization(m, lu_unpack, unpack_kernel<true>, unpack_kernel<false>, "out",
                       {"P", "L", "U"});
  define(m, linalg_lu, Tag::derived_through)
      .composite_explicit(lu_of)
      .out("out", {"P", "L", "U"}, kStructuredOut);
  define(m, logdet).composed(logdet_of);
}

}  // namespace sb
