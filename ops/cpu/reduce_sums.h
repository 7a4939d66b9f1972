// Sums of floating-point numbers, for the files of cpu_kernels that reduce by adding. Blocks of
// 4096 elements are added as a balanced tree in 64 lanes side by side, whatever the CPU's vectors
// hold, so that 12 to 16 roundings stand between an element and its block's sum, where PyTorch's
// cascade has some more; the blocks' sums are added in float64.

#ifndef SWITCHBOARD_OPS_CPU_REDUCE_SUMS_H_
#define SWITCHBOARD_OPS_CPU_REDUCE_SUMS_H_

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "Eigen/Core"
#include "switchboard/ops/cpu/independent_loop.h"
#include "switchboard/ops/cpu/reduce_loops.h"

// GCC 12 sees Eigen's vectorised loops read past an array of one element, which they never enter,
// and takes the undefined vectors of its own AVX-512 header for a mistake.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace sb::internal {
namespace {

// What of each element is added. nothing() is an element of which 0 is. `trusted`: whether a sum of
// them is as good as one in float64; the sum is taken again where it is not.
struct Keep {
  static int nothing() { return 0; }
  template <class P>
  static P of(const P& x) {
    return x;
  }
  template <class E>
  static bool trusted(E) {
    return true;
  }
};
struct Magnitude : Keep {
  template <class P>
  static P of(const P& x) {
    return Eigen::internal::pabs(x);
  }
};
struct Square {
  static int nothing() { return 0; }
  template <class P>
  static P of(const P& x) {
    return Eigen::internal::pmul(x, x);
  }
  // Squares of float32 leave its range early, at both ends.
  static bool trusted(float sum) {
    return sum >= 1e-25F && sum <= std::numeric_limits<float>::max();
  }
};

// Elements E, float or double, under the function Map.
template <class E, class Map>
class BlockSum {
 public:
  // The sum of n adjacent numbers, n <= kBlock, is parts[0] + parts[1]: these of the even and the
  // odd ones. `left`: so many can be read from x on.
  static void add(const E* x, int64_t n, int64_t left, double* parts, const Map& map = {}) {
    Lanes lanes = n == kBlock ? whole(x, left >= n + kAhead ? kAhead : 0, map) : part(x, n, map);
    fold(lanes, parts);
  }
  static constexpr int64_t kBlock = 4096;

  // folded[i] = the sum of `rows` numbers from x[i] on, `stride` apart, of Map: a balanced tree.
  template <int rows>
  static void add_rows(const E* x, int64_t n, int64_t stride, E* folded) {
    int64_t i = 0;
    for (; i + kSize <= n; i += kSize) {
      Eigen::internal::pstoreu(folded + i, column<rows, Packet>(x + i, stride));
    }
    for (; i < n; ++i) folded[i] = column<rows, E>(x + i, stride);
  }

 private:
  using Packet = typename Eigen::internal::packet_traits<E>::type;
  static constexpr int64_t kLanes = 64;
  static constexpr int64_t kSize = Eigen::internal::unpacket_traits<Packet>::size;
  static constexpr int64_t kPackets = kLanes / kSize;
  static constexpr int64_t kLast = 16;
  // How far ahead of the sum memory is asked for its elements: a page.
  static constexpr int64_t kAhead = 4096 / static_cast<int64_t>(sizeof(E));
  struct Lanes {
    Packet packets[kPackets];
  };

