#include "switchboard/ops/elementwise/complex_parts.h"

#include <cmath>
#include <complex>
#include <numbers>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/elementwise/regular.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/outputs/copy_to_out.h"

namespace sb {

namespace {
constexpr LoopTable angle_loops() {
  LoopTable table = element_loops<1>(
      [](auto x) {
        return x < 0 ? std::numbers::pi_v<decltype(x)> : x != x ? x : decltype(x)(0);
      },
      FloatTypes());
  const auto argument = [](const auto& z) { return std::arg(z); };
  set_element_loops<1, float>(&table, TypeList<std::complex<float>>(), argument);
  set_element_loops<1, double>(&table, TypeList<std::complex<double>>(), argument);
  return table;
}
}  // namespace
SB_ELEMENTWISE(angle_arithmetic, "angle", kFloatFlags, angle_loops());

namespace {
template <class F>
constexpr LoopTable complex_loops(F f) {
  LoopTable table{};
  set_element_loops<2, std::complex<float>>(&table, TypeList<float>(), f);
  set_element_loops<2, std::complex<double>>(&table, TypeList<double>(), f);
  return table;
}
}  // namespace
SB_ELEMENTWISE(complex_arithmetic, "complex", 0,
               complex_loops([](auto x, auto y) { return std::complex(x, y); }));
SB_ELEMENTWISE(polar_arithmetic, "polar", 0, complex_loops([](auto r, auto phi) {
                 return std::complex(r * std::cos(phi), r * std::sin(phi));
               }));

namespace {

// Runs arithmetic whose result has another dtype than the inputs.
template <class... Inputs>
Tensor run_to(const ElementwiseOp& op, const Tensor& out, DType dtype, const Inputs&... inputs) {
  const Tensor* const tensors[] = {&inputs...};
  TensorIterator iterator(op.name, 0, out, tensors);
  check_implemented(op, iterator);
  Tensor result = iterator.allocate_output(dtype);
  run_elementwise(op, &iterator, dtype);
  return result;
}

Tensor angle_body(const Tensor& out, const Tensor& self) {
  if (!is_complex(self.dtype())) return elementwise(angle_arithmetic, out, self);
  const DType real = to_real(self.dtype());
  // As PyTorch: the strides of a new result are those of empty_like.
  const Tensor result = run_to(angle_arithmetic, empty_like(self, real), real, self);
  if (!out.defined()) return result;
  const DType computed = is_complex(out.dtype()) ? self.dtype() : real;
  SB_CHECK(can_cast(computed, out.dtype()), "angle: result type ", to_string(computed),
           " can't be cast to the desired output type ", to_string(out.dtype()));
  copy_result_to_out("angle", result, out);
  return out;
}

template <const ElementwiseOp& op>
Tensor complex_body(const Tensor& out, const Tensor& first, const Tensor& second) {
  const DType dtype = first.dtype();
  SB_CHECK(dtype == DType::Float32 || dtype == DType::Float64, op.name,
           ": expected float32 or float64, got ", to_string(dtype));
  SB_CHECK(second.dtype() == dtype, op.name, ": expected tensors of one dtype, got ",
           to_string(dtype), " and ", to_string(second.dtype()));
  SB_CHECK(!out.defined() || out.dtype() == to_complex(dtype), op.name, ": argument out: expected ",
           to_string(to_complex(dtype)), ", got ", to_string(out.dtype()));
  return run_to(op, out, to_complex(dtype), first, second);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, angle, Tag::pointwise).elementwise<angle_body>().out(angle_out);
  define(m, complex, Tag::pointwise)
      .elementwise<complex_body<complex_arithmetic>>()
      .out(complex_out);
  define(m, polar, Tag::pointwise).elementwise<complex_body<polar_arithmetic>>().out(polar_out);
}

}  // namespace
}  // namespace sb
