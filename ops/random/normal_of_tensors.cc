// normal with a mean or a deviation for each element.

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic.h"
#include "switchboard/ops/comparison.h"
#include "switchboard/ops/factories.h"
#include "switchboard/ops/item.h"
#include "switchboard/ops/out_form.h"
#include "switchboard/ops/random/distributions.h"
#include "switchboard/ops/reductions.h"
#include "switchboard/ops/tensor_iterator.h"

namespace sb {

SB_OP(normal_Tensor_float,
      "aten::normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> "
      "Tensor");
SB_OP(normal_float_Tensor,
      "aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor");
SB_OP(normal_Tensor_Tensor,
      "aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> "
      "Tensor");

namespace {

using OptionalGenerator = std::optional<Generator>;

void check_parameter(const char* name, const Tensor& t) {
  SB_CHECK(t.defined(), "normal: argument ", name, ": expected a tensor, got an undefined one");
  SB_CHECK(is_floating_point(t.dtype()) || is_complex(t.dtype()), "normal: argument ", name,
           ": expected a floating-point or complex tensor, got ", t.describe());
}
void check_std(const Tensor& std) {
  check_parameter("std", std);
  SB_CHECK(!is_complex(std.dtype()), "normal: argument std: expected a real tensor, got ",
           std.describe());
  if (std.is_meta() || std.numel() == 0) return;
  SB_CHECK(item(any(lt_Scalar(std, 0))).to<bool>() == false,
           "normal: argument std: expected all elements to be at least 0");
}

Tensor contiguous_like(const Tensor& t) {
  return empty_like(t, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                    MemoryFormat::Contiguous);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  const auto define = [&](const auto& op, const char* out_overload, auto kernel) {
    const OperatorHandle handle = m.define(op, Tag::nondeterministic_seeded);
    m.impl(op, DispatchKey::CompositeExplicitAutograd, kernel);
    define_out_form(m, handle, out_overload);
  };
  define(normal_Tensor_float, "Tensor_float_out",
         [](const Tensor& mean, double std, const OptionalGenerator& generator) {
           check_parameter("mean", mean);
           return add_(normal_(contiguous_like(mean), 0, std, generator), mean);
         });
  define(normal_float_Tensor, "float_Tensor_out",
         [](double mean, const Tensor& std, const OptionalGenerator& generator) {
           check_std(std);
           return add_Scalar_(mul_(normal_(contiguous_like(std), 0, 1, generator), std), mean);
         });
  define(normal_Tensor_Tensor, "Tensor_Tensor_out",
         [](const Tensor& mean, const Tensor& std, const OptionalGenerator& generator) {
           check_parameter("mean", mean);
           check_std(std);
           const auto sizes = broadcast_shapes(mean.sizes(), std.sizes());
           const Tensor result =
               empty(IntArrayRef(sizes), mean.dtype(), std::nullopt, mean.device());
           return add_(mul_(normal_(result, 0, 1, generator), std), mean);
         });
}

}  // namespace
}  // namespace sb
