// A matrix of bfloat16 times a vector: each number of the matrix is read once, so that a copy of it
// in float32 would take longer than the product.

#include <algorithm>
#include <cstring>

#include "Eigen/Core"
#include "switchboard/ops/cpu/gemm_kernels.h"

namespace sb {
namespace {

using Eigen::internal::pmadd;
using Floats = Eigen::internal::packet_traits<float>::type;
constexpr int64_t kLanes = Eigen::internal::packet_traits<float>::size;
using Words [[gnu::vector_size(sizeof(Floats))]] = uint32_t;

// As many numbers as two vectors hold, of which a word has two: bfloat16 is the upper half of a
// float32.
struct Numbers {
  Floats first;
  Floats second;

  explicit Numbers(const uint16_t* from) {
    Words words;
    std::memcpy(&words, from, sizeof(words));
    const Words lower = words << 16, upper = words & 0xffff0000;
    std::memcpy(&first, &lower, sizeof(first));
    std::memcpy(&second, &upper, sizeof(second));
  }
};

float number(uint16_t bits) {
  const uint32_t word = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

// Each of n rows times the vector, in the same order whatever n is.
template <int n>
void multiply_rows(float alpha, const MatrixRef& a, int64_t row, const uint16_t* vector, float beta,
                   float* out) {
  const uint16_t* rows[n];
  Floats first[n], second[n];
  for (int i = 0; i < n; ++i) {
    rows[i] = static_cast<const uint16_t*>(a.data) + (row + i) * a.row_stride;
    first[i] = second[i] = Eigen::internal::pset1<Floats>(0.0f);
  }
  int64_t k = 0;
  for (; k + 2 * kLanes <= a.cols; k += 2 * kLanes) {
    const Numbers factors(vector + k);
    for (int i = 0; i < n; ++i) {
      const Numbers numbers(rows[i] + k);
      first[i] = pmadd(numbers.first, factors.first, first[i]);
      second[i] = pmadd(numbers.second, factors.second, second[i]);
    }
  }
  for (int i = 0; i < n; ++i) {
    float sum = Eigen::internal::predux(Eigen::internal::padd(first[i], second[i]));
    for (int64_t rest = k; rest < a.cols; ++rest)
      sum += number(rows[i][rest]) * number(vector[rest]);
    out[i] = beta == 0 ? alpha * sum : alpha * sum + beta * out[i];
  }
}

void product(const void* alpha_value, const MatrixRef& a, const MatrixRef& b,
             const void* beta_value, const MatrixRef& c) {
  const float alpha = *static_cast<const float*>(alpha_value),
              beta = *static_cast<const float*>(beta_value);
  const auto* const vector = static_cast<const uint16_t*>(b.data);
  auto* const out = static_cast<float*>(c.data);
  constexpr int kAtOnce = 4;
  int64_t row = 0;
  for (; row + kAtOnce <= c.rows; row += kAtOnce)
    multiply_rows<kAtOnce>(alpha, a, row, vector, beta, out + row);
  for (; row < c.rows; ++row) multiply_rows<1>(alpha, a, row, vector, beta, out + row);
}

}  // namespace

SB_CPU_KERNEL(GemmKernels, gemm_bfloat16_kernels, {&product, nullptr});

}  // namespace sb
