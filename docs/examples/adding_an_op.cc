// An elementwise operator, in all its forms and places.

// doc: begin
#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/array_loops.h"
#include "switchboard/ops/define/elementwise.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/views/views.h"

namespace demo {

// x / (1 + |x|). Integral tensors are computed as floating point.
SB_STRUCTURED(softsign, "demo::softsign(Tensor self) -> Tensor", "out");
// doc: end

// doc: begin
constexpr sb::LoopTable softsign_loops() {
  sb::LoopTable table{};
  sb::set_loops<1>(&table, sb::FloatTypes(), [](const auto& x) { return x / (1 + x.abs()); });
  return table;
}
SB_ELEMENTWISE(softsign_arithmetic, "softsign", sb::kFloatFlags, softsign_loops());
// doc: end

// doc: begin
sb::Tensor softsign_body(const sb::Tensor& out, const sb::Tensor& self) {
  return sb::elementwise(softsign_arithmetic, out, self);
}
SB_LIBRARY(demo, m) { sb::define_elementwise<softsign_body>(m, softsign); }

}  // namespace demo
// doc: end

int main() {
  // doc: begin
  const sb::Tensor x = sb::arange(4);
  std::cout << demo::softsign(x) << "\n";

  const sb::Tensor out = sb::empty({0}, sb::DType::Float64);
  demo::softsign_out(x, out);
  std::cout << out << "\n";

  const sb::Tensor y = sb::t(sb::ones({2, 3}));
  demo::softsign_(y);
  std::cout << y << "\n";
  // doc: end

  // doc: begin
  try {
    demo::softsign_(x);
  } catch (const sb::RuntimeError& error) {
    std::cout << error.what() << "\n";
  }

  const sb::Device cpu("cpu"), meta("meta"), dummy("dummy");
  std::cout << demo::softsign(sb::t(sb::ones({2, 3}, meta))).describe() << "\n";
  const sb::Tensor on_dummy = demo::softsign(sb::ones({2}, dummy));
  std::cout << on_dummy.describe() << ": " << sb::to_device(on_dummy, cpu, on_dummy.dtype())
            << "\n";
  sb::FakeTensorMode mode;
  sb::FakeTensorModeGuard guard(mode);
  std::cout << demo::softsign(sb::ones({2, 3})).describe() << "\n";
  // doc: end
}
