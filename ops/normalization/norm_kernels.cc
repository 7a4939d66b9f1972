#include "switchboard/ops/normalization/norm_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "Eigen/Core"
#include "switchboard/ops/cpu/reduce_sums.h"
#include "switchboard/ops/cpu/vector_math.h"

namespace sb::internal {
namespace {

constexpr int64_t kLanes = 64;
constexpr int64_t kBlock = 1024;
// What is left of a run is taken in parts of a whole packet each, filled up.
constexpr int64_t kPart = 16;

template <class T>
using Column = Eigen::Array<T, Eigen::Dynamic, 1>;
template <class T>
Eigen::Map<const Column<T>> column(const T* data, int64_t n) {
  return {data, n};
}
template <class T>
Eigen::Map<Column<T>> column(T* data, int64_t n) {
  return {data, n};
}
template <class T>
using Columns = Eigen::Array<T, Eigen::Dynamic, 1, 0, kNormColumns, 1>;

// Elements [i, i + size) of n, the missing ones as `fill`.
template <int64_t size, class T>
Eigen::Array<T, size, 1> load(const T* x, int64_t i, int64_t n, T fill) {
  if (i + size <= n) return Eigen::Map<const Eigen::Array<T, size, 1>>(x + i);
  Eigen::Array<T, size, 1> part = Eigen::Array<T, size, 1>::Constant(fill);
  part.head(n - i) = column(x + i, n - i);
  return part;
}
template <int64_t size, class T>
void store(T* x, int64_t i, int64_t n, const Eigen::Array<T, size, 1>& part) {
  if (i + size <= n) {
    Eigen::Map<Eigen::Array<T, size, 1>>(x + i) = part;
  } else {
    column(x + i, n - i) = part.head(n - i);
  }
}

// Calls f(i, size constant) for parts that cover [0, n), and adds up the array that each gives,
// which is 0 where elements are missing. f may give several, as an std::array.
template <class T, size_t sums, class F>
void for_each_part(int64_t n, double* totals, const F& f) {
  using Lanes = Eigen::Array<T, kLanes, 1>;
  for (int64_t i = 0; i < n;) {
    const int64_t end = std::min(i + kBlock, n);
    const bool few = end - i < kLanes;
    Lanes lanes[sums];
    for (Lanes& lane : lanes) lane.setZero();
    for (; i + kLanes <= end; i += kLanes) {
      f(i, std::integral_constant<int64_t, kLanes>(),
        [&](size_t s, const Lanes& part) { lanes[s] += part; });
    }
    for (; i < end; i += kPart) {
      f(i, std::integral_constant<int64_t, kPart>(),
        [&](size_t s, const Eigen::Array<T, kPart, 1>& part) {
          lanes[s].template head<kPart>() += part;
        });
    }
    i = end;
    for (size_t s = 0; s < sums; ++s) {
      Eigen::Array<T, kPart, 1> last = lanes[s].template head<kPart>();
      if (!few) {
        last = (last + lanes[s].template segment<kPart>(kPart)) +
               (lanes[s].template segment<kPart>(2 * kPart) + lanes[s].template tail<kPart>());
      }
      totals[s] += last.template cast<double>().sum();
    }
  }
}

// Of each element, how far it is from the middle, and the square of that: see reduce_sums.h.
template <class T>
struct Apart {
  T middle;
  T nothing() const { return middle; }
  template <class P>
  P of(const P& x) const {
    return Eigen::internal::psub(x, Eigen::internal::pset1<P>(middle));
  }
};
template <class T>
struct SquaredApart : Apart<T> {
  template <class P>
  P of(const P& x) const {
    const P apart = Apart<T>::of(x);
    return Eigen::internal::pmul(apart, apart);
  }
};
template <class T, class Map>
double sum_of(const T* x, int64_t n, const Map& map) {
  using Block = BlockSum<T, Map>;
  double total = 0;
  for (int64_t i = 0; i < n; i += Block::kBlock) {
    double parts[2];
    Block::add(x + i, std::min(Block::kBlock, n - i), n - i, parts, map);
    total += parts[0] + parts[1];
  }
  return total;
}

template <class T>
struct Kernels {
  // Of elements one of which is NaN, any: softmax is NaN all over then, by its sum.
  static T largest(const T* x, int64_t n) {
    using Lanes = Eigen::Array<T, kLanes, 1>;
    using Part = Eigen::Array<T, kPart, 1>;
    const T lowest = -std::numeric_limits<T>::infinity();
    Part part = Part::Constant(lowest);
    int64_t i = 0;
    if (n >= kLanes) {
      Lanes lanes = Eigen::Map<const Lanes>(x);
      for (i = kLanes; i + kLanes <= n; i += kLanes) {
        lanes = lanes.max(Eigen::Map<const Lanes>(x + i)).eval();
      }
      part = lanes.template head<kPart>()
                 .max(lanes.template segment<kPart>(kPart))
                 .max(lanes.template segment<kPart>(2 * kPart).max(lanes.template tail<kPart>()));
    }
    for (; i < n; i += kPart) part = part.max(load<kPart>(x, i, n, lowest)).eval();
    return part.maxCoeff();
  }

