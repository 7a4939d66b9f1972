#include "switchboard/ops/spatial/upsample_taps.h"

#include <algorithm>
#include <cmath>

namespace sb::spatial {
namespace {

// How many inputs an output stands for, in the precision of T.
template <class T>
T ratio(std::optional<double> scale, int64_t input, int64_t output) {
  return scale && *scale > 0 ? static_cast<T>(1 / *scale)
                             : static_cast<T>(input) / static_cast<T>(output);
}

int64_t nearest_index(const UpsampleOptions& options, std::optional<double> scale, int64_t o,
                      int64_t input, int64_t output, DType dtype, Positions positions) {
  const bool exact = options.mode == UpsampleMode::NearestExact;
  if (positions == Positions::InFloat32 && !exact) {
    if (output == input) return o;
    if (output == 2 * input) return o / 2;
  }
  float at;
  if (positions == Positions::InDType && dtype == DType::Float64) {
    const double position = static_cast<double>(o) + (exact ? 0.5 : 0);
    at = static_cast<float>(position * ratio<double>(scale, input, output));
  } else {
    float step = ratio<float>(scale, input, output);
    if (positions == Positions::InDType && dtype == DType::BFloat16) {
      step = static_cast<float>(static_cast<BFloat16>(step));
    }
    at = (static_cast<float>(o) + (exact ? 0.5f : 0.0f)) * step;
  }
  // A scale may lead anywhere: what is outside, or no number, becomes an edge before it is an
  // index.
  if (!(at > 0)) return 0;
  if (at >= static_cast<float>(input - 1)) return input - 1;
  return static_cast<int64_t>(std::floor(at));
}

// Keys' cubic convolution, at distance |x| <= 2.
template <class T>
T cubic(T x, T a = T(-0.75)) {
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

// Of a row of outputs, how many inputs from one to the next.
template <class T>
T step_of(const UpsampleOptions& options, std::optional<double> scale, const TapRow& row) {
  if (!options.align_corners) return ratio<T>(scale, row.input, row.output);
  return row.output > 1 ? static_cast<T>(row.input - 1) / static_cast<T>(row.output - 1) : T(0);
}

// The filter at distance x, in its own units.
template <class T>
T antialias_weight(UpsampleMode mode, T x) {
  x = std::abs(x);
  if (mode == UpsampleMode::Cubic) return x < 2 ? cubic<T>(x, T(-0.5)) : T(0);
  return x < 1 ? 1 - x : T(0);
}

// All outputs get as many taps as the widest may need: those that they do not need weigh nothing.
template <class T>
void antialias_row(const UpsampleOptions& options, std::optional<double> scale, TapRow* row) {
  const T step = step_of<T>(options, scale, *row);
  const T width = std::max(step, T(1));
  const T reach = (options.mode == UpsampleMode::Cubic ? 2 : 1) * width;
  const T inputs = static_cast<T>(row->input);
  row->taps = static_cast<size_t>(std::min(inputs, std::ceil(reach) * 2 + 1));
  for (int64_t o = 0; o < row->output; ++o) {
    const T center = step * (static_cast<T>(o) + T(0.5));
    // A scale may lead anywhere: what is outside becomes an edge before it is an index.
    const auto index = [&](T at) { return static_cast<int64_t>(std::clamp(at, T(0), inputs)); };
    const int64_t first = std::min(index(center - reach + T(0.5)), row->input - 1);
    const int64_t end = std::max(index(center + reach + T(0.5)), first);
    std::vector<T> weights;
    T total = 0;
    for (int64_t i = first; i < end; ++i) {
      weights.push_back(
          antialias_weight(options.mode, (static_cast<T>(i) - center + T(0.5)) / width));
      total += weights.back();
    }
    weights.resize(row->taps);
    for (size_t k = 0; k < row->taps; ++k) {
      row->index.push_back(std::min(first + static_cast<int64_t>(k), std::max(end - 1, first)));
      row->weight.push_back(static_cast<double>(total == 0 ? weights[k] : weights[k] / total));
    }
  }
}

// T is what positions are computed in.
template <class T>
void interpolate_row(const UpsampleOptions& options, std::optional<double> scale, TapRow* row) {
  const int64_t last = row->input - 1;
  const bool is_cubic = options.mode == UpsampleMode::Cubic;
  const T step = step_of<T>(options, scale, *row);
  for (int64_t o = 0; o < row->output; ++o) {
    T at = options.align_corners ? step * static_cast<T>(o)
                                 : step * (static_cast<T>(o) + T(0.5)) - T(0.5);
    // A scale may lead anywhere. All that is two steps outside reads the edges alone.
    if (!(at >= (is_cubic ? T(-2) : T(0)))) at = is_cubic ? T(-2) : T(0);
    at = std::min(at, static_cast<T>(last) + 2);
    const T floor = std::floor(at);
    const int64_t i = static_cast<int64_t>(floor);
    if (is_cubic) {
      const T t = at - floor;
      const T weights[] = {cubic<T>(t + 1), cubic<T>(t), cubic<T>(1 - t), cubic<T>(2 - t)};
      for (int64_t k = 0; k < 4; ++k) {
        row->index.push_back(std::clamp<int64_t>(i + k - 1, 0, last));
        row->weight.push_back(static_cast<double>(weights[k]));
      }
    } else {
      const int64_t first = std::min(i, last);
      const T t = std::clamp<T>(at - static_cast<T>(first), T(0), T(1));
      row->index.insert(row->index.end(), {first, std::min(first + 1, last)});
      row->weight.push_back(static_cast<double>(1 - t));
      row->weight.push_back(static_cast<double>(t));
    }
  }
}

}  // namespace

Taps upsample_taps(const UpsampleOptions& options, const Size3& input, const Size3& output,
                   DType dtype, Positions positions) {
  const bool nearest =
      options.mode == UpsampleMode::Nearest || options.mode == UpsampleMode::NearestExact;
  Taps taps;
  for (size_t d = 0; d < 3; ++d) {
    TapRow& row = taps[d];
    row.input = input[d];
    row.output = output[d];
    if (nearest) {
      row.index.clear();
      for (int64_t o = 0; o < output[d]; ++o) {
        row.index.push_back(
            nearest_index(options, options.scales[d], o, input[d], output[d], dtype, positions));
      }
    } else if (input[d] == output[d] && !options.scales[d]) {
      row.index.resize(static_cast<size_t>(output[d]));
      for (size_t o = 0; o < row.index.size(); ++o) row.index[o] = static_cast<int64_t>(o);
      row.weight.assign(row.index.size(), 1);
    } else {
      row.index.clear();
      row.taps = options.mode == UpsampleMode::Cubic ? 4 : 2;
      const auto fill = [&]<class T>(T) {
        const auto fill_row = options.antialias ? antialias_row<T> : interpolate_row<T>;
        fill_row(options, options.scales[d], &row);
      };
      visit_float(dtype == DType::Float64 ? dtype : DType::Float32, fill);
    }
  }
  return taps;
}

}  // namespace sb::spatial
