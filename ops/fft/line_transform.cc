#include "switchboard/ops/fft/line_transform.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "switchboard/core/error.h"

namespace sb {
namespace {

using Real = LineTransform::Real;
using Complex = LineTransform::Complex;

// Eigen counts in ints, and a chirp doubles the length once or twice.
constexpr int64_t kLargestSize = int64_t{1} << 27;
// Up to here a prime factor costs less than a chirp does.
constexpr int64_t kLargestFactor = 64;

int64_t largest_prime_factor(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return std::max(largest, n);
}

Eigen::FFT<Real> unscaled() {
  return {Eigen::default_fft_impl<Real>(), Eigen::FFT<Real>::Unscaled};
}

}  // namespace

void check_points(int64_t points) {
  SB_CHECK(points >= 1 && points <= kLargestSize, "Fourier transform: expected from 1 to ",
           kLargestSize, " numbers in a dimension, got ", points);
}

LineTransform::Chirp::Chirp(int64_t size, bool forward) {
  const auto n = static_cast<size_t>(size);
  factors.resize(n);
  for (size_t k = 0; k < n; ++k) {
    // Of k^2 only the rest counts, whose angle is exact.
    const auto turn = static_cast<double>(k * k % (2 * n)) / static_cast<double>(n);
    factors[k] = std::polar<Real>(1, (forward ? -1 : 1) * std::numbers::pi * turn);
  }
  std::vector<Complex> around(std::bit_ceil(2 * n - 1));
  // So that the product of two transforms has the scale of one that is undone.
  const Real scale = 1 / static_cast<double>(around.size());
  around[0] = std::conj(factors[0]) * scale;
  for (size_t k = 1; k < n; ++k) {
    around[k] = around[around.size() - k] = std::conj(factors[k]) * scale;
  }
  spectrum.resize(around.size());
  unscaled().fwd(spectrum.data(), around.data(), static_cast<Eigen::Index>(around.size()));
}

LineTransform::LineTransform(int64_t size, bool forward)
    : size_(size), forward_(forward), fft_(unscaled()) {
  check_points(size);
  if (largest_prime_factor(size) > kLargestFactor) {
    chirp_ = std::make_shared<const Chirp>(size, forward);
  }
}

void LineTransform::run(const Complex* from, Complex* to) {
  if (size_ == 1) {  // for which Eigen has no plan
    to[0] = from[0];
    return;
  }
  if (!chirp_) {
    if (forward_) {
      fft_.fwd(to, from, size_);
    } else {
      fft_.inv(to, from, size_);
    }
    return;
  }
  const auto n = static_cast<size_t>(size_), m = chirp_->spectrum.size();
  const auto length = static_cast<Eigen::Index>(m);
  padded_.assign(m, Complex());
  transformed_.resize(m);
  for (size_t k = 0; k < n; ++k) padded_[k] = from[k] * chirp_->factors[k];
  fft_.fwd(transformed_.data(), padded_.data(), length);
  for (size_t k = 0; k < m; ++k) transformed_[k] *= chirp_->spectrum[k];
  fft_.inv(padded_.data(), transformed_.data(), length);
  for (size_t k = 0; k < n; ++k) to[k] = padded_[k] * chirp_->factors[k];
}

void LineTransform::run(const Real* from, Complex* to) {
  if (size_ > 1 && !chirp_) return fft_.fwd(to, from, size_);
  whole_.assign(from, from + size_);
  run(whole_.data(), to);
}

void LineTransform::run(const Complex* from, Real* to) {
  if (size_ > 1 && !chirp_) return fft_.inv(to, from, size_);
  const auto n = static_cast<size_t>(size_);
  whole_.resize(2 * n);
  Complex* const result = whole_.data() + n;
  std::copy(from, from + n / 2 + 1, whole_.begin());
  for (size_t k = n / 2 + 1; k < n; ++k) whole_[k] = std::conj(whole_[n - k]);
  run(whole_.data(), result);
  for (size_t k = 0; k < n; ++k) to[k] = result[k].real();
}

}  // namespace sb
