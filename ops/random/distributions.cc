#include "switchboard/ops/random/distributions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "switchboard/core/dtype_types.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/random/draw_kernels.h"
#include "switchboard/ops/random/random_fill.h"

namespace sb {
namespace {

using internal::draw_kernels;
using OptionalGenerator = std::optional<Generator>;

// Fills with f(block), a double.
template <class F>
void fill_with(std::string_view op, const Tensor& self, const OptionalGenerator& generator,
               const F& f) {
  random_fill(op, self, generator, [&](absl::Span<const PhiloxBlock> blocks, double* out) {
    for (const PhiloxBlock& block : blocks) *out++ = f(block);
  });
}

// How many digits of a floating-point dtype are exact: integers up to 2^digits are.
int digits_of(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return 11;
    case DType::BFloat16:
      return 8;
    case DType::Float32:
    case DType::Complex64:
      return 24;
    default:
      return 53;
  }
}

// Whether a float holds all that the dtype does.
bool is_drawn_in_float(DType dtype) { return digits_of(dtype) <= 24; }

void uniform_body(const Tensor& self, double from, double to, const OptionalGenerator& generator) {
  check_filled("uniform_", self, is_any_floating);
  const double largest = visit_dtype(self.dtype(), []<class T>() -> double {
    if constexpr (std::is_same_v<T, Half>)
      return 65504;
    else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>)
      return std::numeric_limits<double>::max();
    else
      return std::numeric_limits<float>::max();
  });
  SB_CHECK(from >= -largest && from <= largest, "uniform_: argument from: ", from,
           " is out of bounds for ", to_string(self.dtype()));
  SB_CHECK(to >= -largest && to <= largest, "uniform_: argument to: ", to, " is out of bounds for ",
           to_string(self.dtype()));
  SB_CHECK(from <= to, "uniform_: expected a range [from, to), got from=", from, " > to=", to);
  SB_CHECK(to - from <= largest, "uniform_: to - from = ", to - from, " does not fit ",
           to_string(self.dtype()));
  // No more digits than the dtype has, so that rounding does not make 1 of what is less.
  const int digits = digits_of(self.dtype());
  const double scale = std::ldexp(1.0, -digits) * (to - from);
  const auto draw = [&]<class Number>(auto kernel) {
    random_fill_counted<Number>("uniform_", self, generator,
                                [=](uint64_t seed, uint64_t first, Number* out, int64_t n) {
                                  kernel(seed, first, digits, scale, from, out, n);
                                });
  };
  if (is_drawn_in_float(self.dtype())) {
    draw.operator()<float>(draw_kernels.get()->uniform_floats);
  } else {
    draw.operator()<double>(draw_kernels.get()->uniform);
  }
}

void normal_body(const Tensor& self, double mean, double std, const OptionalGenerator& generator) {
  check_filled("normal_", self, is_any_floating);
  SB_CHECK(std >= 0, "normal_: argument std: expected at least 0, got ", std);
  const bool complex = is_complex(self.dtype());
  const double part = complex ? std / std::numbers::sqrt2 : std;
  // The mean is that of the real parts. Both parts take a counter each, real first.
  const bool of_parts = complex && mean != 0;
  const auto draw = [=](auto kernel) {
    return [=]<class Number>(uint64_t seed, uint64_t first, Number* out, int64_t n) {
      kernel(seed, first, of_parts ? 0 : mean, part, out, n);
      for (int64_t i = 0; of_parts && i < n; i += 2) out[i] += static_cast<Number>(mean);
    };
  };
  if (is_drawn_in_float(self.dtype())) {
    random_fill_by_fours("normal_", self, generator, draw(draw_kernels.get()->normal_floats));
  } else {
    random_fill_counted<double>("normal_", self, generator, draw(draw_kernels.get()->normal));
  }
}

void log_normal_body(const Tensor& self, double mean, double std,
                     const OptionalGenerator& generator) {
  check_filled("log_normal_", self, is_real_floating);
  SB_CHECK(std > 0, "log_normal_: argument std: expected more than 0, got ", std);
  random_fill_counted<double>("log_normal_", self, generator,
                              [=](uint64_t seed, uint64_t first, double* out, int64_t n) {
                                draw_kernels.get()->normal(seed, first, mean, std, out, n);
                                for (int64_t i = 0; i < n; ++i) out[i] = std::exp(out[i]);
                              });
}

void exponential_body(const Tensor& self, double lambd, const OptionalGenerator& generator) {
  check_filled("exponential_", self, is_real_floating);
  SB_CHECK(lambd > 0, "exponential_: argument lambd: expected more than 0, got ", lambd);
  random_fill_counted<double>("exponential_", self, generator,
                              [=](uint64_t seed, uint64_t first, double* out, int64_t n) {
                                draw_kernels.get()->exponential(seed, first, out, n);
                                for (int64_t i = 0; i < n; ++i) out[i] /= lambd;
                              });
}

