#include "switchboard/ops/linalg/householder.h"

#include <cmath>

#include "switchboard/ops/define/define.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/lapack/lapack.h"

namespace sb {
namespace {

void check_type(const char* op, const Tensor& t) {
  SB_CHECK_NOT_IMPLEMENTED(is_matrix_dtype(t.dtype()), op, ": not implemented for ",
                           to_string(t.dtype()));
}
void check_fits(const char* op, const Tensor& a, const Tensor& other) {
  check_defined(op, other);
  SB_CHECK(other.dtype() == a.dtype() && other.device() == a.device(), op,
           ": expected tensors of one dtype and device, got ", a.describe(), " and ",
           other.describe());
}
// A batch of vectors, as large as a's.
void check_tau(const char* op, const Tensor& a, const Tensor& tau) {
  check_defined(op, a);
  check_fits(op, a, tau);
  SB_CHECK(a.dim() >= 2, op, ": expected at least 2 dimensions, got ", a.describe());
  SB_CHECK(tau.dim() == a.dim() - 1, op, ": tau: expected one dimension less than ", a.describe(),
           ", got ", tau.describe());
  const SymIntArrayRef sizes = tau.sym_sizes();
  SB_CHECK(equal_sizes<SymInt>(sizes.first(sizes.size() - 1), sym_batch_sizes(a)), op,
           ": tau: expected the batch of ", a.describe(), ", got ", tau.describe());
}

// Makes c what Q c is, or Q^H c.
template <class T>
void apply_reflections(Eigen::Map<ColumnMajor<T>> a, const T* tau, int64_t count, bool adjoint,
                       Eigen::Map<ColumnMajor<T>> c) {
  for (int64_t k = 0; k < count; ++k) {
    const Eigen::Index i = adjoint ? k : count - 1 - k, below = a.rows() - i - 1;
    const T factor = adjoint ? Eigen::numext::conj(tau[i]) : tau[i];
    const auto v = a.col(i).tail(below);
    auto rest = c.bottomRows(below);
    const Eigen::Matrix<T, 1, Eigen::Dynamic> w = c.row(i) + v.adjoint() * rest;
    c.row(i) -= factor * w;
    rest.noalias() -= factor * (v * w);
  }
}

Tensor column_major_copy(const Tensor& t) {
  const Tensor copy = empty_matrices(t, t.size(-2), t.size(-1));
  copy_elements(copy, t);
  return copy;
}

template <bool with_data>
Tensor product_kernel(const Tensor& input, const Tensor& tau) {
  constexpr const char* op = "linalg_householder_product";
  check_tau(op, input, tau);
  SB_CHECK(input.sym_size(-2) >= input.sym_size(-1), op,
           ": input: expected at least as many rows as columns, got ", input.describe());
  SB_CHECK(input.sym_size(-1) >= tau.sym_size(-1), op, ": tau: expected at most ",
           input.sym_size(-1).to_string(), " factors, got ", tau.describe());
  check_type(op, input);
  const Tensor result = empty_matrices(input, input.sym_size(-2), input.sym_size(-1));
  if (!with_data || result.numel() == 0) return result;
  const Tensor a = column_major_copy(input), factors = clone(tau, MemoryFormat::Contiguous);
  const int64_t count = tau.size(-1);
  visit_matrix_type(input.dtype(), [&]<class T>() {
    for_each_matrix(result, [&](int64_t i) {
      auto q = matrix_at<T>(result, i);
      q.setIdentity();
      apply_reflections<T>(matrix_at<T>(a, i), vector_at<T>(factors, i, count), count, false, q);
    });
  });
  return result;
}

// With left alone: C Q is (Q^H C^H)^H.
template <bool with_data>
Tensor ormqr_kernel(const Tensor& self, const Tensor& tau, const Tensor& other, bool left,
                    bool transposed) {
  constexpr const char* op = "ormqr";
  check_tau(op, self, tau);
  check_fits(op, self, other);
  SB_CHECK(other.dim() == self.dim() &&
               equal_sizes<SymInt>(sym_batch_sizes(other), sym_batch_sizes(self)),
           op, ": input3: expected the batch of ", self.describe(), ", got ", other.describe());
  const SymInt size = other.sym_size(left ? -2 : -1), count = tau.sym_size(-1);
  SB_CHECK(size >= count, op, ": input3: expected at least ", count.to_string(),
           left ? " rows" : " columns", ", got ", other.describe());
  SB_CHECK(self.sym_size(-2) == size, op, ": input3: expected ", self.sym_size(-2).to_string(),
           left ? " rows" : " columns", ", got ", other.describe());
  SB_CHECK(count == sym_min(size, self.sym_size(-1)), op, ": input2: expected ",
           sym_min(size, self.sym_size(-1)).to_string(), " factors, got ", tau.describe());
  check_type(op, self);
  const Tensor result = empty_matrices(other, other.sym_size(-2), other.sym_size(-1));
  if (!with_data || result.numel() == 0) return result;
  copy_elements(result, other);
  const Tensor a = column_major_copy(self), factors = clone(tau, MemoryFormat::Contiguous);
  const int64_t n = tau.size(-1);
  visit_matrix_type(self.dtype(), [&]<class T>() {
    for_each_matrix(result, [&](int64_t i) {
      const auto reflections = matrix_at<T>(a, i);
      const T* const scale = vector_at<T>(factors, i, n);
      auto c = matrix_at<T>(result, i);
      if (left) return apply_reflections<T>(reflections, scale, n, transposed, c);
      ColumnMajor<T> turned = c.adjoint();
      apply_reflections<T>(reflections, scale, n, !transposed,
                           {turned.data(), turned.rows(), turned.cols()});
      c = turned.adjoint();
    });
  });
  return result;
}

// As LAPACK's geqr2.
template <class T>
void reflect_columns(Eigen::Map<ColumnMajor<T>> a, T* tau) {
  const Eigen::Index count = std::min(a.rows(), a.cols());
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::Index below = a.rows() - i - 1, right = a.cols() - i - 1;
    auto v = a.col(i).tail(below);
    const T alpha = a(i, i);
    if (v.squaredNorm() == 0 && Eigen::numext::imag(alpha) == 0) {
      tau[i] = 0;
      continue;
    }
    const auto norm = a.col(i).tail(below + 1).norm();
    const auto beta = Eigen::numext::real(alpha) > 0 ? -norm : norm;
    tau[i] = (T(beta) - alpha) / T(beta);
    v /= alpha - T(beta);
    a(i, i) = T(beta);
    auto row = a.row(i).tail(right);
    auto rest = a.bottomRightCorner(below, right);
    const T factor = Eigen::numext::conj(tau[i]);
    const Eigen::Matrix<T, 1, Eigen::Dynamic> w = row + v.adjoint() * rest;
    row -= factor * w;
    rest.noalias() -= factor * (v * w);
  }
}

template <bool with_data>
Two geqrf_kernel(const Tensor& self) {
  constexpr const char* op = "geqrf";
  check_defined(op, self);
  SB_CHECK(self.dim() >= 2, op, ": expected at least 2 dimensions, got ", self.describe());
  check_type(op, self);
  const SymInt rows = self.sym_size(-2), cols = self.sym_size(-1);
  const Tensor a = empty_matrices(self, rows, cols);
  const Tensor tau = empty_batch(self, {sym_min(rows, cols)}, self.dtype());
  if (!with_data || a.numel() == 0) return {a, tau};
  copy_elements(a, self);
  visit_matrix_type(self.dtype(), [&]<class T>() {
    for_each_matrix(a, [&](int64_t i) {
      auto factors = matrix_at<T>(a, i);
      T* const scale = vector_at<T>(tau, i, tau.size(-1));
      if (lapack::is_available())
        lapack::geqrf(factors.rows(), factors.cols(), factors.data(), scale);
      else
        reflect_columns<T>(factors, scale);
    });
  });
  return {a, tau};
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  constexpr OutOptions cast = {.dtype = OutDType::Cast, .keep_strides = true};
  define(m, geqrf).cpu(geqrf_kernel<true>).meta(geqrf_kernel<false>).out("a", {"a", "tau"}, cast);
  define(m, linalg_householder_product)
      .cpu(product_kernel<true>)
      .meta(product_kernel<false>)
      .out(linalg_householder_product_out, cast);
  define(m, orgqr)
      .composed([](const Tensor& self, const Tensor& tau) {
        return linalg_householder_product(self, tau);
      })
      .out(orgqr_out, cast);
  define(m, ormqr).cpu(ormqr_kernel<true>).meta(ormqr_kernel<false>).out(ormqr_out, cast);
}

}  // namespace sb