  static Packet load(const E* x, const Map& map) {
    return map.of(Eigen::internal::ploadu<Packet>(x));
  }
  static Packet plus(const Packet& a, const Packet& b) { return Eigen::internal::padd(a, b); }
  static Lanes zero() {
    Lanes lanes;
    for (Packet& p : lanes.packets) p = Eigen::internal::pset1<Packet>(E(0));
    return lanes;
  }
  [[gnu::always_inline]] static void add_to(Lanes& to, const Lanes& other) {
    for (int64_t k = 0; k < kPackets; ++k) to.packets[k] = plus(to.packets[k], other.packets[k]);
  }
  // Four elements for each lane.
  [[gnu::always_inline]] static void add_four(Lanes& to, const E* x, const Map& map) {
    for (int64_t k = 0; k < kPackets; ++k) {
      const E* const at = x + k * kSize;
      to.packets[k] =
          plus(to.packets[k], plus(plus(load(at, map), load(at + kLanes, map)),
                                   plus(load(at + 2 * kLanes, map), load(at + 3 * kLanes, map))));
    }
  }
  [[gnu::always_inline]] static Lanes quarter(const E* x, int64_t ahead, const Map& map) {
    Lanes lanes = zero();
    for (int64_t i = 0; i < kBlock / 4; i += 4 * kLanes) {
      constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(E));
      if (ahead != 0) {
        for (int64_t k = 0; k < 4 * kLanes; k += kLine) __builtin_prefetch(x + i + k + ahead);
      }
      add_four(lanes, x + i, map);
    }
    return lanes;
  }
  static Lanes whole(const E* x, int64_t ahead, const Map& map) {
    constexpr int64_t n = kBlock / 4;
    Lanes first = quarter(x, ahead, map);
    add_to(first, quarter(x + n, ahead, map));
    Lanes second = quarter(x + 2 * n, ahead, map);
    add_to(second, quarter(x + 3 * n, ahead, map));
    add_to(first, second);
    return first;
  }
  static Lanes part(const E* x, int64_t n, const Map& map) {
    Lanes lanes = zero();
    for (; n >= kBlock / 4; x += kBlock / 4, n -= kBlock / 4) add_to(lanes, quarter(x, 0, map));
    if (n == 0) return lanes;
    Lanes rest = zero();
    for (; n >= 4 * kLanes; x += 4 * kLanes, n -= 4 * kLanes) add_four(rest, x, map);
    for (; n >= kLanes; x += kLanes, n -= kLanes) {
      for (int64_t k = 0; k < kPackets; ++k) {
        rest.packets[k] = plus(rest.packets[k], load(x + k * kSize, map));
      }
    }
    if (n != 0) {
      E few[kLanes];
      std::fill(std::copy_n(x, n, few), few + kLanes, static_cast<E>(map.nothing()));
      for (int64_t k = 0; k < kPackets; ++k) {
        rest.packets[k] = plus(rest.packets[k], load(few + k * kSize, map));
      }
    }
    add_to(lanes, rest);
    return lanes;
  }
  // Halves the lanes until two are left, the last 16 in double.
  static void fold(Lanes& lanes, double* parts) {
    for (int64_t k = kPackets / 2; k * kSize >= kLast; k /= 2) {
      for (int64_t i = 0; i < k; ++i) {
        lanes.packets[i] = plus(lanes.packets[i], lanes.packets[i + k]);
      }
    }
    alignas(64) E last[kLast];
    static_assert(kSize <= kLast);
    for (int64_t i = 0; i < kLast / kSize; ++i) {
      Eigen::internal::pstore(last + i * kSize, lanes.packets[i]);
    }
    double eight[8], four[4];
    for (int i = 0; i < 8; ++i) {
      eight[i] = static_cast<double>(last[i]) + static_cast<double>(last[i + 8]);
    }
    for (int i = 0; i < 4; ++i) four[i] = eight[i] + eight[i + 4];
    parts[0] = four[0] + four[2];
    parts[1] = four[1] + four[3];
  }

  template <int rows, class P>
  static P column(const E* x, int64_t stride) {
    if constexpr (rows == 1) {
      return Map::of(Eigen::internal::ploadu<P>(x));
    } else {
      return Eigen::internal::padd(column<rows / 2, P>(x, stride),
                                   column<rows / 2, P>(x + rows / 2 * stride, stride));
    }
  }
};

// How a sum becomes the result.
struct AsIs {
  static double of(double sum, double, const ReduceParams&) { return sum; }
};
struct OverCount {
  static double of(double sum, double count, const ReduceParams&) { return sum / count; }
};
struct SquareRoot {
  static double of(double sum, double, const ReduceParams&) { return std::sqrt(sum); }
};
struct RootP {
  static double of(double sum, double, const ReduceParams& params) {
    return std::pow(sum, 1 / params.p);
  }
};

// Numbers E under Map, added. An element has `parts` of them, one beside the other: 2 are a complex
// number's. The accumulators are sums in double and, for double elements, what rounding lost.
template <class E, class Map = Keep, int parts = 1>
struct SumLoopsBase {
  static constexpr bool compensated = std::is_same_v<E, double>;
  static constexpr int64_t kSize = (compensated ? 2 : 1) * parts * int64_t{sizeof(double)};

