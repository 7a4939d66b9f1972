// An elementwise operator, in all its forms and places.

#include <string_view>

#include "switchboard/core/error.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/cpu/array_loops.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"

namespace demo {

// x / (1 + |x|). Integral tensors are computed as floating point.
// doc: begin
SB_OP(softsign, "demo::softsign(Tensor self) -> Tensor");
SB_OP(softsign_, inplace_of(softsign));
SB_OP(softsign_out, out_of(softsign, "out"));
// doc: end

constexpr sb::LoopTable softsign_loops() {
  sb::LoopTable table{};
  sb::set_loops<1>(&table, sb::FloatTypes(), [](const auto& x) { return x / (1 + x.abs()); });
  return table;
}
// doc: begin
SB_ELEMENTWISE(softsign_arithmetic, "softsign", sb::kFloatFlags, softsign_loops());

sb::Tensor softsign_body(const sb::Tensor& out, const sb::Tensor& self) {
  return sb::elementwise(softsign_arithmetic, out, self);
}
SB_LIBRARY(demo, m) {
  define(m, softsign).elementwise<softsign_body>().inplace(softsign_).out(softsign_out);
}
// doc: end

}  // namespace demo

void check(const sb::Tensor& t, std::string_view expected) {
  SB_CHECK(t.describe() == expected, "expected ", expected, ", got ", t.describe());
}

// The result is new, or of another dtype, or the argument itself; what PyTorch refuses is refused,
// with the argument as it was.
int main() {
  const sb::Tensor x = sb::arange(4);
  check(demo::softsign(x), "float32[4] on cpu");
  check(demo::softsign_out(x, sb::empty({0}, sb::DType::Float64)), "float64[4] on cpu");
  try {
    demo::softsign_(x);
    return 1;
  } catch (const sb::RuntimeError&) {
    check(x, "int64[4] on cpu");
  }
  check(demo::softsign(sb::ones({2, 3}, sb::Device("meta"))), "float32[2, 3] on meta");
  check(demo::softsign(sb::ones({2}, sb::Device("dummy"))), "float32[2] on dummy:0");
  sb::FakeTensorMode mode;
  sb::FakeTensorModeGuard guard(mode);
  check(demo::softsign(sb::ones({2, 3})), "float32[2, 3] on cpu");
}
