#include "switchboard/ops/random/draw_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "catch2/catch.hpp"

namespace sb::internal {

extern const DrawKernels draw_kernels_avx2 [[gnu::weak]];
extern const DrawKernels draw_kernels_avx512 [[gnu::weak]];

namespace {

constexpr uint64_t kSeed = 0x123456789abcdef0;
// The lower word of the counter overflows on the way.
constexpr uint64_t kFirst = 0x1ffffff80;

std::vector<PhiloxBlock> expected_blocks() {
  std::vector<PhiloxBlock> blocks(kDraws);
  philox(kSeed, kFirst, 0, absl::MakeSpan(blocks));
  return blocks;
}

TEST_CASE("blocks of many counters at once are those of each") {
  std::vector<PhiloxBlock> blocks(kDraws);
  draw_kernels.get()->blocks(kSeed, kFirst, blocks.data(), kDraws);
  CHECK(blocks == expected_blocks());
}

TEST_CASE("integers are the lower 64 bits modulo their count") {
  const auto blocks = expected_blocks();
  std::vector<int64_t> out(kDraws);
  for (uint64_t count : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{100}, uint64_t{1000000007},
                         uint64_t{1} << 20, (uint64_t{1} << 20) + 1, (uint64_t{1} << 32) - 1,
                         uint64_t{1} << 32, (uint64_t{1} << 32) + 1, ~uint64_t{0}, uint64_t{0}}) {
    draw_kernels.get()->integers(kSeed, kFirst, count, 5, out.data(), kDraws);
    int64_t different = 0;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const uint64_t step = count == 0 ? blocks[i].low : blocks[i].low % count;
      different += out[i] != static_cast<int64_t>(step + 5);
    }
    INFO("count " << count);
    CHECK(different == 0);
  }
}

TEST_CASE("normal and exponential draws are what the formulas give, to the last bits") {
  const auto blocks = expected_blocks();
  std::vector<double> normal(kDraws), exponential(kDraws);
  draw_kernels.get()->normal(kSeed, kFirst, 0, 1, normal.data(), kDraws);
  draw_kernels.get()->exponential(kSeed, kFirst, exponential.data(), kDraws);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const double unit = (static_cast<double>(blocks[i].low >> 11) + 1) * 0x1p-53;
    const double turns = static_cast<double>(blocks[i].high >> 11) * 0x1p-53;
    CHECK(exponential[i] == Approx(-std::log(unit)).epsilon(1e-15));
    const double radius = std::sqrt(-2 * std::log(unit));
    CHECK(std::abs(normal[i] - radius * std::cos(2 * std::numbers::pi * turns)) <= 4e-15);
  }
}

TEST_CASE("uniform draws in float are those in double, rounded") {
  for (int digits : {8, 11, 24, 32}) {
    std::vector<double> doubles(kDraws);
    std::vector<float> floats(kDraws);
    const double scale = std::ldexp(3.0, -digits);
    draw_kernels.get()->uniform(kSeed, kFirst, digits, scale, -1.5, doubles.data(), kDraws);
    draw_kernels.get()->uniform_floats(kSeed, kFirst, digits, scale, -1.5, floats.data(), kDraws);
    INFO("digits " << digits);
    CHECK(std::equal(floats.begin(), floats.end(), doubles.begin(),
                     [](float f, double d) { return f == static_cast<float>(d); }));
  }
}

TEST_CASE("a block gives four normal draws in float, by its words in turn") {
  const auto blocks = expected_blocks();
  std::vector<float> normal(kDraws);
  draw_kernels.get()->normal_floats(kSeed, kFirst, 0, 1, normal.data(), kDraws);
  for (size_t i = 0; i < normal.size(); ++i) {
    const uint64_t pair = i % 4 < 2 ? blocks[i / 4].low : blocks[i / 4].high;
    const double unit = (static_cast<double>(static_cast<uint32_t>(pair) >> 1) + 1) * 0x1p-31;
    const double angle = 2 * std::numbers::pi * 0x1p-32 * static_cast<double>(pair >> 32);
    const double radius = std::sqrt(-2 * std::log(unit));
    // A number next to 1 is rounded to a float before its logarithm is taken.
    CHECK(std::abs(normal[i] - radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle))) <=
          (unit < 0.99 ? 1e-6 : 3e-4));
  }
}

TEST_CASE("fewer normal draws in float are the first of many") {
  std::vector<float> all(kDraws);
  draw_kernels.get()->normal_floats(kSeed, kFirst, 1, 2, all.data(), kDraws);
  for (size_t n : {0, 1, 2, 3, 4, 5, 63, 64, 254, 255}) {
    std::vector<float> some(kDraws, 100);
    draw_kernels.get()->normal_floats(kSeed, kFirst, 1, 2, some.data(), static_cast<int64_t>(n));
    INFO("n " << n);
    CHECK(std::equal(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n), all.begin()));
    CHECK(std::count(some.begin(), some.end(), 100.0F) == static_cast<int64_t>(kDraws - n));
  }
}

TEST_CASE("chances are uniform numbers below p") {
  const auto blocks = expected_blocks();
  for (double p : {0.0, 0x1p-53, 0.3, 0.5, 1 - 0x1p-53, 1.0}) {
    bool drawn[kDraws];
    draw_kernels.get()->chances(kSeed, kFirst, p, drawn, kDraws);
    int64_t different = 0;
    for (size_t i = 0; i < blocks.size(); ++i)
      different += drawn[i] != (static_cast<double>(blocks[i].low >> 11) * 0x1p-53 < p);
    INFO("p " << p);
    CHECK(different == 0);
  }
}

// Whether this machine runs a variant, whatever SB_CPU_CAPABILITY allows.
bool runs(const DrawKernels* variant) {
#if defined(__x86_64__)
  if (variant == &draw_kernels_avx512) {
    return variant && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  }
  return variant && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

// What is chosen is the best for the machine here, and the baseline in
// draw_kernels_of_the_baseline_test.
TEST_CASE("draws have the same bits for every CPU capability") {
  const auto all = [](const DrawKernels& kernels) {
    std::vector<double> reals(3 * kDraws);
    std::vector<int64_t> integers(kDraws);
    kernels.uniform(kSeed, kFirst, 53, 0x1p-53 * 3, -1.5, reals.data(), kDraws);
    kernels.normal(kSeed, kFirst, 0.25, 1.5, reals.data() + kDraws, kDraws);
    kernels.exponential(kSeed, kFirst, reals.data() + 2 * kDraws, kDraws);
    kernels.integers(kSeed, kFirst, 12345, 0, integers.data(), kDraws);
    for (int64_t n : integers) reals.push_back(static_cast<double>(n));
    std::vector<float> floats(2 * kDraws);
    kernels.uniform_floats(kSeed, kFirst, 24, 0x1p-24F * 3, -1.5, floats.data(), kDraws);
    kernels.normal_floats(kSeed, kFirst, 0.25, 1.5, floats.data() + kDraws, kDraws);
    reals.insert(reals.end(), floats.begin(), floats.end());
    bool drawn[kDraws];
    kernels.chances(kSeed, kFirst, 0.3, drawn, kDraws);
    reals.insert(reals.end(), drawn, drawn + kDraws);
    return reals;
  };
  const auto chosen = all(*draw_kernels);
  for (const DrawKernels* kernels : {&draw_kernels_avx2, &draw_kernels_avx512}) {
    if (!runs(kernels)) continue;
    CHECK(std::memcmp(all(*kernels).data(), chosen.data(), chosen.size() * sizeof(double)) == 0);
  }
}

}  // namespace
}  // namespace sb::internal
