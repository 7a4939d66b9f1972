#include "switchboard/ops/spatial/pool_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/spatial/pool_kernels.h"

namespace sb::spatial {
namespace {

// Calls f(o, [d, h, w] of the output) for each output of a plane, in order.
template <class F>
void for_each_output(const PoolWindows& w, const F& f) {
  int64_t o = 0;
  for (int64_t d = 0; d < w.output[0]; ++d) {
    for (int64_t h = 0; h < w.output[1]; ++h) {
      for (int64_t x = 0; x < w.output[2]; ++x) f(o++, Size3{d, h, x});
    }
  }
}

// Calls f(i) for the place in the plane of each element that the output at `at` sees.
template <class F>
void for_each_in_window(const PoolWindows& w, const Size3& at, const F& f) {
  const auto start = [&](size_t d) { return w.rows[d].start[static_cast<size_t>(at[d])]; };
  const auto end = [&](size_t d) { return w.rows[d].end[static_cast<size_t>(at[d])]; };
  const int64_t x_start = start(2), x_end = end(2);
  for (int64_t d = start(0); d < end(0); d += w.rows[0].step) {
    for (int64_t h = start(1); h < end(1); h += w.rows[1].step) {
      const int64_t row = (d * w.input[1] + h) * w.input[2];
      for (int64_t x = x_start; x < x_end; x += w.rows[2].step) f(row + x);
    }
  }
}

// 0 for a window without elements. A window with more padding than int64 counts wraps.
int64_t divisor_at(const PoolWindows& w, const AverageOptions& options, const Size3& at) {
  uint64_t padded = 1;
  int64_t inside = 1;
  for (size_t d = 0; d < 3; ++d) {
    const size_t i = static_cast<size_t>(at[d]);
    padded *= static_cast<uint64_t>(w.rows[d].padded[i]);
    inside *= std::max<int64_t>(0, w.rows[d].end[i] - w.rows[d].start[i]);
  }
  if (inside == 0) return 0;
  if (options.divisor) return *options.divisor;
  return options.count_include_pad ? static_cast<int64_t>(padded) : inside;
}

int64_t window_cost(const PoolWindows& w) {
  int64_t n = 1;
  for (const WindowRow& row : w.rows) {
    if (!row.start.empty()) n *= std::max<int64_t>(1, row.end[0] - row.start[0]);
  }
  return n * volume(w.output);
}

// The mean of so many. Integers wrap: the lowest divided by -1 is itself.
template <class T>
T divided(T sum, int64_t divisor) {
  if constexpr (std::is_integral_v<T>) {
    const int64_t quotient = divisor == -1
                                 ? static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(sum))
                                 : static_cast<int64_t>(sum) / divisor;
    return static_cast<T>(quotient);
  } else {
    return static_cast<T>(sum / static_cast<T>(divisor));
  }
}

// The place where a window starts, which PyTorch gives for one of wide steps that sees nothing but
// padding.
int64_t start_of(const PoolWindows& w, const Size3& at) {
  int64_t place = 0;
  for (size_t d = 0; d < 3; ++d)
    place = place * w.input[d] + w.rows[d].start[static_cast<size_t>(at[d])];
  return place;
}

template <class T>
void max_window(const PoolWindows& w, const Size3& at, const T* in, T* out, int64_t* index) {
  int64_t best = start_of(w, at);
  using Limits = std::numeric_limits<T>;
  T largest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  for_each_in_window(w, at, [&](int64_t i) {
    if (in[i] > largest || in[i] != in[i]) {
      best = i;
      largest = in[i];
    }
  });
  *out = largest;
  *index = best;
}

// The outputs of a row from `begin` to `end` whose windows are whole and `stride` apart; none where
// they are few.
struct EvenRun {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t stride = 1;
};
EvenRun even_run(const WindowRow& row) {
  const auto length = [&](size_t x) { return row.end[x] - row.start[x]; };
  const size_t middle = row.start.size() / 2;
  if (middle == 0 || middle + 1 == row.start.size()) return {};
  const int64_t stride = row.start[middle + 1] - row.start[middle];
  const auto follows = [&](size_t x) {
    return length(x) == length(middle) && length(x + 1) == length(middle) &&
           row.start[x + 1] - row.start[x] == stride;
  };
  size_t begin = middle, end = middle;
  while (begin > 0 && follows(begin - 1)) --begin;
  while (end + 1 < row.start.size() && follows(end)) ++end;
  const EvenRun run{static_cast<int64_t>(begin), static_cast<int64_t>(end) + 1, stride};
  return run.end - run.begin >= kMaxRowCount ? run : EvenRun{};
}

// How many elements the output at `at` sees.
int64_t window_count(const PoolWindows& w, const Size3& at) {
  int64_t n = 1;
  for (size_t d = 0; d < 3; ++d) {
    const WindowRow& row = w.rows[d];
    const size_t i = static_cast<size_t>(at[d]);
    n *= std::max<int64_t>(0, (row.end[i] - row.start[i] + row.step - 1) / row.step);
  }
  return n;
}

// The run's outputs of the row `at`.
void max_run(const PoolWindows& w, const EvenRun& run, Size3 at, const float* in, float* out,
             int64_t* indices) {
  at[2] = run.begin;
  std::vector<int64_t> offsets;
  for_each_in_window(w, at, [&](int64_t i) { offsets.push_back(i); });
  const int64_t count = run.end - run.begin;
  std::vector<float> taps(static_cast<size_t>(count));
  (*max_row_kernel)({in, offsets.data(), static_cast<int64_t>(offsets.size()), run.stride, count,
                     out, taps.data()});
  for (int64_t x = 0; x < count; ++x) {
    indices[x] = offsets[static_cast<size_t>(taps[static_cast<size_t>(x)])] + x * run.stride;
  }
}

template <class T>
void max_pool(const PoolWindows& w, const T* in, T* out, int64_t* indices) {
  const EvenRun run = std::is_same_v<T, float> ? even_run(w.rows[2]) : EvenRun{};
  for (Size3 at = {0, 0, 0}; at[0] < w.output[0]; ++at[0]) {
    for (at[1] = 0; at[1] < w.output[1]; ++at[1], out += w.output[2], indices += w.output[2]) {
      EvenRun even = run;
      if (even.end > 0) {
        const int64_t taps = window_count(w, {at[0], at[1], even.begin});
        if (taps == 0 || taps > kMaxTaps) even = {};
      }
      if constexpr (std::is_same_v<T, float>) {
        if (even.end > 0) max_run(w, even, at, in, out + even.begin, indices + even.begin);
      }
      for (at[2] = 0; at[2] < w.output[2]; ++at[2]) {
        if (at[2] == even.begin) at[2] = even.end;
        if (at[2] < w.output[2]) max_window(w, at, in, out + at[2], indices + at[2]);
      }
    }
  }
}

// The sum of the elements that the output at `at` sees.
template <class T>
T sum_window(const PoolWindows& w, const Size3& at, const T* elements) {
  using Sum = SumType<T>;
  const Sum* const in = reinterpret_cast<const Sum*>(elements);
  const size_t x = static_cast<size_t>(at[2]), h = static_cast<size_t>(at[1]);
  Sum sum = Sum(0);
  if (w.rows[2].start[x] == 0 && w.rows[2].end[x] == w.input[2] && w.rows[2].step == 1 &&
      w.rows[1].step == 1) {
    // Whole rows follow on one another.
    const int64_t first = w.rows[1].start[h], rows = w.rows[1].end[h] - first;
    const size_t d = static_cast<size_t>(at[0]);
    for (int64_t z = w.rows[0].start[d]; z < w.rows[0].end[d]; z += w.rows[0].step) {
      sum +=
          Eigen::Map<const Eigen::Array<Sum, Eigen::Dynamic, 1>>(
              in + (z * w.input[1] + first) * w.input[2], std::max<int64_t>(0, rows) * w.input[2])
              .sum();
    }
    return static_cast<T>(sum);
  }
  for_each_in_window(w, at, [&](int64_t i) { sum += in[i]; });
  return static_cast<T>(sum);
}

}  // namespace

