#include "switchboard/ops/spatial/grid_kernels.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/spatial/grid_sampler.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb::spatial {
namespace {

constexpr int64_t kChannels = 3;
constexpr int64_t kSizes[] = {5, 4, 7};

// A place by itself, tap by tap. Calls f(element of the plane, weight, its changes, slowest
// dimension first) for each that is inside.
template <class T, int taps, class F>
void for_each_tap(const GridPiece<T>& piece, int64_t place, const F& f) {
  std::vector<GridTaps<T, taps>> along;
  int all = 1;
  for (int d = 0; d < piece.rank; ++d, all *= taps) {
    const T coordinate = piece.coordinates[place * piece.rank + piece.rank - 1 - d];
    along.push_back(taps_of<T, taps>(coordinate, piece.sizes[d], piece.modes));
  }
  for (int i = 0; i < all; ++i) {
    int64_t element = 0;
    T weight = 1;
    std::vector<T> changes(along.size(), 1);
    bool inside = true;
    int after = all / taps;
    for (size_t d = 0; d < along.size(); ++d, after /= taps) {
      const auto k = static_cast<size_t>(i / after % taps);
      inside = inside && along[d].element[k] >= 0;
      element = element * piece.sizes[d] + along[d].element[k];
      weight *= along[d].weight[k];
      for (size_t e = 0; e < along.size(); ++e)
        changes[e] *= (d == e ? along[d].change : along[d].weight)[k];
    }
    if (inside) f(element, weight, changes);
  }
}
template <class T, class F>
void for_each_tap(const GridPiece<T>& piece, int64_t place, const F& f) {
  switch (piece.modes.interpolation) {
    case GridInterpolation::Nearest:
      return for_each_tap<T, 1>(piece, place, f);
    case GridInterpolation::Linear:
      return for_each_tap<T, 2>(piece, place, f);
    case GridInterpolation::Cubic:
      return for_each_tap<T, 4>(piece, place, f);
  }
}

// From -2 to 2, with some that are no numbers or far away.
template <class T>
std::vector<T> numbers(size_t n, bool with_others) {
  std::vector<T> result(n);
  uint32_t state = 1;
  for (T& x : result) {
    state = state * 1664525 + 1013904223;
    x = static_cast<T>(state >> 8) / 0x1p22f - 2;
  }
  if (with_others) {
    const double others[] = {std::nan(""), std::numeric_limits<double>::infinity(), -1e30, 1, -1};
    for (size_t i = 0; i < n / 9; ++i) result[9 * i] = static_cast<T>(others[i % 5]);
  }
  return result;
}

// NaN equals NaN.
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](T x, T y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

TEMPLATE_TEST_CASE("many places read, spread and change as each would alone", "", float, double) {
  using T = TestType;
  const auto kernels = [] {
    if constexpr (std::is_same_v<T, float>) return *grid_kernels_float;
    if constexpr (std::is_same_v<T, double>) return *grid_kernels_double;
  }();
  const int rank = GENERATE(2, 3);
  const auto interpolation =
      GENERATE(GridInterpolation::Linear, GridInterpolation::Nearest, GridInterpolation::Cubic);
  if (rank == 3 && interpolation == GridInterpolation::Cubic) return;
  const auto padding = GENERATE(GridPadding::Zeros, GridPadding::Border, GridPadding::Reflection);
  const bool align_corners = GENERATE(false, true);
  const int64_t places = GENERATE(0, 1, 63, 64, 65, 130);
  const int64_t plane = rank == 2 ? 5 * 4 : 5 * 4 * 7;
  const std::vector<T> coordinates = numbers<T>(static_cast<size_t>(places * rank), true);
  std::vector<T> input = numbers<T>(static_cast<size_t>(kChannels * plane), false);
  input[0] = std::numeric_limits<T>::infinity();
  const std::vector<T> output = numbers<T>(static_cast<size_t>(kChannels * places), true);
  const GridPiece<T> piece{{interpolation, padding, align_corners},
                           rank,
                           kSizes,
                           coordinates.data(),
                           places,
                           kChannels,
                           plane,
                           places};

  std::vector<T> read(output.size()), spread = input, change(coordinates.size());
  kernels.read(piece, input.data(), read.data());
  kernels.spread(piece, output.data(), spread.data());
  kernels.change(piece, output.data(), input.data(), change.data());

  std::vector<T> alone_read(output.size()), alone_spread = input, alone_change(coordinates.size());
  const auto at = [](auto& v, int64_t i) -> auto& { return v[static_cast<size_t>(i)]; };
  for (int64_t c = 0; c < kChannels; ++c) {
    for (int64_t p = 0; p < places; ++p) {
      const T grad = at(output, c * places + p);
      for_each_tap(piece, p, [&](int64_t element, T weight, const std::vector<T>& changes) {
        at(alone_read, c * places + p) += weight * at(input, c * plane + element);
        at(alone_spread, c * plane + element) += weight * grad;
        const T value = grad * at(input, c * plane + element);
        for (int d = 0; d < rank; ++d)
          at(alone_change, p * rank + rank - 1 - d) += value * at(changes, d);
      });
    }
  }
  CHECK(same(read, alone_read));
  CHECK(same(spread, alone_spread));
  CHECK(same(change, alone_change));
}

TEST_CASE("a sampler gives the same bits for any number of threads, and of places") {
  const Tensor input = test::tensor_of({2, 40, 9, 8}, numbers<double>(2 * 40 * 9 * 8, false));
  const Tensor grid = test::tensor_of({2, 30, 31, 2}, numbers<double>(2 * 30 * 31 * 2, false));
  const auto run = [&](int threads, const Tensor& places) {
    const int before = get_num_threads();
    set_num_threads(threads);
    const auto values = test::values_of(grid_sampler_2d(input, places, 0, 0, false));
    set_num_threads(before);
    return values;
  };
  CHECK(run(1, grid) == run(4, grid));
  const Tensor row = slice(grid, 1, 7, 8);
  CHECK(run(1, row) == test::values_of(slice(grid_sampler_2d(input, grid, 0, 0, false), 2, 7, 8)));
}

}  // namespace
}  // namespace sb::spatial