  static void init(void* acc, int64_t n) { std::memset(acc, 0, static_cast<size_t>(n * kSize)); }
  static void fold_runs(void* acc, int64_t n, const ReduceRuns& runs, const ReduceParams&) {
    const int64_t length = runs.length * parts;
    using Block = BlockSum<E, Map>;
    for (int64_t r = 0; r < runs.count; ++r) {
      const E* const x = static_cast<const E*>(runs.elements) + r * runs.stride * parts;
      double* const to = static_cast<double*>(acc) + (runs.first + r) * parts;
      const int64_t left = (runs.stride == runs.length ? runs.count - r : 1) * length;
      for (int64_t i = 0; i < length; i += Block::kBlock) {
        const int64_t size = std::min(Block::kBlock, length - i);
        double sums[2];
        Block::add(x + i, size, left - i, sums);
        if constexpr (parts == 2) {
          add(to, n * parts, sums[0]);
          add(to + 1, n * parts, sums[1]);
        } else {
          double sum = sums[0] + sums[1];
          if (!Map::trusted(static_cast<E>(sum))) sum = widely(x + i, size);
          add(to, n, sum);
        }
      }
    }
  }
  static void fold_rows(void* acc, const void* elements, int64_t n, int64_t row_stride,
                        int64_t rows, const ReduceParams&) {
    const E* const x = static_cast<const E*>(elements);
    int64_t r = 0;
    const auto add_many = [&]<int many>() {
      for (; r + many <= rows; r += many) {
        E folded[parts * kReduceChunk];
        const E* const from = x + r * row_stride * parts;
        BlockSum<E, Map>::template add_rows<many>(from, n * parts, row_stride * parts, folded);
        double* const to = static_cast<double*>(acc);
        if constexpr (!std::is_base_of_v<Keep, Map>) {
          for (int64_t i = 0; i < n * parts; ++i) {
            if (Map::trusted(folded[i])) continue;
            add(to + i, n * parts, widely(from + i, many, row_stride));
            folded[i] = 0;
          }
        }
        add_each(to, n * parts, folded);
      }
    };
    add_many.template operator()<16>();
    add_many.template operator()<4>();
    add_many.template operator()<1>();
  }
  static void combine(void* acc, const void* other, int64_t n) {
    double* const to = static_cast<double*>(acc);
    const double* const from = static_cast<const double*>(other);
    add_each(to, n * parts, from);
    if constexpr (compensated) {
      for (int64_t i = n * parts; i < 2 * n * parts; ++i) to[i] += from[i];
    }
  }

 private:
  static double widely(const E* x, int64_t n, int64_t stride = 1) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += Map::of(static_cast<double>(x[i * stride]));
    return sum;
  }
  // Adds to a sum, of which there are n in a row before what rounding lost of them.
  static void add(double* sum, int64_t n, double x) {
    const double a = *sum, both = a + x;
    *sum = both;
    if constexpr (compensated) {
      // Knuth's two-sum: what is lost in a + x, exactly.
      const double part = both - a;
      sum[n] += (a - (both - part)) + (x - part);
    }
  }
  template <class T>
  static void add_each(double* sums, int64_t n, const T* x) {
    double* const __restrict to = sums;
    SB_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) add(to + i, n, static_cast<double>(x[i]));
  }
};
template <class E, class Map = Keep, class Finish = AsIs, int parts = 1>
struct SumLoops : SumLoopsBase<E, Map, parts> {
  using Base = SumLoopsBase<E, Map, parts>;
  static void finish(const void* acc, int64_t n, double count, const ReduceParams& params,
                     void* results) {
    const double* const from = static_cast<const double*>(acc);
    for (int64_t i = 0; i < n * parts; ++i) {
      double sum = from[i];
      if constexpr (Base::compensated) {
        // Where the sum is infinite, what was lost is NaN.
        const double whole = sum + from[n * parts + i];
        if (whole == whole) sum = whole;
      }
      static_cast<double*>(results)[i] = Finish::of(sum, count, params);
    }
  }
};

// Loops over doubles that Map makes of elements of type E, a chunk at a time. Map::of takes and
// gives Eigen arrays.
template <class E, class Map, class Loops>
struct Mapped : Loops {
  template <class F>
  static void for_each_chunk(const E* x, int64_t n, const ReduceParams& params, const F& f) {
    using Chunk = Eigen::Array<E, Eigen::Dynamic, 1, 0, kReduceChunk, 1>;
    alignas(64) double buffer[kReduceChunk];
    for (int64_t i = 0; i < n; i += kReduceChunk) {
      const int64_t size = std::min(kReduceChunk, n - i);
      Eigen::Map<Eigen::Array<double, Eigen::Dynamic, 1, 0, kReduceChunk, 1>>(buffer, size) =
          Map::of(Eigen::Map<const Chunk>(x + i, size), params);
      f(buffer, size);
    }
  }
  static void fold_runs(void* acc, int64_t n, const ReduceRuns& runs, const ReduceParams& params) {
    for (int64_t r = 0; r < runs.count; ++r) {
      for_each_chunk(static_cast<const E*>(runs.elements) + r * runs.stride, runs.length, params,
                     [&](const double* chunk, int64_t size) {
                       Loops::fold_runs(acc, n, {chunk, size, 1, 0, runs.first + r}, params);
                     });
    }
  }
  static void fold_rows(void* acc, const void* elements, int64_t n, int64_t row_stride,
                        int64_t rows, const ReduceParams& params) {
    for (int64_t r = 0; r < rows; ++r) {
      for_each_chunk(
          static_cast<const E*>(elements) + r * row_stride, n, params,
          [&](const double* chunk, int64_t) { Loops::fold_rows(acc, chunk, n, 0, 1, params); });
    }
  }
};

}  // namespace
}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_CPU_REDUCE_SUMS_H_