  static void softmax(T* out, const T* x, int64_t n, bool log) {
    const T max = largest(x, n);
    const T nothing = -std::numeric_limits<T>::infinity();
    double sum = 0;
    for_each_part<T, 1>(n, &sum, [&](int64_t i, auto size, const auto& add) {
      const Eigen::Array<T, size(), 1> e = vec::exp(load<size()>(x, i, n, nothing) - max);
      if (!log) store<size()>(out, i, n, e);
      add(0, e);
    });
    if (log) {
      column(out, n) = (column(x, n) - max) - static_cast<T>(std::log(sum));
    } else {
      column(out, n) *= static_cast<T>(1 / sum);
    }
  }

  static void softmax_columns(T* out, const T* x, int64_t rows, int64_t columns, int64_t stride,
                              bool log) {
    const auto row = [&](int64_t r) {
      return Eigen::Map<const Columns<T>>(x + r * stride, columns);
    };
    Columns<T> max = row(0);
    for (int64_t r = 1; r < rows; ++r) max = max.max(row(r)).eval();
    Columns<double> sum = Columns<double>::Zero(columns);
    Columns<T> e(columns);
    for (int64_t r = 0; r < rows; ++r) {
      e = vec::exp((row(r) - max).eval());
      if (!log) column(out + r * stride, columns) = e;
      sum += e.template cast<double>();
    }
    if (log) {
      const Columns<T> logs = vec::log(sum).template cast<T>();
      for (int64_t r = 0; r < rows; ++r) {
        column(out + r * stride, columns) = (row(r) - max) - logs;
      }
    } else {
      const Columns<T> factors = sum.inverse().template cast<T>();
      for (int64_t r = 0; r < rows; ++r) column(out + r * stride, columns) *= factors;
    }
  }

  // Of softmax: y * (grad - sum(grad * y)); of its logarithm: grad - exp(y) * sum(grad).
  static void softmax_backward(T* grad_input, const T* grad, const T* y, int64_t n, bool log) {
    double sum = 0;
    for_each_part<T, 1>(n, &sum, [&](int64_t i, auto size, const auto& add) {
      const Eigen::Array<T, size(), 1> g = load<size()>(grad, i, n, T(0));
      if (log) {
        add(0, g);
      } else {
        add(0, g * load<size()>(y, i, n, T(0)));
      }
    });
    const auto g = column(grad, n), x = column(y, n);
    const T total = static_cast<T>(sum);
    if (log) {
      column(grad_input, n) = g - vec::exp(x) * total;
    } else {
      column(grad_input, n) = (g - total) * x;
    }
  }
  static void softmax_backward_columns(T* grad_input, const T* grad, const T* y, int64_t rows,
                                       int64_t columns, int64_t stride, bool log) {
    Columns<double> sum = Columns<double>::Zero(columns);
    for (int64_t r = 0; r < rows; ++r) {
      const auto g = column(grad + r * stride, columns).template cast<double>();
      if (log) {
        sum += g;
      } else {
        sum += g * column(y + r * stride, columns).template cast<double>();
      }
    }
    const Columns<T> total = sum.template cast<T>();
    for (int64_t r = 0; r < rows; ++r) {
      const auto g = column(grad + r * stride, columns), x = column(y + r * stride, columns);
      if (log) {
        column(grad_input + r * stride, columns) = g - vec::exp(x) * total;
      } else {
        column(grad_input + r * stride, columns) = (g - total) * x;
      }
    }
  }

  static void moments(const T* x, int64_t n, double* mean, double* variance) {
    const double count = static_cast<double>(n);
    *mean = sum_of(x, n, Keep()) / count;
    const T middle = static_cast<T>(*mean);
    // What `middle` is off the mean is taken out again.
    const double off = sum_of(x, n, Apart<T>{middle}) / count;
    *variance = sum_of(x, n, SquaredApart<T>{{middle}}) / count - off * off;
  }

