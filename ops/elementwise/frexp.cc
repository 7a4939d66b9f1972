// A number as its fraction and its power of 2.

#include <cmath>

#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/regular.h"
#include "switchboard/ops/elementwise/unary_math.h"
#include "switchboard/ops/outputs/copy_to_out.h"

namespace sb {

SB_ELEMENTWISE(frexp_mantissa, "frexp", kUnaryFlags,
               element_loops<1>(
                   [](auto x) {
                     int exponent;
                     return std::frexp(x, &exponent);
                   },
                   FloatTypes()));
SB_ELEMENTWISE(frexp_exponent, "frexp", kUnaryFlags,
               element_loops<1>(
                   [](auto x) {
                     int exponent = 0;
                     if (std::isfinite(x)) std::frexp(x, &exponent);
                     return static_cast<decltype(x)>(exponent);
                   },
                   FloatTypes()));

namespace {

std::tuple<Tensor, Tensor> frexp_of(const Tensor& self) {
  check_defined("frexp", self);
  SB_CHECK(is_floating_point(self.dtype()), "frexp: expected a floating-point tensor, got ",
           self.describe());
  return {elementwise(frexp_mantissa, Tensor(), self),
          to_dtype(elementwise(frexp_exponent, Tensor(), self), DType::Int32)};
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, frexp, Tag::pointwise).cpu_and_meta(frexp_of).out(frexp_out, kStructuredOut);
}

}  // namespace
}  // namespace sb
