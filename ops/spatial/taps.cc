#include "switchboard/ops/spatial/taps.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/spatial/taps_kernels.h"

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

// Where a row of outputs comes from; rows count through all planes.
struct RowPlace {
  RowPlace(const Taps& t, int64_t row) {
    const int64_t rows = t[0].output * t[1].output;
    const int64_t plane = row / rows * t[0].input * t[1].input;
    const auto d = static_cast<size_t>(row % rows / t[1].output);
    const auto h = static_cast<size_t>(row % t[1].output);
    for (size_t i = d * t[0].taps; i < (d + 1) * t[0].taps; ++i) {
      for (size_t j = h * t[1].taps; j < (h + 1) * t[1].taps; ++j) {
        inputs.push_back(plane + t[0].index[i] * t[1].input + t[1].index[j]);
        weights.push_back(weight_of(t[0], i) * weight_of(t[1], j));
      }
    }
  }
  absl::InlinedVector<int64_t, 16> inputs;  // rows of inputs
  absl::InlinedVector<double, 16> weights;
};

// Outputs of a row that come from inputs side by side.
struct Run {
  int64_t output, input, length;
};
std::vector<Run> runs_of(const TapRow& row) {
  std::vector<Run> runs;
  for (int64_t x = 0; x < row.output; ++x) {
    const int64_t i = row.index[static_cast<size_t>(x)];
    if (!runs.empty() && runs.back().input + runs.back().length == i) {
      ++runs.back().length;
    } else {
      runs.push_back({x, i, 1});
    }
  }
  return runs;
}

// Calls f(from, to) for rows of outputs, in parallel.
template <class F>
void for_each_output_row(const Taps& t, int64_t outputs, int64_t cost, const F& f) {
  if (outputs > 0) parallel_for(0, outputs / t[2].output, grain_for(cost), f);
}

template <class T>
const InterpolationKernels<T>& kernels() {
  if constexpr (std::is_same_v<T, float>) {
    return *interpolation_kernels_float;
  } else {
    return *interpolation_kernels_double;
  }
}

// First across the rows of inputs, each once, then down over what that gives.
template <class T>
class Interpolation {
 public:
  Interpolation(const Taps& t, const T* input, T* output, int64_t inner)
      : taps_(t), input_(input), output_(output), inner_(inner), given_(t[2].input * inner) {
    SB_CHECK(t[2].input <= std::numeric_limits<int32_t>::max() / inner,
             "upsample: expected less than 2^31 elements in a row, got ", given_);
    const auto outputs = static_cast<size_t>(t[2].output);
    made_ = t[2].output * inner;
    for (size_t k = 0; k < t[2].taps; ++k) {
      for (size_t x = 0; x < outputs; ++x) {
        const size_t i = x * t[2].taps + k;
        index_.push_back(static_cast<int32_t>(t[2].index[i] * inner));
        weight_.push_back(static_cast<T>(weight_of(t[2], i)));
        is_same_ = is_same_ && t[2].index[i] == static_cast<int64_t>(x) && weight_.back() == 1;
      }
    }
    is_same_ = is_same_ && t[2].taps == 1 && t[2].output == t[2].input;
  }

  void run(int64_t from, int64_t to) const {
    const size_t taps = taps_[0].taps * taps_[1].taps;
    std::vector<T> buffer(is_same_ ? 0 : taps * static_cast<size_t>(made_));
    std::vector<int64_t> kept(taps, -1);  // the row of inputs in each part of the buffer
    std::vector<const T*> rows(taps);
    std::vector<T> weights(taps);
    for (int64_t o = from; o < to; ++o) {
      const RowPlace at(taps_, o);
      for (size_t k = 0; k < taps; ++k) {
        weights[k] = static_cast<T>(at.weights[k]);
        rows[k] = is_same_ ? input_ + at.inputs[k] * given_
                           : across(at.inputs[k], at.inputs, &kept, buffer.data());
      }
      kernels<T>().down(
          {rows.data(), weights.data(), static_cast<int64_t>(taps), output_ + o * made_, made_});
    }
  }

 private:
  // The row's interpolation, in a part of the buffer that holds none of `needed`.
  const T* across(int64_t row, absl::Span<const int64_t> needed, std::vector<int64_t>* kept,
                  T* buffer) const {
    const auto part = [&](auto it) {
      return buffer + (it - kept->begin()) * static_cast<std::ptrdiff_t>(made_);
    };
    if (const auto known = std::ranges::find(*kept, row); known != kept->end()) return part(known);
    const auto is_free = [&](int64_t r) { return std::ranges::find(needed, r) == needed.end(); };
    const auto free = std::ranges::find_if(*kept, is_free);
    *free = row;
    kernels<T>().across({input_ + row * given_, part(free), index_.data(), weight_.data(),
                         static_cast<int64_t>(taps_[2].taps), taps_[2].output, inner_});
    return part(free);
  }

  const Taps& taps_;
  const T* input_;
  T* output_;
  int64_t inner_, given_, made_;
  std::vector<int32_t> index_;
  std::vector<T> weight_;
  bool is_same_ = true;
};

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

void gather_planes(const Taps& t, const Tensor& input, const Tensor& output, int64_t inner) {
  const std::vector<Run> runs = runs_of(t[2]);
  const auto size = static_cast<int64_t>(output.itemsize()) * inner;
  for_each_output_row(
      t, output.numel() / inner, t[2].output * inner, [&](int64_t from, int64_t to) {
        const char* last = nullptr;
        for (int64_t row = from; row < to; ++row) {
          const RowPlace at(t, row);
          const char* const source =
              static_cast<const char*>(input.data_ptr()) + at.inputs[0] * t[2].input * size;
          char* const target = static_cast<char*>(output.data_ptr()) + row * t[2].output * size;
          if (source == last) {
            std::memcpy(target, target - t[2].output * size,
                        static_cast<size_t>(t[2].output * size));
          } else if (inner > 1 || runs.size() * 4 < t[2].index.size()) {
            for (const Run& run : runs)
              std::memcpy(target + run.output * size, source + run.input * size,
                          static_cast<size_t>(run.length * size));
          } else {
            visit_size(output.itemsize(), [&]<class T>(T) {
              const auto* const in = reinterpret_cast<const T*>(source);
              auto* const out = reinterpret_cast<T*>(target);
              for (int64_t x = 0; x < t[2].output; ++x)
                out[x] = in[t[2].index[static_cast<size_t>(x)]];
            });
          }
          last = source;
        }
      });
}

void interpolate_planes(const Taps& t, const Tensor& input, const Tensor& output, int64_t inner) {
  visit_float(output.dtype(), [&]<class T>(T) {
    const Interpolation<T> map(t, input.data<T>(), output.data<T>(), inner);
    const int64_t cost = t[2].output * inner * static_cast<int64_t>(t[2].taps + 1);
    for_each_output_row(t, output.numel() / inner, cost,
                        [&](int64_t from, int64_t to) { map.run(from, to); });
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
