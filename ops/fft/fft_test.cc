#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "catch2/catch.hpp"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/fft/fftw.h"
#include "switchboard/ops/fft/line_transform.h"
#include "switchboard/ops/fft/short_time.h"
#include "switchboard/ops/fft/spectra.h"
#include "switchboard/ops/fft/transforms.h"
#include "switchboard/ops/fft/windows.h"
#include "switchboard/ops/indexing/pad.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Matchers::WithinAbs;
using test::sizes_of;
using test::strides_of;
using test::tensor_of;
using test::values_of;
using Complex = std::complex<double>;

std::vector<Complex> some_numbers(int64_t n) {
  std::vector<Complex> x;
  for (int64_t i = 0; i < n; ++i) {
    const auto t = static_cast<double>(i);
    x.emplace_back(std::sin(3 * t + 1), std::cos(t * t));
  }
  return x;
}
Complex number_at_frequency(const std::vector<Complex>& x, size_t j, bool forward) {
  Complex sum = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    const auto turn = static_cast<double>(j * k % x.size()) / static_cast<double>(x.size());
    sum += x[k] * std::polar(1.0, (forward ? -2 : 2) * std::numbers::pi * turn);
  }
  return sum;
}
Tensor complex_tensor(std::vector<int64_t> sizes, DType dtype = DType::Complex128) {
  sizes.push_back(2);
  std::vector<double> values;
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  for (const Complex& z : some_numbers(n / 2)) values.insert(values.end(), {z.real(), z.imag()});
  return view_as_complex(tensor_of(sizes, values, to_real(dtype)));
}
std::vector<double> parts_of(const Tensor& t) { return values_of(view_as_real(resolve_conj(t))); }
void check_close(const std::vector<double>& a, const std::vector<double>& b, double within) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= within)) CHECK_THAT(a[i], WithinAbs(b[i], within));
  }
}

std::vector<Complex> transformed(const std::vector<Complex>& x, bool forward) {
  std::vector<LineTransform::Complex> in, out(x.size());
  for (const Complex& z : x) in.emplace_back(z.real(), z.imag());
  LineTransform(static_cast<int64_t>(x.size()), forward).run(in.data(), out.data());
  std::vector<Complex> result;
  for (const auto& z : out) {
    result.emplace_back(static_cast<double>(z.real()), static_cast<double>(z.imag()));
  }
  return result;
}

TEST_CASE("a line's transform is the sum that defines it, for every length up to 70") {
  for (int64_t n = 1; n <= 70; ++n) {
    const std::vector<Complex> x = some_numbers(n);
    for (const bool forward : {true, false}) {
      const std::vector<Complex> y = transformed(x, forward);
      for (size_t j = 0; j < y.size(); ++j) {
        CHECK(std::abs(y[j] - number_at_frequency(x, j, forward)) < 1e-12);
      }
    }
  }
}

TEST_CASE("lengths with large prime factors are as exact") {
  for (const int64_t n : {int64_t{67}, int64_t{2 * 101}, int64_t{4 * 71}, int64_t{10007}}) {
    const std::vector<Complex> x = some_numbers(n);
    for (const bool forward : {true, false}) {
      const std::vector<Complex> y = transformed(x, forward);
      for (const size_t j : {size_t{0}, size_t{1}, x.size() / 2, x.size() - 1}) {
        CHECK(std::abs(y[j] - number_at_frequency(x, j, forward)) < 1e-9);
      }
    }
  }
}

TEST_CASE("a transform of more numbers than Eigen can count is refused") {
  CHECK_THROWS_AS(LineTransform((int64_t{1} << 27) + 1, true), RuntimeError);
  CHECK_THROWS_AS(LineTransform(0, true), RuntimeError);
}

TEST_CASE("the imaginary part of what must be real does not count, as the rest of a spectrum") {
  for (const int64_t n : {1, 2, 4, 6, 7, 134}) {
    const Tensor half = complex_tensor({n / 2 + 1});
    const Tensor more = complex_tensor({n / 2 + 3});
    const Tensor result = _fft_c2r(half, {0}, 2, n);
    CHECK(values_of(_fft_c2r(more, {0}, 2, n)) == values_of(result));
    const Tensor again = fft_irfft(fft_rfft(result), n);
    check_close(values_of(again), values_of(result), 1e-12);
  }
}

