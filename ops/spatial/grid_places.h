// Where a grid's coordinates lie in an input: the arithmetic of grid_sampler along one dimension,
// of less than 2^31 elements.

#ifndef SWITCHBOARD_OPS_SPATIAL_GRID_PLACES_H_
#define SWITCHBOARD_OPS_SPATIAL_GRID_PLACES_H_

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace sb::spatial {

enum class GridInterpolation : int64_t { Linear, Nearest, Cubic };
enum class GridPadding : int64_t { Zeros, Border, Reflection };

struct GridModes {
  GridInterpolation interpolation;
  GridPadding padding;
  bool align_corners;
};

// A position in elements, and how much it moves with the number that it was made from.
template <class T>
struct GridPlace {
  T at;
  T slope;
};

// Of a grid's coordinate.
template <class T>
GridPlace<T> place_of(T coordinate, int64_t size, bool align_corners) {
  const T n = static_cast<T>(size);
  if (align_corners) return {(coordinate + 1) / 2 * (n - 1), (n - 1) / 2};
  return {((coordinate + 1) * n - 1) / 2, n / 2};
}

template <class T>
GridPlace<T> clipped(T at, int64_t size) {
  const T last = static_cast<T>(size - 1);
  const bool above = at > 0, below = at < last;  // neither, of what is no number
  return {above ? (below ? at : last) : T(0), above & below ? T(1) : T(0)};
}

// std::floor in a form that GCC vectorises: without a branch, and without raising a flag.
template <class T>
T floor_of(T at) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const T near = std::nearbyint(at);
  const Bits above = near > at ? ~Bits{0} : 0;
  return near - std::bit_cast<T>(std::bit_cast<Bits>(T(1)) & above);
}

// Reflected at `low` and `low + span` until it lies between them.
template <class T>
GridPlace<T> reflected(T at, T low, T span) {
  if (span <= 0) return {T(0), T(0)};
  const T slope = at < low ? T(-1) : T(1);
  const T distance = std::abs(at - low);
  const T rest = std::fmod(distance, span);
  const bool flipped = std::fmod(std::floor(distance / span), T(2)) != 0;
  return flipped ? GridPlace<T>{span - rest + low, -slope} : GridPlace<T>{rest + low, slope};
}

// A position after padding: in the input unless padding is with zeros.
template <class T>
GridPlace<T> padded(T at, int64_t size, const GridModes& modes) {
  if (modes.padding == GridPadding::Zeros) return {at, T(1)};
  if (modes.padding == GridPadding::Border) return clipped(at, size);
  const T n = static_cast<T>(size);
  const GridPlace<T> inner =
      modes.align_corners ? reflected(at, T(0), n - 1) : reflected(at, T(-0.5), n);
  const GridPlace<T> edge = clipped(inner.at, size);
  return {edge.at, inner.slope * edge.slope};
}

// The element at a whole position; -1 outside, where a position is no number too.
template <class T>
int32_t element_at(T at, int64_t size) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const Bits inside = (at >= 0) & (at < static_cast<T>(size)) ? ~Bits{0} : 0;
  // -1 by bits: of a choice, GCC would convert one number alone.
  const T place =
      std::bit_cast<T>((std::bit_cast<Bits>(at) & inside) | (std::bit_cast<Bits>(T(-1)) & ~inside));
  return static_cast<int32_t>(place);
}

// The elements along one dimension that a place reads: their weights, and how these change with the
// grid's coordinate. An element of -1 is outside and counts as zero.
template <class T, int taps>
struct GridTaps {
  std::array<int32_t, taps> element;
  std::array<T, taps> weight;
  std::array<T, taps> change;
};

template <class T>
GridTaps<T, 1> nearest_tap(T coordinate, int64_t size, const GridModes& modes) {
  const GridPlace<T> place = place_of(coordinate, size, modes.align_corners);
  const T at = padded(place.at, size, modes).at;
  return {{element_at(std::nearbyint(at), size)}, {T(1)}, {T(0)}};
}

template <class T>
GridTaps<T, 2> linear_taps(T coordinate, int64_t size, const GridModes& modes) {
  const GridPlace<T> place = place_of(coordinate, size, modes.align_corners);
  const GridPlace<T> inside = padded(place.at, size, modes);
  const T slope = place.slope * inside.slope;
  const T floor = floor_of(inside.at);
  const T t = inside.at - floor;
  return {{element_at(floor, size), element_at(floor + 1, size)}, {1 - t, t}, {-slope, slope}};
}

// Keys' cubic convolution with a = -0.75; each of the elements is padded by itself.
template <class T>
GridTaps<T, 4> cubic_taps(T coordinate, int64_t size, const GridModes& modes) {
  constexpr T a = T(-0.75);
  const auto near = [](T x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto near_change = [](T x) { return (3 * (a + 2) * x - 2 * (a + 3)) * x; };
  const auto far = [](T x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  const auto far_change = [](T x) { return (3 * a * x - 10 * a) * x + 8 * a; };
  const GridPlace<T> place = place_of(coordinate, size, modes.align_corners);
  const T floor = floor_of(place.at);
  const T t = place.at - floor;
  GridTaps<T, 4> taps;
  for (int k = 0; k < 4; ++k) {
    const T at = padded(floor + static_cast<T>(k - 1), size, modes).at;
    taps.element[static_cast<size_t>(k)] = element_at(at, size);
  }
  taps.weight = {far(t + 1), near(t), near(1 - t), far(2 - t)};
  taps.change = {far_change(t + 1) * place.slope, near_change(t) * place.slope,
                 -near_change(1 - t) * place.slope, -far_change(2 - t) * place.slope};
  return taps;
}

template <class T, int taps>
GridTaps<T, taps> taps_of(T coordinate, int64_t size, const GridModes& modes) {
  if constexpr (taps == 1) return nearest_tap<T>(coordinate, size, modes);
  if constexpr (taps == 2) return linear_taps<T>(coordinate, size, modes);
  if constexpr (taps == 4) return cubic_taps<T>(coordinate, size, modes);
}

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_GRID_PLACES_H_
