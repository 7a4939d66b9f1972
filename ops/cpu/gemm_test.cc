#include "switchboard/ops/cpu/gemm.h"

#include <complex>
#include <random>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/dtype_types.h"
#include "switchboard/ops/cpu/parallel.h"

namespace sb {
namespace {

struct ThreadsGuard {
  int before = get_num_threads();
  ~ThreadsGuard() { set_num_threads(before); }
};

template <class T>
std::vector<T> random_values(int64_t n) {
  static std::mt19937 engine(1);
  std::uniform_int_distribution<int> small(-3, 3);
  std::vector<T> values(static_cast<size_t>(n));
  for (T& v : values) v = static_cast<T>(small(engine));
  return values;
}
MatrixRef row_major(const void* data, int64_t rows, int64_t cols) {
  return {const_cast<void*>(data), rows, cols, cols, 1};
}
template <class T>
T at(const MatrixRef& m, int64_t i, int64_t j) {
  return static_cast<const T*>(m.data)[i * m.row_stride + j * m.col_stride];
}

// Small integers, so that every order of summation gives the same.
template <class T>
void check_product(const MatrixRef& a, const MatrixRef& b, const MatrixRef& c,
                   const std::vector<T>& before, T alpha, T beta) {
  MatrixRef old = c;
  old.data = const_cast<T*>(before.data());
  bool same = true;
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int64_t j = 0; j < c.cols; ++j) {
      T sum(0);
      for (int64_t k = 0; k < a.cols; ++k) sum += at<T>(a, i, k) * at<T>(b, k, j);
      T expected = alpha * sum;
      if (beta != T(0)) expected += beta * at<T>(old, i, j);
      same = same && expected == at<T>(c, i, j);
    }
  }
  CHECK(same);
}

TEMPLATE_TEST_CASE("gemm multiplies matrices of all shapes, orders and factors", "", float, double,
                   std::complex<float>, int64_t, int32_t, int8_t) {
  const auto [m, k, n] = GENERATE(table<int64_t, int64_t, int64_t>({{1, 1, 1},
                                                                    {1, 40, 1},
                                                                    {5, 3, 7},
                                                                    {16, 16, 16},
                                                                    {17, 9, 5},
                                                                    {1, 30, 20},
                                                                    {20, 30, 1},
                                                                    {65, 300, 50}}));
  CAPTURE(m, k, n);
  const auto a = random_values<TestType>(2 * m * k);
  const auto b = random_values<TestType>(2 * k * n);
  const MatrixRef lefts[] = {row_major(a.data(), m, k),
                             row_major(a.data(), k, m).transposed(),
                             {const_cast<TestType*>(a.data()), m, k, 2 * k, 2}};
  const MatrixRef rights[] = {row_major(b.data(), k, n),
                              row_major(b.data(), n, k).transposed(),
                              {const_cast<TestType*>(b.data()), k, n, 2 * n, 2}};
  for (const MatrixRef& left : lefts) {
    for (const MatrixRef& right : rights) {
      for (int layout = 0; layout < 3; ++layout) {
        for (int factors = 0; factors < 2; ++factors) {
          auto values = random_values<TestType>(2 * m * n);
          const auto before = values;
          const MatrixRef results[] = {row_major(values.data(), m, n),
                                       row_major(values.data(), n, m).transposed(),
                                       {values.data(), m, n, 2 * n, 2}};
          const int alpha = factors == 0 ? 1 : 3;
          const int beta = factors == 0 ? 0 : 2;
          gemm(dtype_of<TestType>, alpha, left, right, beta, results[layout]);
          check_product<TestType>(left, right, results[layout], before,
                                  static_cast<TestType>(alpha), static_cast<TestType>(beta));
        }
      }
    }
  }
}