TEST_CASE("a spectrum that is too short for its signal is refused, with and without data") {
  for (const Device place : test::places()) {
    const Tensor half = empty_on(place, {2, 3}, DType::Complex64);
    CHECK(sizes_of(_fft_c2r(half, {1}, 0, 5)) == test::Sizes{2, 5});
    CHECK_THROWS_AS(_fft_c2r(half, {1}, 0, 6), RuntimeError);
    CHECK_THROWS_AS(_fft_c2r(half, {1}, 0, INT64_MAX), RuntimeError);
    CHECK_THROWS_AS(_fft_c2c(half, {1, 1}, 0, true), RuntimeError);
    CHECK_THROWS_AS(_fft_c2c(half, {-1}, 0, true), RuntimeError);
    CHECK_THROWS_AS(fft_fft(half, 0), RuntimeError);
    CHECK_THROWS_AS(fft_fft(half, INT64_MAX), RuntimeError);
    CHECK_THROWS_AS(fft_irfft(half, INT64_MAX), RuntimeError);
  }
}

TEST_CASE("every inverse undoes its transform in every normalization, whatever the strides") {
  const Tensor x = permute(complex_tensor({4, 5, 67, 2}), {2, 0, 3, 1});
  const Tensor r = real(x);
  for (const char* norm : {"backward", "ortho", "forward"}) {
    check_close(parts_of(fft_ifft(fft_fft(x, {}, 0, norm), {}, 0, norm)), parts_of(x), 1e-12);
    check_close(parts_of(fft_ifftn(fft_fftn(x, {}, {}, norm), {}, {}, norm)), parts_of(x), 1e-12);
    check_close(values_of(fft_irfftn(fft_rfftn(r, {}, {}, norm), r.sizes(), {}, norm)),
                values_of(r), 1e-12);
    check_close(values_of(fft_hfftn(fft_ihfftn(r, {}, {}, norm), r.sizes(), {}, norm)),
                values_of(r), 1e-12);
  }
  // A real signal's spectrum is the same by either way.
  check_close(parts_of(fft_fft(r, {}, 1)), parts_of(fft_fft(to_dtype(r, DType::Complex128), {}, 1)),
              1e-12);
  check_close(parts_of(_fft_r2c(r, {0, 1, 3}, 0, false)),
              parts_of(_fft_c2c(to_dtype(r, DType::Complex128), {0, 1, 3}, 0, true)), 1e-11);
}

TEST_CASE("transforms by FFTW and by Eigen are the same, and lines do not depend on each other") {
  REQUIRE(internal::FftwLine<double, Complex>::get(8, true));
  const auto by_eigen = [](const auto& f) {
    internal::set_fftw_enabled(false);
    const Tensor result = f();
    internal::set_fftw_enabled(true);
    return parts_of(result);
  };
  for (const int64_t n : {1, 2, 3, 8, 20, 32, 67, 100}) {
    const Tensor z = complex_tensor({19, n, 3});
    const Tensor views[] = {z, transpose(complex_tensor({3, n, 19}), 0, 2),
                            slice(complex_tensor({38, n, 3}), 0, 1, 38, 2)};
    for (const Tensor& x : views) {
      for (const int64_t dim : {0, 1, 2}) {
        const auto c2c = [&] { return _fft_c2c(x, {dim}, 1, false); };
        check_close(parts_of(c2c()), by_eigen(c2c), 1e-12);
        for (const bool onesided : {true, false}) {
          const auto r2c = [&] { return _fft_r2c(real(x), {dim}, 2, onesided); };
          check_close(parts_of(r2c()), by_eigen(r2c), 1e-12);
        }
        const auto c2r = [&] {
          return view_as_complex(stack({_fft_c2r(x, {dim}, 0, 2 * x.size(dim) - 1),
                                        _fft_c2r(x, {dim}, 0, 2 * x.size(dim) - 1)},
                                       -1));
        };
        check_close(parts_of(c2r()), by_eigen(c2r), 1e-10);
      }
    }
    const Tensor whole = _fft_c2c(z, {1}, 0, true);
    const Tensor line = _fft_c2c(slice(z, 0, 17, 18), {1}, 0, true);
    CHECK(parts_of(slice(whole, 0, 17, 18)) == parts_of(line));
  }
  const Tensor x = complex_tensor({4, 64}, DType::Complex64);
  check_close(parts_of(fft_fft(x)), by_eigen([&] { return fft_fft(x); }), 1e-5);
}