  static void layer_norm(T* out, const T* x, int64_t n, T mean, T rstd, const T* weight,
                         const T* bias) {
    const auto y = (column(x, n) - mean) * rstd;
    auto to = column(out, n);
    if (weight && bias) {
      to = y * column(weight, n) + column(bias, n);
    } else if (weight) {
      to = y * column(weight, n);
    } else if (bias) {
      to = y + column(bias, n);
    } else {
      to = y;
    }
  }
  static void layer_norm_backward(T* grad_input, const T* grad, const T* x, int64_t n, T mean,
                                  T rstd, const T* weight) {
    double sums[2] = {0, 0};
    for_each_part<T, 2>(n, sums, [&](int64_t i, auto size, const auto& add) {
      Eigen::Array<T, size(), 1> g = load<size()>(grad, i, n, T(0));
      if (weight) g *= load<size()>(weight, i, n, T(0));
      add(0, g);
      add(1, g * (load<size()>(x, i, n, mean) - mean));
    });
    const double count = static_cast<double>(n);
    const T a = static_cast<T>(sums[0] / count);
    const T b =
        static_cast<T>(sums[1] / count * static_cast<double>(rstd) * static_cast<double>(rstd));
    const auto g = column(grad, n);
    const auto apart = column(x, n) - mean;
    if (weight) {
      column(grad_input, n) = (g * column(weight, n) - a - apart * b) * rstd;
    } else {
      column(grad_input, n) = (g - a - apart * b) * rstd;
    }
  }

  static void affine(T* out, const T* x, int64_t n, T mean, T a, T b) {
    column(out, n) = (column(x, n) - mean) * a + b;
  }
  static void affine_each(T* out, const T* x, int64_t n, const T* mean, const T* a, const T* b) {
    column(out, n) = (column(x, n) - column(mean, n)) * column(a, n) + column(b, n);
  }
  static void affine2(T* out, const T* x, const T* y, int64_t n, T a, T b, T c) {
    column(out, n) = column(x, n) * a + column(y, n) * b + c;
  }
  static void affine2_each(T* out, const T* x, const T* y, int64_t n, const T* a, const T* b,
                           const T* c) {
    column(out, n) = column(x, n) * column(a, n) + column(y, n) * column(b, n) + column(c, n);
  }

  static void sum_pairs(const T* g, const T* x, int64_t n, T shift, double* sums) {
    for_each_part<T, 2>(n, sums, [&](int64_t i, auto size, const auto& add) {
      const Eigen::Array<T, size(), 1> part = load<size()>(g, i, n, T(0));
      add(0, part);
      add(1, part * (load<size()>(x, i, n, shift) - shift));
    });
  }
  static void sum_pair_columns(const T* g, const T* x, int64_t rows, int64_t columns,
                               int64_t stride, const T* shift, double* sums, double* products) {
    auto sum = column(sums, columns), product = column(products, columns);
    for (int64_t r = 0; r < rows; ++r) {
      const auto part = column(g + r * stride, columns);
      const auto apart = column(x + r * stride, columns) - column(shift, columns);
      sum += part.template cast<double>();
      product += (part * apart).template cast<double>();
    }
  }
  static void sum_pair_columns_by_row(const T* g, const T* x, int64_t rows, int64_t columns,
                                      int64_t stride, const T* shift, const T* scale, double* sums,
                                      double* products) {
    auto sum = column(sums, columns), product = column(products, columns);
    for (int64_t r = 0; r < rows; ++r) {
      const auto part = column(g + r * stride, columns);
      const auto apart = (column(x + r * stride, columns) - shift[r]) * scale[r];
      sum += part.template cast<double>();
      product += (part * apart).template cast<double>();
    }
  }

  static constexpr NormKernels<T> table() {
    return {softmax,
            softmax_columns,
            softmax_backward,
            softmax_backward_columns,
            moments,
            layer_norm,
            layer_norm_backward,
            affine,
            affine_each,
            affine2,
            affine2_each,
            sum_pairs,
            sum_pair_columns,
            sum_pair_columns_by_row};
  }
};

}  // namespace

SB_CPU_KERNEL(NormKernels<float>, norm_kernels_float, Kernels<float>::table());
SB_CPU_KERNEL(NormKernels<double>, norm_kernels_double, Kernels<double>::table());

}  // namespace sb::internal
