// The discrete Fourier transform of one line of numbers, by Eigen, in double precision. Included by
// .cc files only: it brings Eigen in.

#ifndef SWITCHBOARD_OPS_FFT_LINE_TRANSFORM_H_
#define SWITCHBOARD_OPS_FFT_LINE_TRANSFORM_H_

#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "unsupported/Eigen/FFT"

namespace sb {

// Apart from sb::exp and the others, which are operators.
namespace plain {

// A double, of which std::complex multiplies as schools teach: for its own three types it looks for
// NaN after each product, which takes longer than the product.
class Real {
 public:
  Real(double value = 0) : value_(value) {}  // NOLINT: as double itself
  explicit operator double() const { return value_; }

  Real operator-() const { return -value_; }
  Real& operator+=(Real x) { return value_ += x.value_, *this; }
  Real& operator-=(Real x) { return value_ -= x.value_, *this; }
  Real& operator*=(Real x) { return value_ *= x.value_, *this; }
  friend Real operator+(Real x, Real y) { return x.value_ + y.value_; }
  friend Real operator-(Real x, Real y) { return x.value_ - y.value_; }
  friend Real operator*(Real x, Real y) { return x.value_ * y.value_; }
  friend Real operator/(Real x, Real y) { return x.value_ / y.value_; }
  friend bool operator>=(Real x, Real y) { return x.value_ >= y.value_; }
  friend Real exp(Real x) { return std::exp(x.value_); }
  friend Real sin(Real x) { return std::sin(x.value_); }
  friend Real cos(Real x) { return std::cos(x.value_); }
  friend Real acos(Real x) { return std::acos(x.value_); }

 private:
  double value_;
};

}  // namespace plain

// RuntimeError for less than 1 and for more than 2^27 numbers in a line.
void check_points(int64_t points);

// Transforms of `size` numbers, at least 1, in one direction, not scaled. The first run makes a
// plan, and the buffers that it needs, which a copy takes along. Not to be run by two threads at
// once: each has its copy.
class LineTransform {
 public:
  using Real = plain::Real;
  using Complex = std::complex<Real>;

  // As check_points.
  LineTransform(int64_t size, bool forward);

  // to[j] = sum over k of from[k] exp(-2 pi i j k / size), or with +2 pi i where not forward. The
  // two may not overlap.
  void run(const Complex* from, Complex* to);
  // The same, of real numbers; forward.
  void run(const Real* from, Complex* to);
  // The same, of which the first size / 2 + 1 numbers are given, and the others are the conjugates
  // of these: the result is real; not forward. As in PyTorch, the imaginary parts of numbers that
  // would have to be their own conjugates do not count.
  void run(const Complex* from, Real* to);

 private:
  // What a length with a large prime factor p takes, which Eigen would need p steps a number for: a
  // convolution with a chirp, whose length is a power of two. As Bluestein.
  struct Chirp {
    Chirp(int64_t size, bool forward);
    std::vector<Complex> factors;   // exp(-+ pi i k^2 / size)
    std::vector<Complex> spectrum;  // of their conjugates, around 0
  };

  int64_t size_;
  bool forward_;
  Eigen::FFT<Real> fft_;
  std::shared_ptr<const Chirp> chirp_;
  std::vector<Complex> padded_, transformed_, whole_;
};

}  // namespace sb

#endif  // SWITCHBOARD_OPS_FFT_LINE_TRANSFORM_H_
