#include "switchboard/ops/spatial/taps.h"

#include <algorithm>

#include "switchboard/ops/cpu/parallel.h"

namespace sb::spatial {
namespace {

double weight_of(const TapRow& row, size_t i) { return row.weight.empty() ? 1 : row.weight[i]; }

// Calls f(output row, input row, weight) for each row of an output plane and each input row that it
// comes from; of one output row one after the other.
template <class F>
void for_each_row_pair(const Taps& t, const F& f) {
  for (int64_t d = 0; d < t[0].output; ++d) {
    for (int64_t h = 0; h < t[1].output; ++h) {
      for (size_t kd = 0; kd < t[0].taps; ++kd) {
        for (size_t kh = 0; kh < t[1].taps; ++kh) {
          const size_t i = static_cast<size_t>(d) * t[0].taps + kd;
          const size_t j = static_cast<size_t>(h) * t[1].taps + kh;
          f(d * t[1].output + h, t[0].index[i] * t[1].input + t[1].index[j],
            weight_of(t[0], i) * weight_of(t[1], j));
        }
      }
    }
  }
}

// Calls f(plane, elements of an input plane before it, of an output plane), in parallel.
template <class F>
void for_each_plane(const Taps& t, int64_t output_numel, const F& f) {
  const int64_t in = t[0].input * t[1].input * t[2].input;
  const int64_t out = t[0].output * t[1].output * t[2].output;
  if (output_numel == 0) return;
  const auto cost = out * static_cast<int64_t>(t[0].taps * t[1].taps * t[2].taps);
  parallel_for(0, output_numel / out, grain_for(cost), [&](int64_t from, int64_t to) {
    for (int64_t p = from; p < to; ++p) f(p * in, p * out);
  });
}

}  // namespace

void gather_planes(const Taps& t, const Tensor& input, const Tensor& output) {
  visit_size(output.itemsize(), [&]<class T>(T) {
    for_each_plane(t, output.numel(), [&](int64_t in, int64_t out) {
      const T* from = static_cast<const T*>(input.data_ptr()) + in;
      T* to = static_cast<T*>(output.data_ptr()) + out;
      for_each_row_pair(t, [&](int64_t o, int64_t i, double) {
        for (int64_t x = 0; x < t[2].output; ++x) {
          to[o * t[2].output + x] = from[i * t[2].input + t[2].index[static_cast<size_t>(x)]];
        }
      });
    });
  });
}

void interpolate_planes(const Taps& t, const Tensor& input, const Tensor& output) {
  visit_float(output.dtype(), [&]<class T>(T) {
    const size_t taps = t[2].taps;
    const std::vector<T> weights(t[2].weight.begin(), t[2].weight.end());
    for_each_plane(t, output.numel(), [&](int64_t in, int64_t out) {
      const T* from = input.data<T>() + in;
      T* to = output.data<T>() + out;
      std::fill_n(to, t[0].output * t[1].output * t[2].output, T(0));
      for_each_row_pair(t, [&](int64_t o, int64_t i, double weight) {
        const T* from_row = from + i * t[2].input;
        T* to_row = to + o * t[2].output;
        for (size_t x = 0; x < static_cast<size_t>(t[2].output); ++x) {
          T sum = T(0);
          for (size_t k = x * taps; k < (x + 1) * taps; ++k) {
            sum += weights[k] * from_row[t[2].index[k]];
          }
          to_row[x] += static_cast<T>(weight) * sum;
        }
      });
    });
  });
}

void spread_planes(const Taps& t, const Tensor& grad_output, const Tensor& grad_input) {
  visit_number(grad_input.dtype(), [&]<class T>(T) {
    using Sum = SumType<T>;
    std::fill_n(grad_input.data<T>(), grad_input.numel(), T(0));
    const size_t taps = t[2].taps;
    for_each_plane(t, grad_output.numel(), [&](int64_t in, int64_t out) {
      const T* from = grad_output.data<T>() + out;
      Sum* to = reinterpret_cast<Sum*>(grad_input.data<T>()) + in;
      for_each_row_pair(t, [&](int64_t o, int64_t i, double weight) {
        for (size_t x = 0; x < static_cast<size_t>(t[2].output); ++x) {
          const T g = from[o * t[2].output + static_cast<int64_t>(x)];
          for (size_t k = x * taps; k < (x + 1) * taps; ++k) {
            Sum& target = to[i * t[2].input + t[2].index[k]];
            // Without weights nothing is multiplied: an infinity stays one in complex numbers.
            if (t[2].weight.empty()) {
              target += static_cast<Sum>(g);
            } else {
              target += static_cast<Sum>(static_cast<T>(weight * t[2].weight[k]) * g);
            }
          }
        }
      });
    });
  });
}

}  // namespace sb::spatial