void cauchy_body(const Tensor& self, double median, double sigma,
                 const OptionalGenerator& generator) {
  check_filled("cauchy_", self, is_real_floating);
  SB_CHECK(sigma > 0, "cauchy_: argument sigma: expected more than 0, got ", sigma);
  fill_with("cauchy_", self, generator, [=](const PhiloxBlock& block) {
    return median + sigma * std::tan(std::numbers::pi * (to_unit(block.low) - 0.5));
  });
}

void geometric_body(const Tensor& self, double p, const OptionalGenerator& generator) {
  check_filled("geometric_", self, [](DType t) { return is_any_real(t) && t != DType::Bool; });
  SB_CHECK(p > 0 && p < 1, "geometric_: argument p: expected a number in (0, 1), got ", p);
  fill_with("geometric_", self, generator, [=](const PhiloxBlock& block) {
    return std::max(1.0, std::ceil(std::log(to_positive_unit(block.low)) / std::log1p(-p)));
  });
}

// The integers that a dtype holds, as far as random_ draws them.
struct IntegerRange {
  int64_t lowest;
  int64_t largest;
};
IntegerRange range_of(DType dtype) {
  if (is_floating_point(dtype)) {
    const int64_t end = int64_t{1} << digits_of(dtype);
    return {-end, end};
  }
  return visit_dtype(dtype, []<class T>() -> IntegerRange {
    if constexpr (std::is_integral_v<T>) {
      return {static_cast<int64_t>(std::numeric_limits<T>::min()),
              static_cast<int64_t>(std::numeric_limits<T>::max())};
    } else {
      return {0, 0};
    }
  });
}

// Draws from [from, last]. The 64-bit remainder is as even as 2^64 is large.
void fill_range(const Tensor& self, int64_t from, int64_t last,
                const OptionalGenerator& generator) {
  const uint64_t count = static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1;
  random_fill_counted<int64_t>(
      "random_", self, generator, [=](uint64_t seed, uint64_t first, int64_t* out, int64_t n) {
        draw_kernels.get()->integers(seed, first, count, static_cast<uint64_t>(from), out, n);
      });
}

void random_body(const Tensor& self, const OptionalGenerator& generator) {
  check_filled("random_", self, is_any_real);
  fill_range(self, 0, range_of(self.dtype()).largest, generator);
}
void random_from_body(const Tensor& self, int64_t from, std::optional<int64_t> to,
                      const OptionalGenerator& generator) {
  check_filled("random_", self, is_any_real);
  const IntegerRange range = range_of(self.dtype());
  SB_CHECK(!to || from < *to, "random_: expected from < to, got from=", from, " and to=", *to);
  const int64_t last = to ? *to - 1 : range.largest;
  // Floating-point dtypes take other integers too, rounded.
  if (!is_floating_point(self.dtype())) {
    for (int64_t end : {from, last}) {
      SB_CHECK(end >= range.lowest && end <= range.largest, "random_: ", end,
               " is out of bounds for ", to_string(self.dtype()));
    }
  }
  SB_CHECK(from <= last, "random_: ", from, " is out of bounds for ", to_string(self.dtype()));
  fill_range(self, from, last, generator);
}
void random_to_body(const Tensor& self, int64_t to, const OptionalGenerator& generator) {
  random_from_body(self, 0, to, generator);
}

// The in-place form of a body, which also does nothing but check on meta.
template <auto body>
struct InPlace;
template <class... A, void (*body)(const Tensor&, A...)>
struct InPlace<body> {
  static Tensor call(const Tensor& self, A... args) {
    body(self, args...);
    return self;
  }
};

// All forms of an operator.
template <auto body, auto& op, auto& inplace>
void define_distribution(Library& m) {
  define(m, inplace, Tag::nondeterministic_seeded).cpu_and_meta(InPlace<body>::call);
  define(m, op, Tag::nondeterministic_seeded).on_clone(inplace).out();
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define_distribution<uniform_body, uniform, uniform_>(m);
  define_distribution<log_normal_body, log_normal, log_normal_>(m);
  define_distribution<exponential_body, exponential, exponential_>(m);
  define_distribution<cauchy_body, cauchy, cauchy_>(m);
  define_distribution<geometric_body, geometric, geometric_>(m);
  define_distribution<random_body, random, random_>(m);
  define_distribution<random_to_body, random_to, random_to_>(m);
  define_distribution<random_from_body, random_from, random_from_>(m);

  define(m, normal_, Tag::nondeterministic_seeded).cpu_and_meta(InPlace<normal_body>::call);
}

}  // namespace
}  // namespace sb
