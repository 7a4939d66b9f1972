#include "switchboard/ops/random/draw_kernels.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "switchboard/ops/cpu/independent_loop.h"

namespace sb::internal {
namespace {

// A vector of 64-bit lanes, each for a block.
#if defined(__AVX512F__)
constexpr int64_t kLanes = 8;
#elif defined(__AVX2__)
constexpr int64_t kLanes = 4;
#else
constexpr int64_t kLanes = 2;
#endif
using Lanes [[gnu::vector_size(kLanes * sizeof(uint64_t))]] = uint64_t;

constexpr uint64_t kLower = 0xffffffff;  // half of a lane

// The products of the lanes' lower halves. Compilers do not see that this is one instruction.
Lanes multiply_lower(Lanes a, Lanes b) {
#if defined(__AVX512F__)
  return reinterpret_cast<Lanes>(
      _mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Lanes>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<Lanes>(
      _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return (a & kLower) * (b & kLower);
#endif
}

// The four words of each block, one array for each, in the lower halves of its elements; what the
// higher ones hold does not count.
struct Words {
  alignas(64) uint64_t word[4][kDraws];
};

// The blocks of core/philox.h, as draw_kernels_test.cc shows. Random123's header, which that calls,
// has start-up code, by <iostream>, and no variant for a CPU capability may have any.
void philox_words(uint64_t seed, uint64_t first, Words& out, int64_t n) {
  constexpr int kVectors = 2;  // at a time: a product takes several cycles
  static_assert(kDraws % (kVectors * kLanes) == 0);
  Lanes counter;
  for (int64_t i = 0; i < kLanes; ++i) counter[i] = first + static_cast<uint64_t>(i);
  for (int64_t i = 0; i < n; i += kVectors * kLanes) {
    Lanes c[kVectors][4];
#pragma GCC unroll 2
    for (auto& [c0, c1, c2, c3] : c) {
      c0 = counter;
      c1 = counter >> 32;
      c2 = c3 = Lanes{};
      counter += static_cast<uint64_t>(kLanes);
    }
    uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
#pragma GCC unroll 2
      for (auto& [c0, c1, c2, c3] : c) {
        const Lanes p0 = multiply_lower(c0, Lanes{} + 0xD2511F53);
        const Lanes p1 = multiply_lower(c2, Lanes{} + 0xCD9E8D57);
        c0 = (p1 >> 32) ^ (c1 ^ k0);
        c1 = p1;
        c2 = (p0 >> 32) ^ (c3 ^ k1);
        c3 = p0;
      }
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
#pragma GCC unroll 4
      for (int word = 0; word < 4; ++word)
        std::memcpy(out.word[word] + i + v * kLanes, &c[v][word], sizeof(Lanes));
  }
}

uint64_t join(uint64_t low, uint64_t high) { return high << 32 | (low & kLower); }

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
template <class T>
T polynomial(T x, double first, auto... rest) {
  T sum = static_cast<T>(first);
  ((sum = sum * x + static_cast<T>(rest)), ...);
  return sum;
}

// What the two formats differ in. A series ends where its rest is below a digit's half.
struct OfDouble {
  using Real = double;
  using Bits = uint64_t;
  static constexpr int kFraction = 52;  // bits
  static constexpr Bits kRootOfHalf = 0x3fe6a09e667f3bcd;
  // The first part of log(2) has few digits, so that a small integer times it is exact.
  static constexpr Real kLog2High = 0x1.62e42fefap-1, kLog2Low = 0x1.cf79abc9e3b3ap-40;
  // The exponent of 2 from these bits, of which the 12th is the sign.
  static Real exponent(Bits bits) { return small_to_double(bits ^ 0x800) - 2048.0; }
  // artanh(s) / s - 1, divided by z = s s, for s of at most 0.172.
  static Real artanh_series(Real z) {
    return polynomial(z, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                      1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3);
  }
  // sin(y) / y - 1 and cos(y) - 1 + z / 2, divided by z = y y and by z z: Taylor's series.
  static Real sine_series(Real z) {
    return polynomial(z, 1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800,
                      -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6);
  }
  static Real cosine_series(Real z) {
    return polynomial(z, 1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800,
                      1.0 / 40320, -1.0 / 720, 1.0 / 24);
  }
};
struct OfFloat {
  using Real = float;
  using Bits = uint32_t;
  static constexpr int kFraction = 23;
  static constexpr Bits kRootOfHalf = 0x3f3504f3;
  static constexpr Real kLog2High = 0x1.62ep-1F, kLog2Low = 0x1.0bfbe8p-15F;
  static Real exponent(Bits bits) {
    return static_cast<Real>(static_cast<int32_t>(bits << 23) >> 23);
  }
  static Real artanh_series(Real z) { return polynomial(z, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3); }
  static Real sine_series(Real z) {
    return polynomial(z, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6);
  }
  static Real cosine_series(Real z) {
    return polynomial(z, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24);
  }
};

// The logarithm of a number that is normal and positive. x = 2^k m with m about 1, and
// log(m) = 2 artanh(s) for s = (m - 1) / (m + 1).
template <class Of>
typename Of::Real log_of(typename Of::Real x) {
  using Real = typename Of::Real;
  using Bits = typename Of::Bits;
  constexpr Bits kFractionBits = (Bits{1} << Of::kFraction) - 1;
  // The exponent of what is next to 1, above sqrt(1/2).
  const Bits shifted = std::bit_cast<Bits>(x) - Of::kRootOfHalf;
  const Real k = Of::exponent(shifted >> Of::kFraction);
  const Real m = std::bit_cast<Real>((shifted & kFractionBits) + Of::kRootOfHalf);
  const Real f = m - 1, s = f / (m + 1), z = s * s;
  // 2 s = f - s f.
  return k * Of::kLog2High + (f - (s * f - (2 * s * z * Of::artanh_series(z) + k * Of::kLog2Low)));
}

// Of y, at most an eighth turn.
template <class Of>
typename Of::Real sine_of(typename Of::Real y) {
  const auto z = y * y;
  return Of::sine_series(z) * z * y + y;
}
template <class Of>
typename Of::Real cosine_of(typename Of::Real y) {
  const auto z = y * y;
  return Of::cosine_series(z) * z * z + (1 - z / 2);
}

// Of the quarter turns 0, 1, 2, 3 (the lowest two bits) and what is left, whose cosine and sine are
// given: the cosine, that is cos, -sin, -cos, sin; chosen by bits.
template <class Real, class Bits>
Real turned(Bits quarter, Real cosine, Real sine) {
  const Bits odd = 0 - (quarter & 1);
  const Bits chosen = (std::bit_cast<Bits>(sine) & odd) | (std::bit_cast<Bits>(cosine) & ~odd);
  return std::bit_cast<Real>(chosen ^ (((quarter + 1) & 2) << (sizeof(Bits) * 8 - 2)));
}

// cos(2 pi u) for u of [0, 1): of the quarter turn nearest to u, and of what is left.
double cos_of_turns(double u) {
  const double t = u * 4;
  constexpr double kRound = 0x1.8p52;
  const double shifted = t + kRound;
  const double y = (t - (shifted - kRound)) * (std::numbers::pi / 2);
  return turned(std::bit_cast<uint64_t>(shifted), cosine_of<OfDouble>(y), sine_of<OfDouble>(y));
}

double to_positive_unit(uint64_t low, uint64_t high) {
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

void uniform_floats(uint64_t seed, uint64_t first, int digits, double scale, double from,
                    float* out, int64_t n) {
  Words words;
  philox_words(seed, first, words, n);
  const auto& w = words.word;
  const int shift = 32 - digits;
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t highest = (w[1][i] & kLower) >> shift;
    out[i] = static_cast<float>(small_to_double(highest) * scale + from);
  }
}

void normal(uint64_t seed, uint64_t first, double mean, double std, double* out, int64_t n) {
  Words words;
  philox_words(seed, first, words, n);
  const auto& w = words.word;
  alignas(64) double radius[kDraws];  // its square
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    radius[i] = -2 * log_of<OfDouble>(to_positive_unit(w[0][i], w[1][i]));
  }
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    const double turns = to_double(join(w[2][i], w[3][i]) >> 11) * 0x1p-53;
    out[i] = cos_of_turns(turns);
  }
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) out[i] = std::sqrt(radius[i]) * out[i] * std + mean;
}

void normal_floats(uint64_t seed, uint64_t first, double mean, double std, float* out, int64_t n) {
  constexpr int64_t kPairs = kDraws / 2;
  const int64_t blocks = (n + 3) / 4, pairs = 2 * blocks;
  Words words;
  philox_words(seed, first, words, blocks);
  alignas(64) uint32_t unit[kPairs], angle[kPairs];
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < blocks; ++i) {
    unit[2 * i] = static_cast<uint32_t>(words.word[0][i]);
    angle[2 * i] = static_cast<uint32_t>(words.word[1][i]);
    unit[2 * i + 1] = static_cast<uint32_t>(words.word[2][i]);
    angle[2 * i + 1] = static_cast<uint32_t>(words.word[3][i]);
  }
  alignas(64) float radius[kPairs];  // its square
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < pairs; ++i) {
    // From 1 to 2^31: the highest 31 bits, which are a signed integer, plus 1.
    const float u = static_cast<float>(static_cast<int32_t>(unit[i] >> 1)) + 1;
    radius[i] = -2 * log_of<OfFloat>(u * 0x1p-31F);
  }
  alignas(64) float numbers[kDraws];
  const float scale = static_cast<float>(std), shift = static_cast<float>(mean);
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < pairs; ++i) {
    // All 32 bits are a turn: the quarter nearest, and what is left, of both signs.
    constexpr uint32_t kEighth = 1U << 29;
    const uint32_t shifted = angle[i] + kEighth, quarter = shifted >> 30;
    const auto rest = static_cast<int32_t>((shifted & (2 * kEighth - 1)) - kEighth);
    const float y = static_cast<float>(rest) * static_cast<float>(std::numbers::pi / 2 * 0x1p-30);
    const float cosine = cosine_of<OfFloat>(y), sine = sine_of<OfFloat>(y);
    const float r = std::sqrt(radius[i]) * scale;
    numbers[2 * i] = turned(quarter, cosine, sine) * r + shift;
    numbers[2 * i + 1] = turned(quarter - 1, cosine, sine) * r + shift;  // the sine
  }
  std::memcpy(out, numbers, static_cast<size_t>(n) * sizeof(float));
}

