#include "switchboard/ops/comparison.h"

#include "switchboard/ops/array_loops.h"
#include "switchboard/ops/elementwise.h"

namespace sb {
namespace {

template <bool complex, class F>
constexpr LoopTable comparison_loops(F f) {
  LoopTable table{};
  set_loops<2, bool>(&table, IntegerTypes(), f);
  set_loops<2, bool>(&table, FloatTypes(), f);
  set_loops<2, bool>(&table, BoolType(), f);
  if constexpr (complex) set_loops<2, bool>(&table, ComplexTypes(), f);
  return table;
}

#define SB_COMPARISON_LOOPS(op, complex) \
  comparison_loops<complex>([](const auto& a, const auto& b) { return a op b; })
constexpr LoopTable kEqLoops = SB_COMPARISON_LOOPS(==, true);
constexpr LoopTable kNeLoops = SB_COMPARISON_LOOPS(!=, true);
constexpr LoopTable kLtLoops = SB_COMPARISON_LOOPS(<, false);
constexpr LoopTable kLeLoops = SB_COMPARISON_LOOPS(<=, false);
constexpr LoopTable kGtLoops = SB_COMPARISON_LOOPS(>, false);
constexpr LoopTable kGeLoops = SB_COMPARISON_LOOPS(>=, false);
#undef SB_COMPARISON_LOOPS

template <class F>
constexpr LoopTable selection_loops(F) {
  LoopTable table{};
  const auto f = [](const auto& a, const auto& b) {
    using T = element_of<decltype(a)>;
    return a.binaryExpr(b, [](T x, T y) -> T {
      // The first NaN is the answer.
      if (x != x) return x;
      if (y != y) return y;
      return F()(x, y) ? x : y;
    });
  };
  set_loops<2>(&table, IntegerTypes(), f);
  set_loops<2>(&table, FloatTypes(), f);
  set_loops<2>(&table, BoolType(), f);
  return table;
}
constexpr LoopTable kMaximumLoops = selection_loops([](auto x, auto y) { return x > y; });
constexpr LoopTable kMinimumLoops = selection_loops([](auto x, auto y) { return x < y; });

template <class F>
constexpr LoopTable logic_loops(F) {
  LoopTable table{};
  const auto f = [](const auto& a, const auto& b) {
    using T = element_of<decltype(a)>;
    return a.binaryExpr(b, [](const T& x, const T& y) { return F()(x != T(0), y != T(0)); });
  };
  set_loops<2, bool>(&table, IntegerTypes(), f);
  set_loops<2, bool>(&table, FloatTypes(), f);
  set_loops<2, bool>(&table, BoolType(), f);
  set_loops<2, bool>(&table, ComplexTypes(), f);
  return table;
}
constexpr LoopTable kAndLoops = logic_loops([](bool x, bool y) { return x && y; });
constexpr LoopTable kOrLoops = logic_loops([](bool x, bool y) { return x || y; });
constexpr LoopTable kXorLoops = logic_loops([](bool x, bool y) { return x != y; });
constexpr LoopTable kNotLoops = [] {
  LoopTable table{};
  const auto f = [](const auto& a) { return a == element_of<decltype(a)>(0); };
  set_loops<1, bool>(&table, IntegerTypes(), f);
  set_loops<1, bool>(&table, FloatTypes(), f);
  set_loops<1, bool>(&table, BoolType(), f);
  set_loops<1, bool>(&table, ComplexTypes(), f);
  return table;
}();

constexpr ElementwiseOp kEq = {"eq", kComparisonFlags, kEqLoops};
constexpr ElementwiseOp kNe = {"ne", kComparisonFlags, kNeLoops};
constexpr ElementwiseOp kLt = {"lt", kComparisonFlags, kLtLoops};
constexpr ElementwiseOp kLe = {"le", kComparisonFlags, kLeLoops};
constexpr ElementwiseOp kGt = {"gt", kComparisonFlags, kGtLoops};
constexpr ElementwiseOp kGe = {"ge", kComparisonFlags, kGeLoops};
constexpr ElementwiseOp kAnd = {"logical_and", kComparisonFlags, kAndLoops};
constexpr ElementwiseOp kOr = {"logical_or", kComparisonFlags, kOrLoops};
constexpr ElementwiseOp kXor = {"logical_xor", kComparisonFlags, kXorLoops};
constexpr ElementwiseOp kMaximum = {"maximum", kBinaryFlags, kMaximumLoops};
constexpr ElementwiseOp kMinimum = {"minimum", kBinaryFlags, kMinimumLoops};
constexpr ElementwiseOp kNot = {"logical_not", kBoolOutput, kNotLoops};

template <const ElementwiseOp& op>
Tensor unary_body(const Tensor& out, const Tensor& self) {
  return elementwise(op, out, self);
}
template <const ElementwiseOp& op>
Tensor binary_body(const Tensor& out, const Tensor& self, const Tensor& other) {
  return elementwise(op, out, self, other);
}
// With a number: the same with a 0-dim tensor of it.
template <const ElementwiseOp& op>
Tensor number_body(const Tensor& out, const Tensor& self, const Scalar& other) {
  return elementwise(op, out, self, wrapped_scalar_tensor(other));
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define_elementwise<binary_body<kEq>>(m, eq);
  define_elementwise<number_body<kEq>>(m, eq_Scalar);
  define_elementwise<binary_body<kNe>>(m, ne);
  define_elementwise<number_body<kNe>>(m, ne_Scalar);
  define_elementwise<binary_body<kLt>>(m, lt);
  define_elementwise<number_body<kLt>>(m, lt_Scalar);
  define_elementwise<binary_body<kLe>>(m, le);
  define_elementwise<number_body<kLe>>(m, le_Scalar);
  define_elementwise<binary_body<kGt>>(m, gt);
  define_elementwise<number_body<kGt>>(m, gt_Scalar);
  define_elementwise<binary_body<kGe>>(m, ge);
  define_elementwise<number_body<kGe>>(m, ge_Scalar);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define_elementwise<binary_body<kMaximum>>(m, maximum);
  define_elementwise<binary_body<kMinimum>>(m, minimum);
  constexpr DispatchKey composite = DispatchKey::CompositeImplicitAutograd;
  m.define(max_other);
  m.impl(max_other, composite,
         [](const Tensor& self, const Tensor& other) { return maximum(self, other); });
  m.define(max_other_out);
  m.impl(max_other_out, composite, [](const Tensor& self, const Tensor& other, const Tensor& out) {
    return maximum_out(self, other, out);
  });
  m.define(min_other);
  m.impl(min_other, composite,
         [](const Tensor& self, const Tensor& other) { return minimum(self, other); });
  m.define(min_other_out);
  m.impl(min_other_out, composite, [](const Tensor& self, const Tensor& other, const Tensor& out) {
    return minimum_out(self, other, out);
  });
  define_elementwise<binary_body<kAnd>>(m, logical_and);
  define_elementwise<binary_body<kOr>>(m, logical_or);
  define_elementwise<binary_body<kXor>>(m, logical_xor);
  define_elementwise<unary_body<kNot>>(m, logical_not);
}

}  // namespace
}  // namespace sb
