#include "switchboard/ops/quantized/fake_quantize.h"

#include <tuple>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/bitwise.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/elementwise/rounding.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using OutputAndMask = std::tuple<Tensor, Tensor>;

void check_range(const char* op, const Tensor& self, int64_t quant_min, int64_t quant_max) {
  check_defined(op, self);
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(self.dtype()), op,
                           ": argument self: expected floating point, got ", self.describe());
  SB_CHECK(quant_min <= quant_max, op, ": expected quant_min to be at most quant_max, got ",
           quant_min, " and ", quant_max);
}

// From the numbers of steps, rounded.
OutputAndMask clamped(const Tensor& steps, int64_t quant_min, int64_t quant_max) {
  // What is no number counts as the lowest.
  const Tensor known = where_ScalarOther(eq(steps, steps), steps, quant_min);
  const Tensor mask = bitwise_and(ge_Scalar(steps, quant_min), le_Scalar(steps, quant_max));
  return {clamp(known, Scalar(quant_min), Scalar(quant_max)), mask};
}

OutputAndMask per_tensor(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min,
                         int64_t quant_max) {
  const char* op = "fake_quantize_per_tensor_affine";
  check_range(op, self, quant_min, quant_max);
  SB_CHECK(zero_point >= quant_min && zero_point <= quant_max, op,
           ": argument zero_point: expected one in [", quant_min, ", ", quant_max, "], got ",
           zero_point);
  // As PyTorch, whose scale is a float here.
  const float step = static_cast<float>(scale);
  const Tensor steps = add_Scalar(round(mul_Scalar(self, 1.0f / step)), zero_point);
  auto [inside, mask] = clamped(steps, quant_min, quant_max);
  return {mul_Scalar(add_Scalar(inside, -zero_point), step), mask};
}

OutputAndMask per_channel(const Tensor& self, const Tensor& scale, const Tensor& zero_point,
                          int64_t axis, int64_t quant_min, int64_t quant_max) {
  const char* op = "fake_quantize_per_channel_affine";
  check_range(op, self, quant_min, quant_max);
  check_defined(op, scale);
  check_defined(op, zero_point);
  SB_CHECK(axis >= 0 && axis < self.dim(), op, ": argument axis: expected a dimension of ",
           self.describe(), ", got ", axis);
  SB_CHECK(scale.dim() == 1 && scale.sym_size(0) == self.sym_size(axis), op,
           ": argument scale: expected one for each index of dimension ", axis, " of ",
           self.describe(), ", got ", scale.describe());
  SB_CHECK(zero_point.dim() == 1 && zero_point.sym_size(0) == self.sym_size(axis), op,
           ": argument zero_point: expected one for each index of dimension ", axis, " of ",
           self.describe(), ", got ", zero_point.describe());
  SymDimVector sizes(static_cast<size_t>(self.dim()), SymInt(1));
  sizes[static_cast<size_t>(axis)] = self.sym_size(axis);
  const auto along_axis = [&](const Tensor& t) {
    const Tensor converted = t.dtype() == self.dtype() ? t : to_dtype(t, self.dtype());
    return view(contiguous(converted), SymIntArrayRef(sizes));
  };
  const Tensor step = along_axis(scale), zero = along_axis(zero_point);
  const Tensor steps = add(round(mul(self, reciprocal(step))), zero);
  auto [inside, mask] = clamped(steps, quant_min, quant_max);
  return {mul(sub(inside, zero), step), mask};
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, fake_quantize_per_tensor_affine_cachemask).composite_explicit(per_tensor).out("out");
  define(m, fake_quantize_per_channel_affine_cachemask).composite_explicit(per_channel).out("out");
  define(m, fake_quantize_per_tensor_affine)
      .composed([](const Tensor& self, double scale, int64_t zero_point, int64_t min, int64_t max) {
        return std::get<0>(
            fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, min, max));
      });
  define(m, fake_quantize_per_channel_affine)
      .composed([](const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis,
                   int64_t min, int64_t max) {
        return std::get<0>(
            fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, min, max));
      });
}

}  // namespace sb