TEST_CASE("a line has the same bits alone and among others, however they lie") {
  for (const DType dtype : {DType::Complex64, DType::Complex128}) {
    for (const int64_t n : {2, 5, 16, 17, 20, 24, 25, 32, 64, 100}) {
      const Tensor z = complex_tensor({35, n}, dtype);
      const auto transforms = [&](const Tensor& x, int64_t dim) {
        return std::vector<Tensor>{_fft_c2c(x, {dim}, 0, true), _fft_r2c(real(x), {dim}, 0, true),
                                   _fft_c2r(x, {dim}, 0, 2 * n - 1)};
      };
      const std::vector<Tensor> rows = transforms(z, 1);
      const std::vector<Tensor> columns = transforms(contiguous(transpose(z, 0, 1)), 0);
      for (const int64_t line : {0, 15, 16, 34}) {
        const std::vector<Tensor> alone = transforms(slice(z, 0, line, line + 1), 1);
        for (size_t i = 0; i < rows.size(); ++i) {
          const auto bits = [&](const Tensor& t) {
            return values_of(is_complex(t.dtype()) ? view_as_real(t) : t);
          };
          INFO("kind " << i << ", " << n << " numbers, line " << line);
          CHECK(bits(slice(rows[i], 0, line, line + 1)) == bits(alone[i]));
          CHECK(bits(transpose(slice(columns[i], 1, line, line + 1), 0, 1)) == bits(alone[i]));
        }
      }
    }
  }
}

TEST_CASE("results do not depend on the number of threads") {
  const int before = get_num_threads();
  const Tensor x = complex_tensor({40, 64, 30}, DType::Complex64);
  set_num_threads(1);
  const Tensor alone = fft_fftn(x);
  set_num_threads(4);
  const Tensor together = fft_fftn(x);
  set_num_threads(before);
  CHECK(parts_of(alone) == parts_of(together));
}

TEST_CASE("float32 is exact to some of its last bits over a million points") {
  Tensor x = empty_on(DeviceType::CPU, {1 << 20}, DType::Float32);
  for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] = static_cast<float>(i % 3) + 1000;
  check_close(values_of(fft_irfft(fft_rfft(x), x.numel())), values_of(x), 1e-3);
}

TEST_CASE("an out may be the input") {
  const Tensor x = complex_tensor({6, 5});
  const Tensor expected = fft_fftn(x);
  fft_fftn_out(x, {}, {}, {}, x);
  CHECK(parts_of(x) == parts_of(expected));
}

TEST_CASE("results have the transformed dimensions innermost, with and without data") {
  for (const Device place : test::places()) {
    const Tensor x = empty_on(place, {10, 14, 22}, DType::Float32);
    const Tensor half = fft_rfft(x, {}, 1);
    CHECK(strides_of(half) == test::Sizes{176, 1, 8});
    CHECK(strides_of(fft_fft(x, {}, 1)) == test::Sizes{308, 1, 14});
    CHECK(strides_of(fft_irfft(half, {}, 1)) == test::Sizes{308, 1, 14});
    CHECK(strides_of(fft_rfft2(x, {}, {1, 0})) == test::Sizes{1, 6, 84});
    CHECK(strides_of(fft_fft2(x, {}, {1, 0})) == test::Sizes{14, 1, 140});
    CHECK(strides_of(fft_fftn(x)) == test::Sizes{308, 22, 1});
    CHECK(strides_of(fft_fft(transpose(x, 0, 2))) == test::Sizes{10, 220, 1});
  }
}

TEST_CASE("the spectrum of no points is 0") {
  const Tensor y = _fft_r2c(empty_on(DeviceType::CPU, {3, 0}, DType::Float32), {1}, 0, true);
  CHECK(parts_of(y) == std::vector<double>(6, 0.0));
}

TEST_CASE("transforms refuse what they cannot take by the kind of error that PyTorch has") {
  const auto spectrum = [](DType dtype, IntArrayRef dims) {
    return _fft_r2c(empty_on(DeviceType::CPU, {3, 4}, dtype), dims, 0, true);
  };
  CHECK_THROWS_AS(spectrum(DType::Int64, {1}), TypeError);
  CHECK_THROWS_AS(spectrum(DType::Float16, {1}), NotImplementedError);
  CHECK_THROWS_AS(spectrum(DType::Float32, {0, 1, 0}), RuntimeError);
  CHECK_THROWS_AS(spectrum(DType::Float32, {2}), RuntimeError);
}

TEST_CASE("frequencies turn negative in the middle, and shifting sorts them") {
  CHECK(values_of(fft_fftfreq(5, 0.5)) == values_of(tensor_of({5}, {0, 0.4f, 0.8f, -0.8f, -0.4f})));
  CHECK(values_of(fft_fftshift(fft_fftfreq(4, 0.25))) == std::vector<double>{-2, -1, 0, 1});
  CHECK(values_of(fft_ifftshift(fft_fftshift(fft_fftfreq(5, 0.2)))) ==
        std::vector<double>{0, 1, 2, -2, -1});
  CHECK(values_of(fft_rfftfreq(4, 0.25)) == std::vector<double>{0, 1, 2});
  CHECK_THROWS_AS(fft_fftfreq(4, 1, DType::Int64), RuntimeError);
  const Tensor out = tensor_of({2}, {7, 8});
  CHECK_THROWS_AS(fft_fftfreq_out(-1, 1, out), RuntimeError);
  CHECK(values_of(out) == std::vector<double>{7, 8});
}