void max_pool_plane(const PoolWindows& windows, const Tensor& input, const Tensor& output,
                    const Tensor& indices, int64_t plane) {
  const auto pool = [&]<class T>(T) {
    const int64_t from = plane * volume(windows.input), to = plane * volume(windows.output);
    max_pool(windows, input.data<T>() + from, output.data<T>() + to, indices.data<int64_t>() + to);
  };
  input.dtype() == DType::Int64 ? pool(int64_t{}) : visit_float(input.dtype(), pool);
}

void max_pool_planes(const PoolWindows& windows, const Tensor& input, const Tensor& output,
                     const Tensor& indices) {
  if (output.numel() == 0) return;
  parallel_for(0, output.numel() / volume(windows.output), grain_for(window_cost(windows)),
               [&](int64_t from, int64_t to) {
                 for (int64_t p = from; p < to; ++p) {
                   max_pool_plane(windows, input, output, indices, p);
                 }
               });
}

void max_pool_channels_last(const PoolWindows& w, const Tensor& input, const Tensor& output,
                            const Tensor& indices) {
  if (output.numel() == 0) return;
  const int64_t channels = input.size(1), row = w.output[2] * channels;
  const int64_t rows = output.numel() / row, plane_rows = w.output[0] * w.output[1];
  const int64_t cost = window_cost(w) / plane_rows * channels;
  parallel_for(0, rows, grain_for(cost), [&](int64_t from, int64_t to) {
    std::vector<int64_t> places;
    std::vector<int32_t> taps(static_cast<size_t>(channels));
    for (int64_t r = from; r < to; ++r) {
      const int64_t in_plane = r % plane_rows;
      const float* const in = input.data<float>() + r / plane_rows * volume(w.input) * channels;
      float* out = output.data<float>() + r * row;
      int64_t* index = indices.data<int64_t>() + r * row;
      Size3 at = {in_plane / w.output[1], in_plane % w.output[1], 0};
      for (; at[2] < w.output[2]; ++at[2], out += channels, index += channels) {
        places.clear();
        for_each_in_window(w, at, [&](int64_t i) { places.push_back(i); });
        const auto count = static_cast<int64_t>(places.size());
        if (count == 0) places.push_back(start_of(w, at));
        (*max_channels_kernel)({in, places.data(), count, channels, out, taps.data()});
        for (int64_t c = 0; c < channels; ++c)
          index[c] = places[static_cast<size_t>(taps[static_cast<size_t>(c)])];
      }
    }
  });
}

