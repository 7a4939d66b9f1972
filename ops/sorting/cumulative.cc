#include "switchboard/ops/sorting/cumulative.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <vector>

#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/sorting/rows.h"
#include "switchboard/ops/sorting/sort_keys.h"

namespace sb {
namespace {

template <SizeType Int>
BasicTensorMeta<Int> same_shape(const Tensor& self, DType dtype) {
  return {size_vector<Int>(self), dtype};
}
// Whether nothing is added or compared, so that any dtype will do.
template <SizeType Int>
bool is_trivial(const Tensor& self) {
  return self.dim() == 0 || same_size(numel_of<Int>(self), Int(0));
}

// Scans of rows that do not lie in one piece: of so many side by side at once.
constexpr int64_t kColumns = 64;

// How many elements a dense tensor has behind one along `dim`.
int64_t inner_numel(const Tensor& self, int64_t dim) {
  int64_t n = 1;
  for (int64_t d = dim + 1; d < self.dim(); ++d) n *= self.size(d);
  return n;
}

// The same as `scan`, of dense tensors of E, along a dimension that is not the last.
template <class E, class T, class Next>
void scan_columns(const Tensor& self, int64_t dim, T first, const Tensor& out, Next next) {
  const int64_t n = self.size(dim), inner = inner_numel(self, dim);
  const int64_t blocks = (inner + kColumns - 1) / kColumns, outer = self.numel() / (n * inner);
  const int64_t grain = std::max<int64_t>(1, kElementGrain / (n * std::min(inner, kColumns)));
  parallel_for(0, outer * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t column = b % blocks * kColumns;
      const int64_t width = std::min(kColumns, inner - column);
      const E* from = self.data<E>() + b / blocks * n * inner + column;
      E* to = out.data<E>() + (from - self.data<E>());
      T state[kColumns];
      std::fill_n(state, width, first);
      for (int64_t i = 0; i < n; ++i, from += inner, to += inner) {
        for (int64_t c = 0; c < width; ++c) {
          state[c] = next(state[c], static_cast<T>(from[c]));
          to[c] = static_cast<E>(state[c]);
        }
      }
    }
  });
}

// Runs over the elements of each row, converted to `through` and then to T, and writes what
// next(state, element) leaves in the state.
template <class T, class Next>
void scan(const Tensor& self, int64_t dim, DType through, T first, const Tensor& out, Next next) {
  if (self.numel() == 0) return;
  if (inner_numel(self, dim) >= 8 && self.is_contiguous() && out.is_contiguous() &&
      self.dtype() == through && out.dtype() == through) {
    if constexpr (std::is_same_v<T, double>) {
      if (through == DType::Float32) return scan_columns<float, T>(self, dim, first, out, next);
    }
    if constexpr (!std::is_same_v<T, std::complex<double>>) {
      if (through == dtype_of<T>) return scan_columns<T, T>(self, dim, first, out, next);
    }
  }
  constexpr int64_t kChunk = 256;
  const CastFunction convert = cast_function(self.dtype(), through);
  const CastFunction load = cast_function(through, dtype_of<T>);
  const CastFunction store = cast_function(dtype_of<T>, out.dtype());
  const int64_t middle_size = static_cast<int64_t>(itemsize(through));
  const Tensor* const operands[] = {&self, &out};
  for_each_row(operands, dim, self.dim() == 0 ? 1 : self.size(dim), [&](const Row* rows) {
    alignas(16) char middle[kChunk * 16];
    T elements[kChunk];
    T state = first;
    for (int64_t begin = 0; begin < rows[0].size; begin += kChunk) {
      const int64_t n = std::min(kChunk, rows[0].size - begin);
      convert(middle, middle_size, rows[0].at(begin), rows[0].step, n);
      load(reinterpret_cast<char*>(elements), sizeof(T), middle, middle_size, n);
      for (int64_t i = 0; i < n; ++i) elements[i] = state = next(state, elements[i]);
      store(rows[1].at(begin), rows[1].step, reinterpret_cast<char*>(elements), sizeof(T), n);
    }
  });
}

