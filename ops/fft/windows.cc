#include "switchboard/ops/fft/windows.h"

#include <limits>
#include <numbers>
#include <string>
#include <string_view>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/elementwise/special_functions.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/shape/factory_parameters.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

struct Options {
  std::optional<DType> dtype;
  std::optional<Layout> layout;
  std::optional<Device> device;
  std::optional<bool> pin_memory;
};

// The window that `values` makes of the places 0, 1, ... of one that ends at `last`.
template <class F>
Tensor window(const char* op, int64_t length, bool periodic, const Options& with, F&& values) {
  const DType dtype = with.dtype.value_or(default_dtype());
  SB_CHECK(length >= 0, op, ": argument window_length: expected 0 or more, got ", length);
  SB_CHECK(length < std::numeric_limits<int64_t>::max(), op,
           ": argument window_length: no tensor has ", length, " elements");
  SB_CHECK(is_floating_point(dtype) || is_complex(dtype), op,
           ": argument dtype: expected floating point, got ", to_string(dtype));
  if (length < 2) return ones({length}, dtype, with.layout, with.device, with.pin_memory);
  const int64_t last = periodic ? length : length - 1;
  const Tensor places = arange(last + 1, dtype, with.layout, with.device, with.pin_memory);
  const Tensor all = values(places, static_cast<double>(last));
  return periodic ? narrow(all, 0, 0, length) : all;
}

Tensor cosine(const Tensor& places, double per_place) { return cos(mul_Scalar(places, per_place)); }

Tensor triangle(int64_t length, bool periodic, const Options& with) {
  return window("bartlett_window", length, periodic, with, [](const Tensor& places, double last) {
    return sub(ones_like(places), abs(add_Scalar(mul_Scalar(places, 2 / last), -1)));
  });
}
Tensor raised_cosine(const char* op, int64_t length, bool periodic, double alpha, double beta,
                     const Options& with) {
  return window(op, length, periodic, with, [&](const Tensor& places, double last) {
    return add_Scalar(mul_Scalar(cosine(places, 2 * std::numbers::pi / last), -beta), alpha);
  });
}
Tensor blackman(int64_t length, bool periodic, const Options& with) {
  return window("blackman_window", length, periodic, with, [](const Tensor& places, double last) {
    const double angle = 2 * std::numbers::pi / last;
    return add_Scalar(
        sub(mul_Scalar(cosine(places, 2 * angle), 0.08), mul_Scalar(cosine(places, angle), 0.5)),
        0.42);
  });
}
Tensor kaiser(int64_t length, bool periodic, double beta, const Options& with) {
  return window("kaiser_window", length, periodic, with, [&](const Tensor& places, double last) {
    const Tensor x = add_Scalar(mul_Scalar(places, 2 / last), -1);
    const Tensor root = sqrt(clamp_min(sub(ones_like(x), mul(x, x)), 0));
    const Tensor top = full({}, beta, places.dtype(), std::nullopt, places.device());
    return div(i0(mul_Scalar(root, beta)), i0(top));
  });
}

// An operator with its out= form, whose overload is named after its own.
void define_window(Library& m, const auto& op, auto kernel) {
  auto definition = define(m, op);
  const std::string& overload = definition.handle().name().overload;
  definition.composite_explicit(kernel).out(overload.empty() ? "out" : overload + "_out");
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
#define SB_WITH Options{dtype, layout, device, pin_memory}
  define_window(m, bartlett_window,
                [](int64_t n, SB_TENSOR_OPTIONS) { return triangle(n, true, SB_WITH); });
  define_window(m, bartlett_window_periodic, [](int64_t n, bool periodic, SB_TENSOR_OPTIONS) {
    return triangle(n, periodic, SB_WITH);
  });
  define_window(m, hann_window, [](int64_t n, SB_TENSOR_OPTIONS) {
    return raised_cosine("hann_window", n, true, 0.5, 0.5, SB_WITH);
  });
  define_window(m, hann_window_periodic, [](int64_t n, bool periodic, SB_TENSOR_OPTIONS) {
    return raised_cosine("hann_window", n, periodic, 0.5, 0.5, SB_WITH);
  });
  define_window(m, hamming_window, [](int64_t n, SB_TENSOR_OPTIONS) {
    return raised_cosine("hamming_window", n, true, 0.54, 0.46, SB_WITH);
  });
  define_window(m, hamming_window_periodic, [](int64_t n, bool periodic, SB_TENSOR_OPTIONS) {
    return raised_cosine("hamming_window", n, periodic, 0.54, 0.46, SB_WITH);
  });
  define_window(m, hamming_window_periodic_alpha,
                [](int64_t n, bool periodic, double alpha, SB_TENSOR_OPTIONS) {
                  return raised_cosine("hamming_window", n, periodic, alpha, 0.46, SB_WITH);
                });
  define_window(m, hamming_window_periodic_alpha_beta,
                [](int64_t n, bool periodic, double alpha, double beta, SB_TENSOR_OPTIONS) {
                  return raised_cosine("hamming_window", n, periodic, alpha, beta, SB_WITH);
                });
  define_window(m, blackman_window,
                [](int64_t n, SB_TENSOR_OPTIONS) { return blackman(n, true, SB_WITH); });
  define_window(m, blackman_window_periodic, [](int64_t n, bool periodic, SB_TENSOR_OPTIONS) {
    return blackman(n, periodic, SB_WITH);
  });
  define_window(m, kaiser_window,
                [](int64_t n, SB_TENSOR_OPTIONS) { return kaiser(n, true, 12, SB_WITH); });
  define_window(m, kaiser_window_periodic, [](int64_t n, bool periodic, SB_TENSOR_OPTIONS) {
    return kaiser(n, periodic, 12, SB_WITH);
  });
  define_window(m, kaiser_window_beta,
                [](int64_t n, bool periodic, double beta, SB_TENSOR_OPTIONS) {
                  return kaiser(n, periodic, beta, SB_WITH);
                });
#undef SB_WITH
}

}  // namespace sb