void average_planes(const PoolWindows& w, AverageOptions options, const Tensor& input,
                    const Tensor& output) {
  if (output.numel() == 0) return;
  visit_real(input.dtype(), [&]<class T>(T) {
    parallel_for(0, output.numel() / volume(w.output), grain_for(window_cost(w)),
                 [&](int64_t from, int64_t to) {
                   for (int64_t p = from; p < to; ++p) {
                     const T* in = input.data<T>() + p * volume(w.input);
                     T* out = output.data<T>() + p * volume(w.output);
                     for_each_output(w, [&](int64_t o, const Size3& at) {
                       const T sum = sum_window(w, at, in);
                       const int64_t divisor = divisor_at(w, options, at);
                       out[o] = divisor == 0 ? T(0) : divided(sum, divisor);
                     });
                   }
                 });
  });
}

void average_planes_backward(const PoolWindows& w, AverageOptions options,
                             const Tensor& grad_output, const Tensor& grad_input) {
  if (grad_input.numel() == 0) return;
  visit_real(grad_input.dtype(), [&]<class T>(T) {
    parallel_for(0, grad_input.numel() / volume(w.input), grain_for(window_cost(w)),
                 [&](int64_t from, int64_t to) {
                   for (int64_t p = from; p < to; ++p) {
                     const T* out = grad_output.data<T>() + p * volume(w.output);
                     using Sum = SumType<T>;
                     Sum* in = reinterpret_cast<Sum*>(grad_input.data<T>()) + p * volume(w.input);
                     std::fill_n(in, volume(w.input), Sum(0));
                     for_each_output(w, [&](int64_t o, const Size3& at) {
                       const int64_t divisor = divisor_at(w, options, at);
                       if (divisor == 0) return;
                       const Sum share = static_cast<Sum>(divided(out[o], divisor));
                       for_each_in_window(w, at, [&](int64_t i) { in[i] += share; });
                     });
                   }
                 });
  });
}

void check_plane_indices(std::string_view op, const Tensor& indices, int64_t plane_size) {
  const int64_t* index = indices.data<int64_t>();
  for (int64_t i = 0; i < indices.numel(); ++i) {
    SB_CHECK(index[i] >= 0 && index[i] < plane_size, op,
             ": indices: expected at least 0 and below ", plane_size, ", got ", index[i]);
  }
}

void scatter_to_planes(const Tensor& source, const Tensor& indices, const Tensor& target,
                       int64_t planes, bool add) {
  if (target.numel() == 0) return;
  const int64_t from_size = source.numel() / planes, to_size = target.numel() / planes;
  visit_real(target.dtype(), [&]<class T>(T) {
    parallel_for(0, planes, grain_for(from_size + to_size), [&](int64_t from, int64_t to) {
      for (int64_t p = from; p < to; ++p) {
        const T* in = source.data<T>() + p * from_size;
        const int64_t* index = indices.data<int64_t>() + p * from_size;
        T* out = target.data<T>() + p * to_size;
        std::fill_n(out, to_size, T(0));
        for (int64_t i = 0; i < from_size; ++i) {
          if (add) {
            out[index[i]] += in[i];
          } else {
            out[index[i]] = in[i];
          }
        }
      }
    });
  });
}

void max_backward(std::string_view op, const Tensor& grad_output, const Tensor& self,
                  const Tensor& indices, const Tensor& grad_input, int n) {
  if (grad_input.numel() == 0) return;
  const int64_t plane_size = volume(space_of(self.sizes(), n));
  const Tensor index = dense_input(indices, DType::Int64);
  check_plane_indices(op, index, plane_size);
  const DType dtype = computed_in_float(op, self.dtype());
  const DenseOutput dense(grad_input, dtype);
  scatter_to_planes(dense_input(grad_output, dtype), index, dense.tensor(),
                    self.numel() / plane_size, /*add=*/true);
  dense.finish();
}

}  // namespace sb::spatial