// Sums and products of integers wrap, those of floats are taken in float64.
template <class Next>
void scan_any(const Tensor& self, int64_t dim, int first, const Tensor& out, Next next) {
  const DType dtype = out.dtype();
  if (is_complex(dtype)) {
    scan<std::complex<double>>(self, dim, dtype, first, out, next);
  } else if (is_floating_point(dtype)) {
    scan<double>(self, dim, dtype, first, out, next);
  } else {
    scan<int64_t>(self, dim, dtype, first, out, [next](int64_t a, int64_t b) {
      return static_cast<int64_t>(next(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
    });
  }
}

struct Cumsum {
  static constexpr const char* op = "cumsum";
  static constexpr int kFirst = 0;
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Cumprod {
  static constexpr const char* op = "cumprod";
  static constexpr int kFirst = 1;
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
  // The textbook product, which turns infinities to NaN where C++'s would not.
  std::complex<double> operator()(std::complex<double> a, std::complex<double> b) const {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
};

template <class F>
struct Cumulative {
  // `dtype` is there by now.
  template <SizeType Int>
  static BasicTensorMeta<Int> rule(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
    wrap_dim(F::op, dim, self.dim());
    SB_CHECK_NOT_IMPLEMENTED(*dtype != DType::Bool || is_trivial<Int>(self), F::op,
                             ": not implemented for ", to_string(*dtype));
    return same_shape<Int>(self, *dtype);
  }
  static void kernel(const Tensor& self, int64_t dim, std::optional<DType>, const Tensor& out) {
    if (self.dim() == 0) {
      copy_elements(out, self);
    } else {
      scan_any(self, wrap_dim(F::op, dim, self.dim()), F::kFirst, out, F());
    }
  }

  static constexpr auto kRule = by_size_rule<rule<int64_t>, rule<SymInt>>;
  template <auto& op, bool with_data>
  static Tensor functional(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
    check_defined(F::op, self);
    const DType natural = is_integral(self.dtype(), true) ? DType::Int64 : self.dtype();
    return structured_form<kRule, &kernel>(op, with_data)(self, dim, dtype.value_or(natural));
  }
  template <auto& op, bool with_data>
  static Tensor inplace(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
    check_defined(F::op, self);
    return structured_form<kRule, &kernel>(op, with_data)(self, dim, dtype.value_or(self.dtype()));
  }
  template <auto& op, bool with_data>
  static Tensor out(const Tensor& self, int64_t dim, std::optional<DType> dtype,
                    const Tensor& out) {
    check_defined(F::op, out);
    return structured_form<kRule, &kernel>(op, with_data)(self, dim, dtype.value_or(out.dtype()),
                                                          out);
  }
  template <auto& op, auto& inplace_op, auto& out_op>
  static void define_forms(Library& m) {
    define(m, op).cpu(functional<op, true>).meta(functional<op, false>);
    define(m, inplace_op).cpu(inplace<inplace_op, true>).meta(inplace<inplace_op, false>);
    define(m, out_op).cpu(out<out_op, true>).meta(out<out_op, false>);
  }
};

template <SizeType Int>
BasicTensorMeta<Int> logcumsumexp_rule(const Tensor& self, int64_t dim) {
  wrap_dim("logcumsumexp", dim, self.dim());
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(self.dtype()) || is_complex(self.dtype()),
                           "logcumsumexp: not implemented for ", to_string(self.dtype()));
  return same_shape<Int>(self, self.dtype());
}
double log_add_exp(double a, double b) {
  if (a != a || b != b) return std::numeric_limits<double>::quiet_NaN();
  const double low = std::min(a, b);
  const double high = std::max(a, b);
  // Of two equal infinities the difference is NaN.
  if (low == high && std::isinf(low)) return low;
  return high + std::log1p(std::exp(low - high));
}
// Of two complex numbers, the one with the larger real part taken out; infinities of it as numbers.
std::complex<double> log_add_exp(std::complex<double> a, std::complex<double> b) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (std::isnan(a.real()) || std::isnan(b.real()) || std::isnan(a.imag()) || std::isnan(b.imag()))
    return {nan, nan};
  const auto [low, high] = a.real() < b.real() ? std::pair(a, b) : std::pair(b, a);
  if (std::isinf(low.real()) && low.real() == high.real()) {
    if (low.real() < 0) return low;
    return std::log(std::exp(low) + std::exp(high));
  }
  if (std::isinf(low.real()) && low.real() < 0) return high;
  return high + std::log(1.0 + std::exp(low - high));
}
void logcumsumexp_kernel(const Tensor& self, int64_t dim, const Tensor& out) {
  if (is_complex(self.dtype())) {
    scan<std::complex<double>>(
        self, wrap_dim("logcumsumexp", dim, self.dim()), self.dtype(),
        -std::numeric_limits<double>::infinity(), out,
        [](std::complex<double> x, std::complex<double> y) { return log_add_exp(x, y); });
    return;
  }
  scan<double>(self, wrap_dim("logcumsumexp", dim, self.dim()), self.dtype(),
               -std::numeric_limits<double>::infinity(), out,
               [](double x, double y) { return log_add_exp(x, y); });
}

template <bool largest>
struct Extreme {
  static constexpr const char* op = largest ? "cummax" : "cummin";

  template <SizeType Int>
  static std::array<BasicTensorMeta<Int>, 2> rule(const Tensor& self, int64_t dim) {
    wrap_dim(op, dim, self.dim());
    SB_CHECK_NOT_IMPLEMENTED(has_sort_keys(self.dtype()) || is_trivial<Int>(self), op,
                             ": not implemented for ", to_string(self.dtype()));
    return {{same_shape<Int>(self, self.dtype()), same_shape<Int>(self, DType::Int64)}};
  }
  static void kernel(const Tensor& self, int64_t dim, const Tensor& values, const Tensor& indices) {
    if (self.dim() == 0) {
      copy_elements(values, self);
      *indices.data<int64_t>() = 0;
      return;
    }
    if (self.numel() == 0) return;
    const Tensor* const operands[] = {&self, &values, &indices};
    const int64_t d = wrap_dim(op, dim, self.dim());
    const bool nan_sticks = !largest && has_nan(self.dtype());
    for_each_row(operands, d, self.size(d), [&](const Row* rows) {
      static thread_local std::vector<SortKey> keys;
      read_keys(self.dtype(), rows[0], &keys);
      int64_t best = 0;
      for (int64_t i = 0; i < rows[0].size; ++i) {
        const SortKey key = keys[static_cast<size_t>(i)];
        const SortKey best_key = keys[static_cast<size_t>(best)];
        if (nan_sticks && (key == kNanKey || best_key == kNanKey)) {
          if (key == kNanKey) best = i;
        } else if (largest ? key >= best_key : key <= best_key) {
          best = i;
        }
        copy_element(self.itemsize(), rows[1], i, rows[0], best);
        *reinterpret_cast<int64_t*>(rows[2].at(i)) = best;
      }
    });
  }
};

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  Cumulative<Cumsum>::define_forms<cumsum, cumsum_, cumsum_out>(m);
  Cumulative<Cumprod>::define_forms<cumprod, cumprod_, cumprod_out>(m);

  define(m, _logcumsumexp)
      .structured<by_size_rule<logcumsumexp_rule<int64_t>, logcumsumexp_rule<SymInt>>,
                  logcumsumexp_kernel>()
      .out(_logcumsumexp_out);
  define(m, logcumsumexp)
      .composite_explicit([](const Tensor& self, int64_t dim) { return _logcumsumexp(self, dim); })
      .out(logcumsumexp_out, [](const Tensor& self, int64_t dim, const Tensor& out) {
        return _logcumsumexp_out(self, dim, out);
      });

  using Max = Extreme<true>;
  using Min = Extreme<false>;
  define(m, cummax)
      .structured<by_size_rule<Max::rule<int64_t>, Max::rule<SymInt>>, Max::kernel>()
      .out(cummax_out);
  define(m, cummin)
      .structured<by_size_rule<Min::rule<int64_t>, Min::rule<SymInt>>, Min::kernel>()
      .out(cummin_out);
}

}  // namespace sb
