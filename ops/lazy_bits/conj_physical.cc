#include "switchboard/ops/cpu/array_loops.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#endif

namespace sb {

constexpr LoopTable conj_loops() {
  LoopTable table{};
  const auto same = [](const auto& a) { return a; };
  set_loops<1>(&table, IntegerTypes(), same);
  set_loops<1>(&table, FloatTypes(), same);
  set_loops<1>(&table, BoolType(), same);
  set_loops<1>(&table, ComplexTypes(), [](const auto& a) { return a.conjugate(); });
  return table;
}
SB_ELEMENTWISE(conj_physical_arithmetic, "conj_physical", kUnaryFlags, conj_loops());

#ifndef SB_CPU_VARIANT
namespace {

Tensor conj_physical_to(const Tensor& self, const Tensor& out) {
  SB_CHECK(out.defined(), "conj_physical: out: expected a tensor, got an undefined one");
  return elementwise(conj_physical_arithmetic, out, self);
}

SB_LIBRARY_FRAGMENT(aten, m) { define(m, conj_physical_out).cpu_and_meta(conj_physical_to); }

}  // namespace
#endif

}  // namespace sb
