#include <cmath>
#include <limits>

#include "switchboard/ops/elementwise/regular.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/shape/optional_tensor.h"
#endif

namespace sb {

namespace {
template <class T>
T at_least(T x, T low) {
  return x >= low || x != x ? x : low;
}

template <class T>
T at_most(T x, T high) {
  return x <= high || x != x ? x : high;
}
}  // namespace

// With numbers for limits.
SB_ELEMENTWISE(clamp_arithmetic, "clamp", kUnaryFlags,
               element_loops<1>([](const auto& n,
                                   auto x) { return at_most(at_least(x, n[0]), n[1]); },
                                IntegerTypes(), FloatTypes(), BoolType()));
SB_ELEMENTWISE(clamp_min_arithmetic, "clamp_min", kUnaryFlags,
               element_loops<1>([](const auto& n, auto x) { return at_least(x, n[0]); },
                                IntegerTypes(), FloatTypes(), BoolType()));
SB_ELEMENTWISE(clamp_max_arithmetic, "clamp_max", kUnaryFlags,
               element_loops<1>([](const auto& n, auto x) { return at_most(x, n[0]); },
                                IntegerTypes(), FloatTypes(), BoolType()));

// With tensors.
SB_ELEMENTWISE(clamp_Tensor_arithmetic, "clamp", kBinaryFlags,
               element_loops<3>(
                   [](auto x, auto low, auto high) {
                     if (low != low) return low;
                     if (high != high) return high;
                     return at_most(at_least(x, low), high);
                   },
                   IntegerTypes(), FloatTypes()));
SB_ELEMENTWISE(clamp_min_Tensor_arithmetic, "clamp_min_Tensor", kBinaryFlags,
               element_loops<2>([](auto x,
                                   auto low) { return low != low ? low : at_least(x, low); },
                                IntegerTypes(), FloatTypes(), BoolType()));
SB_ELEMENTWISE(clamp_max_Tensor_arithmetic, "clamp_max_Tensor", kBinaryFlags,
               element_loops<2>([](auto x,
                                   auto high) { return high != high ? high : at_most(x, high); },
                                IntegerTypes(), FloatTypes(), BoolType()));

#ifndef SB_CPU_VARIANT
namespace {

using OptionalNumber = std::optional<Scalar>;

bool is_nan(const OptionalNumber& limit) {
  return limit && limit->is_floating_point() && !limit->is_symbolic() &&
         std::isnan(limit->to<double>());
}

Tensor clamp_body(const Tensor& out, const Tensor& self, OptionalNumber min, OptionalNumber max) {
  SB_CHECK(min || max, "clamp: arguments min and max: expected one of them, got neither");
  DType dtype = self.dtype();
  for (OptionalNumber* limit : {&min, &max}) {
    if (!*limit) continue;
    const Tensor number = wrapped_scalar_tensor(**limit);
    dtype = promote_types(dtype, result_type({&self, &number}));
  }
  SB_CHECK_NOT_IMPLEMENTED(!is_complex(dtype), "clamp: complex numbers are not supported");
  SB_CHECK(!out.is_same(self) || can_cast(dtype, self.dtype()), "clamp: result type ",
           to_string(dtype), " can't be cast to the desired output type ", to_string(self.dtype()));
  for (OptionalNumber* limit : {&min, &max}) {
    if (*limit) check_scalar_fits(**limit, compute_dtype(dtype));
  }
  if (is_nan(min) || is_nan(max)) min = max = std::numeric_limits<double>::quiet_NaN();
  const Numbers numbers{{min.value_or(max.value_or(0)), max.value_or(0)}, min && max ? 2u : 1u};
  return elementwise(min && max ? clamp_arithmetic
                     : min      ? clamp_min_arithmetic
                                : clamp_max_arithmetic,
                     out, self.dtype() == dtype ? self : to_dtype(self, dtype), &numbers);
}
Tensor clamp_min_body(const Tensor& out, const Tensor& self, const Scalar& min) {
  return clamp_body(out, self, min, std::nullopt);
}
Tensor clamp_max_body(const Tensor& out, const Tensor& self, const Scalar& max) {
  return clamp_body(out, self, std::nullopt, max);
}

Tensor clamp_Tensor_body(const Tensor& out, const Tensor& self, const std::optional<Tensor>& min,
                         const std::optional<Tensor>& max) {
  const bool has_min = is_given(min), has_max = is_given(max);
  SB_CHECK(has_min || has_max, "clamp: arguments min and max: expected one of them, got neither");
  SB_CHECK_NOT_IMPLEMENTED(!is_complex(self.dtype()), "clamp: complex numbers are not supported");
  if (!has_max) return elementwise(clamp_min_Tensor_arithmetic, out, self, *min);
  if (!has_min) return elementwise(clamp_max_Tensor_arithmetic, out, self, *max);
  return elementwise(clamp_Tensor_arithmetic, out, self, *min, *max);
}

Tensor hardtanh_body(const Tensor& out, const Tensor& self, const Scalar& min, const Scalar& max) {
  SB_CHECK_NOT_IMPLEMENTED(self.dtype() != DType::Bool,
                           "hardtanh: argument self: bool is not supported");
  // A new result has the strides of empty_like, which are self's where nothing overlaps.
  const Tensor result = out.defined() ? out : empty_like(self);
  if (!is_integral(self.dtype())) return clamp_body(result, self, min, max);
  // Limits leave the dtype as it is.
  for (const Scalar& limit : {min, max}) check_scalar_fits(limit, DType::Int64);
  const int64_t low = min.to<int64_t>(), high = max.to<int64_t>();
  SB_CHECK(self.dtype() != DType::UInt8 || (low >= 0 && high >= 0),
           "hardtanh: cannot limit an unsigned tensor to [", low, ", ", high, "]");
  return clamp_body(result, self, low, high);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, clamp_min_Tensor, Tag::pointwise)
      .elementwise<regular<clamp_min_Tensor_arithmetic>>()
      .inplace(clamp_min_Tensor_)
      .out(clamp_min_Tensor_out);
  define(m, clamp_max_Tensor, Tag::pointwise)
      .elementwise<regular<clamp_max_Tensor_arithmetic>>()
      .inplace(clamp_max_Tensor_)
      .out(clamp_max_Tensor_out);
  define(m, clamp, Tag::pointwise).elementwise<clamp_body>().out_and_inplace();
  define(m, clamp_min, Tag::pointwise).elementwise<clamp_min_body>().out_and_inplace();
  define(m, clamp_max, Tag::pointwise).elementwise<clamp_max_body>().out_and_inplace();
  define(m, clamp_Tensor, Tag::pointwise)
      .elementwise<clamp_Tensor_body>()
      .inplace(clamp_Tensor_)
      .out(clamp_Tensor_out);
  define(m, hardtanh, Tag::pointwise).elementwise<hardtanh_body>().out_and_inplace();
  define(m, relu6)
      .composed([](const Tensor& self) { return hardtanh(self, 0, 6); })
      .inplace(relu6_, [](const Tensor& self) { return hardtanh_(self, 0, 6); });
}

}  // namespace
#endif

}  // namespace sb