TEST_CASE("a signal comes back from its short-time spectra, unless windows leave a gap") {
  const Tensor signal = real(complex_tensor({2, 40}));
  const Tensor window = tensor_of({6}, {1, 2, 3, 3, 2, 1}, DType::Float64);
  for (const bool onesided : {true, false}) {
    const Tensor spectra =
        stft_center(signal, 8, 2, 6, window, true, "reflect", true, onesided, true);
    CHECK(sizes_of(spectra) == test::Sizes{2, onesided ? 5 : 8, 21});
    check_close(values_of(istft(spectra, 8, 2, 6, window, true, true, onesided, 40)),
                values_of(signal), 1e-12);
    const Tensor longer = istft(spectra, 8, 2, {}, {}, true, true, onesided, 60);
    CHECK(sizes_of(longer) == test::Sizes{2, 60});
    CHECK(values_of(longer).back() == 0);
  }
  const Tensor gaps =
      stft(signal, 8, 6, 6, tensor_of({6}, {0, 0, 1, 1, 0, 0}, DType::Float64), false, true, true);
  CHECK_THROWS_AS(
      istft(gaps, 8, 6, 6, tensor_of({6}, {0, 0, 1, 1, 0, 0}, DType::Float64), false, false, true),
      RuntimeError);
}

TEST_CASE("a window of more places than numbers count is refused") {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  CHECK_THROWS_WITH(blackman_window(kMost),
                    Catch::Contains("blackman_window: argument window_length: no tensor has"));
}

TEST_CASE("frames that align to the window begin where it does") {
  const Tensor signal = real(complex_tensor({20}));
  const Tensor window = tensor_of({5}, {1, 2, 3, 2, 1}, DType::Float64);
  const Tensor filled = constant_pad_nd(signal, {1, 2}, 0);
  const auto spectra = [&](const Tensor& x, std::optional<bool> align, bool center = false) {
    return stft_center(x, 8, 2, 5, window, center, "reflect", false, true, true, align);
  };
  CHECK(parts_of(spectra(signal, true)) == parts_of(spectra(filled, false)));
  CHECK(parts_of(spectra(signal, false)) == parts_of(spectra(signal, {})));
  CHECK(parts_of(stft(signal, 8, 2, 5, window, false, true, true, true)) ==
        parts_of(spectra(filled, {})));
  CHECK_THROWS_WITH(spectra(signal, false, true), Catch::Contains("align_to_window"));
}

TEST_CASE("a window is symmetric, and a periodic one is a longer one without its end") {
  const auto check = [](const Tensor& whole, const Tensor& periodic, double middle) {
    const std::vector<double> w = values_of(whole);
    REQUIRE(w.size() == 9);
    for (size_t i = 0; i < 9; ++i) CHECK_THAT(w[i], WithinAbs(w[8 - i], 1e-6));
    CHECK_THAT(w[4], WithinAbs(middle, 1e-6));
    const std::vector<double> p = values_of(periodic);
    REQUIRE(p.size() == 8);
    for (size_t i = 0; i < 8; ++i) CHECK_THAT(p[i], WithinAbs(w[i], 1e-6));
  };
  check(bartlett_window_periodic(9, false), bartlett_window(8), 1);
  check(hann_window_periodic(9, false), hann_window(8), 1);
  check(hamming_window_periodic(9, false), hamming_window(8), 1);
  check(blackman_window_periodic(9, false), blackman_window(8), 1);
  check(kaiser_window_periodic(9, false), kaiser_window(8), 1);
  check(hamming_window_periodic_alpha_beta(9, false, 0.5, 0.25),
        hamming_window_periodic_alpha_beta(8, true, 0.5, 0.25), 0.75);
  CHECK(sizes_of(hann_window(0)) == test::Sizes{0});
  CHECK(values_of(kaiser_window_beta(1, true, 3)) == std::vector<double>{1});
  CHECK(hann_window(3, DType::Float64).dtype() == DType::Float64);
  CHECK_THROWS_WITH(hann_window(-1), Catch::Contains("hann_window: argument window_length"));
  CHECK_THROWS_WITH(hann_window(3, DType::Int64), Catch::Contains("hann_window: argument dtype"));
}

}  // namespace
}  // namespace sb