void exponential(uint64_t seed, uint64_t first, double* out, int64_t n) {
  Words words;
  philox_words(seed, first, words, n);
  const auto& w = words.word;
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) out[i] = -log_of<OfDouble>(to_positive_unit(w[0][i], w[1][i]));
}

void chances(uint64_t seed, uint64_t first, double p, bool* out, int64_t n) {
  Words words;
  philox_words(seed, first, words, n);
  const auto& w = words.word;
  // u 2^-53 < p for a whole u: both are exact.
  const auto bound = static_cast<int64_t>(std::ceil(p * 0x1p53));
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<int64_t>(join(w[0][i], w[1][i]) >> 11) < bound;
  }
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
  // The remainder of the higher 32 bits, then with as many of the others as make a number below
  // 2^52, which is exact, and so are the products; the rounded quotient is off by one at most.
  const double divisor = static_cast<double>(count), inverse = 1 / divisor;
  const auto remainder = [=](double rest, double step, uint64_t next) {
    constexpr double kRound = 0x1.8p52;
    const double x = rest * step + small_to_double(next);
    const double quotient = (x * inverse + kRound) - kRound;
    const double result = x - quotient * divisor;
    return result + (result < 0 ? divisor : 0.0);
  };
  const auto store = [=](double rest, int64_t* to) {
    *to = static_cast<int64_t>(from + (std::bit_cast<uint64_t>(rest + 0x1p52) & 0xfffffffffffff));
  };
  if (count <= uint64_t{1} << 20) {
    SB_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) {
      const double rest = remainder(0, 0, w[1][i] & kLower);
      store(remainder(rest, 0x1p32, w[0][i] & kLower), out + i);
    }
    return;
  }
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t low = w[0][i] & kLower;
    double rest = remainder(0, 0, w[1][i] & kLower);
    rest = remainder(rest, 0x1p16, low >> 16);
    store(remainder(rest, 0x1p16, low & 0xffff), out + i);
  }
}

}  // namespace

SB_CPU_KERNEL(DrawKernels, draw_kernels,
              {blocks, uniform, uniform_floats, normal, normal_floats, exponential, chances,
               integers});

}  // namespace sb::internal
