// The derivatives of Fourier transforms against finite differences, first and second.

#include <cmath>
#include <complex>
#include <optional>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/fft/short_time.h"
#include "switchboard/ops/fft/spectra.h"
#include "switchboard/ops/fft/transforms.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using Tensors = std::vector<Tensor>;
using test::tensor_of;

double number(int64_t i) { return std::sin(1 + 1.7 * static_cast<double>(i * i)); }

Tensor signal(std::vector<int64_t> sizes) {
  Tensor t = tensor_of(std::move(sizes), {}, DType::Float64);
  for (int64_t i = 0; i < t.numel(); ++i) t.data<double>()[i] = number(i);
  set_requires_grad(t);
  return t;
}
Tensor spectrum(std::vector<int64_t> sizes) {
  Tensor t = tensor_of(std::move(sizes), {}, DType::Complex128);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.data<std::complex<double>>()[i] = {number(i), number(i + 50)};
  set_requires_grad(t);
  return t;
}

template <class F>
void check(const F& f, const Tensor& input) {
  const DifferentiableFunction wrapped = [&](const Tensors& in) { return Tensors{f(in[0])}; };
  gradcheck(wrapped, {input});
  gradgradcheck(wrapped, {input});
}

TEST_CASE("complex transforms have derivatives in both directions and all norms") {
  const int64_t norm = GENERATE(0, 1, 2);
  const bool forward = GENERATE(false, true);
  check([&](const Tensor& t) { return _fft_c2c(t, {1}, norm, forward); }, spectrum({2, 3}));
  check([&](const Tensor& t) { return _fft_c2c(t, {0, 2}, norm, forward); }, spectrum({2, 1, 4}));
  check([&](const Tensor& t) { return _fft_c2c(t, {}, norm, forward); }, spectrum({2}));
}

TEST_CASE("transforms of real signals have derivatives, of whole and of half spectra") {
  const int64_t norm = GENERATE(0, 1, 2), points = GENERATE(1, 2, 4, 5);
  const bool onesided = GENERATE(false, true);
  check([&](const Tensor& t) { return _fft_r2c(t, {1}, norm, onesided); }, signal({2, points}));
  check([&](const Tensor& t) { return _fft_r2c(t, {1, 0}, norm, onesided); }, signal({points, 3}));
}

TEST_CASE("transforms to real signals have derivatives, also by spectra that are too long") {
  const int64_t norm = GENERATE(0, 1, 2), points = GENERATE(1, 2, 4, 5);
  check([&](const Tensor& t) { return _fft_c2r(t, {1}, norm, points); },
        spectrum({2, points / 2 + 1}));
  check(
      [&](const Tensor& t) {
        return _fft_c2r(t, {1, 0}, norm, points);
      },
      spectrum({points / 2 + 1, 2}));
  check([&](const Tensor& t) { return _fft_c2r(t, {0}, norm, points); }, spectrum({4}));
}

TEST_CASE("spectra have the derivatives of the transforms that they are made of") {
  check([](const Tensor& t) { return fft_fft(t, 4); }, signal({2, 3}));
  check([](const Tensor& t) { return fft_ifft(t, 2); }, signal({2, 3}));
  check([](const Tensor& t) { return fft_rfft2(t); }, signal({2, 3}));
  check([](const Tensor& t) { return fft_irfft(t); }, spectrum({2, 3}));
  check([](const Tensor& t) { return fft_hfft(t, 5); }, spectrum({2, 3}));
  check([](const Tensor& t) { return fft_ihfft(t); }, signal({4}));
  check([](const Tensor& t) { return fft_fftshift(t); }, signal({2, 3}));
}

TEST_CASE("short-time transforms have derivatives there and back") {
  const Tensor window = tensor_of({4}, {0.5, 1, 1, 0.5}, DType::Float64);
  check(
      [&](const Tensor& t) {
        return stft_center(t, 4, 2, std::nullopt, window, true, "reflect", false, std::nullopt,
                           true);
      },
      signal({7}));
  check([&](const Tensor& t) { return istft(t, 4, 2, std::nullopt, window); }, spectrum({3, 4}));
}

}  // namespace
}  // namespace sb
