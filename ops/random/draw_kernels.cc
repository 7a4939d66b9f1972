// std::sqrt would set errno, and GCC not vectorise it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-math-errno")
#endif

#include "switchboard/ops/random/draw_kernels.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "switchboard/ops/cpu/independent_loop.h"

namespace sb::internal {
namespace {

// The four words of each block, one array for each, so that a vector holds one word of several.
struct Words {
  alignas(64) uint32_t word[4][kDraws];
};

// The blocks of core/philox.h, as draw_kernels_test.cc shows. Random123's header, which that calls,
// has start-up code, by <iostream>, and no variant for a CPU capability may have any.
void philox_words(uint64_t seed, uint64_t first, Words& out, int64_t n) {
  uint32_t* const w0 = out.word[0];
  uint32_t* const w1 = out.word[1];
  uint32_t* const w2 = out.word[2];
  uint32_t* const w3 = out.word[3];
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    // The lower word overflows into the higher one.
    const uint32_t low = static_cast<uint32_t>(first) + static_cast<uint32_t>(i);
    w0[i] = low;
    w1[i] = static_cast<uint32_t>(first >> 32) + (low < static_cast<uint32_t>(first) ? 1U : 0U);
    w2[i] = 0;
    w3[i] = 0;
  }
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    uint32_t c0 = w0[i], c1 = w1[i], c2 = w2[i], c3 = w3[i];
    uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53} * c0, p1 = uint64_t{0xCD9E8D57} * c2;
      c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
      c1 = static_cast<uint32_t>(p1);
      c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c3 = static_cast<uint32_t>(p0);
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    w0[i] = c0;
    w1[i] = c1;
    w2[i] = c2;
    w3[i] = c3;
  }
}

uint64_t join(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

// An integer below 2^52 as a double, which no instruction converts before AVX-512: the bits of
// 2^52 + n, less 2^52.
double small_to_double(uint64_t n) {
  return std::bit_cast<double>(n | 0x4330000000000000) - 0x1p52;
}
// One of at most 53 bits.
double to_double(uint64_t n) {
  return small_to_double(n >> 26) * 0x1p26 + small_to_double(n & 0x3ffffff);
}

// By Horner's rule: the first coefficient is that of the highest power.
double polynomial(double x, double first, auto... rest) {
  double sum = first;
  ((sum = sum * x + rest), ...);
  return sum;
}

// The logarithm of a number that is normal and positive. x = 2^k m with m about 1, and
// log(m) = 2 artanh(s) for s = (m - 1) / (m + 1), which is at most 0.172: eleven terms of the
// series are exact to a float64.
double log_of(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  // The exponent of what is next to 1, above sqrt(1/2).
  const uint64_t shifted = bits - 0x3fe6a09e667f3bcd;
  const double k = small_to_double((shifted >> 52) ^ 0x800) - 2048.0;  // its sign is bit 11
  const double m = std::bit_cast<double>((shifted & 0xfffffffffffff) + 0x3fe6a09e667f3bcd);
  const double f = m - 1, s = f / (m + 1), z = s * s;
  const double series = polynomial(z, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                   1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3);
  // The first part of log(2) has few digits, so that k times it is exact.
  constexpr double kHigh = 0x1.62e42fefap-1;
  constexpr double kLow = 0x1.cf79abc9e3b3ap-40;
  // 2 s = f - s f.
  return k * kHigh + (f - (s * f - (2 * s * z * series + k * kLow)));
}

// cos(2 pi u) for u of [0, 1): of the quarter turn nearest to u, and of what is left.
double cos_of_turns(double u) {
  const double t = u * 4;
  constexpr double kRound = 0x1.8p52;
  const double shifted = t + kRound;
  const double y = (t - (shifted - kRound)) * (std::numbers::pi / 2), z = y * y;
  const auto quarter = std::bit_cast<uint64_t>(shifted);  // its lowest two bits
  // Taylor's series.
  const double sine = polynomial(z, 1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800,
                                 -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6) *
                          z * y +
                      y;
  const double cosine = polynomial(z, 1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600,
                                   -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24) *
                            z * z +
                        (1 - z / 2);
  // cos, -sin, -cos, sin; chosen by bits.
  const uint64_t odd = 0 - (quarter & 1);
  const uint64_t chosen =
      (std::bit_cast<uint64_t>(sine) & odd) | (std::bit_cast<uint64_t>(cosine) & ~odd);
  return std::bit_cast<double>(chosen ^ (((quarter + 1) & 2) << 62));
}

double to_positive_unit(uint32_t low, uint32_t high) {
  return (to_double(join(low, high) >> 11) + 1) * 0x1p-53;
}

void blocks(uint64_t seed, uint64_t first, PhiloxBlock* out, int64_t n) {
  Words words;
  philox_words(seed, first, words, n);
  const auto& w = words.word;
  for (int64_t i = 0; i < n; ++i) out[i] = {join(w[0][i], w[1][i]), join(w[2][i], w[3][i])};
}

void uniform(uint64_t seed, uint64_t first, int digits, double scale, double from, double* out,
             int64_t n) {
  Words words;
  philox_words(seed, first, words, n);
  const auto& w = words.word;
  const int shift = 64 - digits;
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    out[i] = to_double(join(w[0][i], w[1][i]) >> shift) * scale + from;
  }
}

void normal(uint64_t seed, uint64_t first, double mean, double std, double* out, int64_t n) {
  Words words;
  philox_words(seed, first, words, n);
  const auto& w = words.word;
  alignas(64) double radius[kDraws];  // its square
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    radius[i] = -2 * log_of(to_positive_unit(w[0][i], w[1][i]));
  }
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    const double turns = to_double(join(w[2][i], w[3][i]) >> 11) * 0x1p-53;
    out[i] = cos_of_turns(turns);
  }
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) out[i] = std::sqrt(radius[i]) * out[i] * std + mean;
}

void exponential(uint64_t seed, uint64_t first, double* out, int64_t n) {
  Words words;
  philox_words(seed, first, words, n);
  const auto& w = words.word;
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) out[i] = -log_of(to_positive_unit(w[0][i], w[1][i]));
}

void integers(uint64_t seed, uint64_t first, uint64_t count, uint64_t from, int64_t* out,
              int64_t n) {
  Words words;
  philox_words(seed, first, words, n);
  const auto& w = words.word;
  if (count == 0 || count > uint64_t{1} << 32) {
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t bits = join(w[0][i], w[1][i]);
      out[i] = static_cast<int64_t>(from + (count == 0 ? bits : bits % count));
    }
    return;
  }
  // The remainder of 32 bits, then with 16 bits more, and 16 more: every number is exact, below
  // 2^48, and the rounded quotient is off by one at most.
  const double divisor = static_cast<double>(count), inverse = 1 / divisor;
  const auto remainder = [=](double x) {
    constexpr double kRound = 0x1.8p52;
    const double quotient = (x * inverse + kRound) - kRound;
    const double rest = x - quotient * divisor;
    return rest + (rest < 0 ? divisor : 0.0);
  };
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t low = w[0][i];
    double rest = remainder(small_to_double(w[1][i]));
    rest = remainder(rest * 0x1p16 + small_to_double(low >> 16));
    rest = remainder(rest * 0x1p16 + small_to_double(low & 0xffff));
    const uint64_t step = std::bit_cast<uint64_t>(rest + 0x1p52) & 0xfffffffffffff;
    out[i] = static_cast<int64_t>(from + step);
  }
}

}  // namespace

SB_CPU_KERNEL(DrawKernels, draw_kernels, {blocks, uniform, normal, exponential, integers});

}  // namespace sb::internal