TEST_CASE("gemm sums products of bfloat16 in float32, and rounds once") {
  using Number = BFloat16;
  const auto [m, k, n] = GENERATE(table<int64_t, int64_t, int64_t>(
      {{1, 1, 1}, {1, 77, 9}, {9, 77, 1}, {3, 2, 3}, {50, 31, 17}, {96, 64, 40}, {130, 513, 3}}));
  CAPTURE(m, k, n);
  const auto a = random_values<Number>(2 * m * k + 1);
  const auto b = random_values<Number>(2 * k * n + 1);
  const MatrixRef lefts[] = {row_major(a.data(), m, k),
                             row_major(a.data() + 1, m, k),
                             row_major(a.data(), k, m).transposed(),
                             {const_cast<Number*>(a.data()), m, k, 2 * k, 2}};
  const MatrixRef rights[] = {row_major(b.data(), k, n),
                              row_major(b.data() + 1, k, n),
                              row_major(b.data(), n, k).transposed(),
                              {const_cast<Number*>(b.data()), k, n, 2 * n, 2}};
  for (const MatrixRef& left : lefts) {
    for (const MatrixRef& right : rights) {
      for (const bool transposed : {false, true}) {
        std::vector<Number> values(static_cast<size_t>(m * n), Number(2));
        const MatrixRef result = transposed ? row_major(values.data(), n, m).transposed()
                                            : row_major(values.data(), m, n);
        gemm(DType::BFloat16, 1, left, right, 3, result);
        bool same = true;
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            float sum = 6;  // small integers are exact
            for (int64_t l = 0; l < k; ++l) {
              sum += static_cast<float>(at<Number>(left, i, l)) *
                     static_cast<float>(at<Number>(right, l, j));
            }
            same = same && at<Number>(result, i, j) == Number(sum);
          }
        }
        CHECK(same);
      }
    }
  }
}

TEST_CASE("the product does not depend on the number of threads, to the last bit") {
  const ThreadsGuard guard;
  std::mt19937 engine(2);
  std::normal_distribution<float> normal;
  const auto [m, k, n] = GENERATE(table<int64_t, int64_t, int64_t>({{300, 200, 700},
                                                                    {700, 200, 301},
                                                                    {1003, 300, 16},
                                                                    {16, 300, 1003},
                                                                    {1, 300000, 1},
                                                                    {2001, 1000, 1},
                                                                    {1, 1000, 2000}}));
  std::vector<float> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n));
  for (float& v : a) v = normal(engine);
  for (float& v : b) v = normal(engine);
  std::vector<std::vector<float>> results;
  for (int threads : {1, 2, 5}) {
    set_num_threads(threads);
    std::vector<float> c(static_cast<size_t>(m * n));
    gemm(DType::Float32, 1, row_major(a.data(), m, k), row_major(b.data(), k, n), 0,
         row_major(c.data(), m, n));
    results.push_back(c);
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

TEST_CASE("a batch against one matrix is multiplied as its matrices are") {
  const int64_t count = 3, m = 20, k = 30, n = 25;
  const auto a = random_values<float>(count * m * k);
  const auto b = random_values<float>(k * n);
  std::vector<float> c(static_cast<size_t>(count * m * n));
  MatrixRef left = row_major(a.data(), m, k);
  MatrixRef right = row_major(b.data(), k, n);
  MatrixRef result = row_major(c.data(), m, n);
  left.count = right.count = result.count = count;
  left.batch_stride = m * k;
  result.batch_stride = m * n;
  const bool transposed = GENERATE(false, true);
  if (transposed) {
    std::vector<float> flipped(c.size());
    MatrixRef flipped_result = {flipped.data(), n, m, 1, n, count, m * n};
    gemm(DType::Float32, 1, right.transposed(), left.transposed(), 0, flipped_result);
    c = flipped;
  } else {
    gemm(DType::Float32, 1, left, right, 0, result);
  }
  for (int64_t i = 0; i < count; ++i) {
    check_product<float>(row_major(a.data() + i * m * k, m, k), right,
                         row_major(c.data() + i * m * n, m, n), {}, 1, 0);
  }
}

}  // namespace
}  // namespace sb
