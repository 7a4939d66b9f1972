// For tests of formulas: leaves, and first and second derivatives against finite differences.

#ifndef SWITCHBOARD_TESTS_GRADIENTS_TEST_DERIVATIVES_H_
#define SWITCHBOARD_TESTS_GRADIENTS_TEST_DERIVATIVES_H_

#include <cmath>
#include <complex>
#include <functional>
#include <utility>
#include <vector>

#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/testing/places.h"

namespace sb::test {

using Tensors = std::vector<Tensor>;

// Numbers between 0.3 and 1.7, all different.
inline Tensor numbers(std::vector<int64_t> sizes, double start, DType dtype = DType::Float64) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(1 + 0.7 * std::sin(start + 1.7 * static_cast<double>(i * i)));
  const Tensor real = tensor_of(sizes, values, dtype);
  if (!is_complex(dtype)) return real;
  const Tensor other = numbers(std::move(sizes), start + 0.5, DType::Float64);
  return add(real, mul_Scalar(other, std::complex<double>(0, 1)));
}
inline Tensor leaf(std::vector<int64_t> sizes, double start = 1, DType dtype = DType::Float64) {
  const Tensor t = numbers(std::move(sizes), start, dtype);
  set_requires_grad(t);
  return t;
}
inline Tensor leaf_of(std::vector<int64_t> sizes, const std::vector<double>& values) {
  const Tensor t = tensor_of(std::move(sizes), values, DType::Float64);
  set_requires_grad(t);
  return t;
}

// Numbers of both signs, without a pattern, no two the same; other ones for another seed.
inline Tensor signed_numbers(std::vector<int64_t> sizes, int seed) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  std::vector<double> values;
  for (int64_t i = 1; i <= n; ++i)
    values.push_back(2 * std::sin(static_cast<double>(i * i) * (1.37 + 0.21 * seed)));
  return tensor_of(std::move(sizes), values, DType::Float64);
}
inline Tensor signed_leaf(std::vector<int64_t> sizes, int seed = 0) {
  const Tensor t = signed_numbers(std::move(sizes), seed);
  set_requires_grad(t);
  return t;
}
inline Tensor complex_leaf(const std::vector<int64_t>& sizes, int seed = 0) {
  const Tensor imaginary = mul_Scalar(signed_numbers(sizes, seed + 7), std::complex<double>(0, 1));
  const Tensor t = add(signed_numbers(sizes, seed), imaginary);
  set_requires_grad(t);
  return t;
}

// Throws GradcheckError where a derivative of f is not that of finite differences.
inline void check_all(const DifferentiableFunction& f, const Tensors& inputs) {
  gradcheck(f, inputs);
  gradgradcheck(f, inputs);
}
// The same for one input; and for one result.
inline void check_all(const DifferentiableFunction& f, const Tensor& input) {
  check_all(f, Tensors{input});
}
inline void check_all(const std::function<Tensor(const Tensor&)>& f, const Tensor& input) {
  check_all([&](const Tensors& in) { return Tensors{f(in[0])}; }, Tensors{input});
}
// For one result of several inputs.
inline void check(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs) {
  check_all([&](const Tensors& in) { return Tensors{f(in)}; }, inputs);
}

}  // namespace sb::test

#endif  // SWITCHBOARD_TESTS_GRADIENTS_TEST_DERIVATIVES_H_
