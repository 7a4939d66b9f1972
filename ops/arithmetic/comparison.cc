#include "switchboard/ops/cpu/array_loops.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"
#endif

namespace sb {

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
SB_ELEMENTWISE(eq_arithmetic, "eq", kComparisonFlags, SB_COMPARISON_LOOPS(==, true));
SB_ELEMENTWISE(ne_arithmetic, "ne", kComparisonFlags, SB_COMPARISON_LOOPS(!=, true));
SB_ELEMENTWISE(lt_arithmetic, "lt", kComparisonFlags, SB_COMPARISON_LOOPS(<, false));
SB_ELEMENTWISE(le_arithmetic, "le", kComparisonFlags, SB_COMPARISON_LOOPS(<=, false));
SB_ELEMENTWISE(gt_arithmetic, "gt", kComparisonFlags, SB_COMPARISON_LOOPS(>, false));
SB_ELEMENTWISE(ge_arithmetic, "ge", kComparisonFlags, SB_COMPARISON_LOOPS(>=, false));
#undef SB_COMPARISON_LOOPS

template <class F>
constexpr LoopTable selection_loops(F) {
  LoopTable table{};
  const auto f = [](const auto& a, const auto& b) {
    using T = element_of<decltype(a)>;
    return a.binaryExpr(b, [](T x, T y) -> T {
      // The first NaN is the answer. Without a branch, so that the loop is vectorised.
      return (F()(x, y) | (x != x)) ? x : y;
    });
  };
  set_loops<2>(&table, IntegerTypes(), f);
  set_loops<2>(&table, FloatTypes(), f);
  set_loops<2>(&table, BoolType(), f);
  return table;
}
SB_ELEMENTWISE(maximum_arithmetic, "maximum", kBinaryFlags,
               selection_loops([](auto x, auto y) { return x > y; }));
SB_ELEMENTWISE(minimum_arithmetic, "minimum", kBinaryFlags,
               selection_loops([](auto x, auto y) { return x < y; }));

template <class F>
constexpr LoopTable logic_loops(F) {
  LoopTable table{};
  const auto f = [](const auto& a, const auto& b) {
    using T = element_of<decltype(a)>;
    return a.binaryExpr(b,
                        [](const T& x, const T& y) -> bool { return F()(x != T(0), y != T(0)); });
  };
  set_loops<2, bool>(&table, IntegerTypes(), f);
  set_loops<2, bool>(&table, FloatTypes(), f);
  set_loops<2, bool>(&table, BoolType(), f);
  set_loops<2, bool>(&table, ComplexTypes(), f);
  return table;
}
SB_ELEMENTWISE(logical_and_arithmetic, "logical_and", kComparisonFlags,
               logic_loops([](bool x, bool y) { return x & y; }));
SB_ELEMENTWISE(logical_or_arithmetic, "logical_or", kComparisonFlags,
               logic_loops([](bool x, bool y) { return x | y; }));
SB_ELEMENTWISE(logical_xor_arithmetic, "logical_xor", kComparisonFlags,
               logic_loops([](bool x, bool y) { return x != y; }));
constexpr LoopTable not_loops() {
  LoopTable table{};
  const auto f = [](const auto& a) { return a == element_of<decltype(a)>(0); };
  set_loops<1, bool>(&table, IntegerTypes(), f);
  set_loops<1, bool>(&table, FloatTypes(), f);
  set_loops<1, bool>(&table, BoolType(), f);
  set_loops<1, bool>(&table, ComplexTypes(), f);
  return table;
}
SB_ELEMENTWISE(logical_not_arithmetic, "logical_not", kBoolOutput, not_loops());

#ifndef SB_CPU_VARIANT
namespace {

template <const ElementwiseOp& op>
Tensor unary_body(const Tensor& out, const Tensor& self) {
  return elementwise(op, out, self);
}
template <const ElementwiseOp& op>
Tensor binary_body(const Tensor& out, const Tensor& self, const Tensor& other) {
  return elementwise(op, out, self, other);
}
// Of numbers in an order. RuntimeError for complex ones.
template <const ElementwiseOp& op>
Tensor selection_body(const Tensor& out, const Tensor& self, const Tensor& other) {
  for (const Tensor* t : {&self, &other}) {
    SB_CHECK(!t->defined() || !is_complex(t->dtype()), op.name, ": not implemented for ",
             t->describe());
  }
  return elementwise(op, out, self, other);
}
// With a number: the same with a 0-dim tensor of it.
template <const ElementwiseOp& op>
Tensor number_body(const Tensor& out, const Tensor& self, const Scalar& other) {
  return elementwise(op, out, self, wrapped_scalar_tensor(other, self));
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, eq, Tag::pointwise).elementwise<binary_body<eq_arithmetic>>().out_and_inplace();
  define(m, eq_Scalar, Tag::pointwise)
      .elementwise<number_body<eq_arithmetic>>()
      .inplace(eq_Scalar_)
      .out(eq_Scalar_out);
  define(m, ne, Tag::pointwise).elementwise<binary_body<ne_arithmetic>>().out_and_inplace();
  define(m, ne_Scalar, Tag::pointwise)
      .elementwise<number_body<ne_arithmetic>>()
      .inplace(ne_Scalar_)
      .out(ne_Scalar_out);
  define(m, lt, Tag::pointwise).elementwise<binary_body<lt_arithmetic>>().out_and_inplace();
  define(m, lt_Scalar, Tag::pointwise)
      .elementwise<number_body<lt_arithmetic>>()
      .inplace(lt_Scalar_)
      .out(lt_Scalar_out);
  define(m, le, Tag::pointwise).elementwise<binary_body<le_arithmetic>>().out_and_inplace();
  define(m, le_Scalar, Tag::pointwise)
      .elementwise<number_body<le_arithmetic>>()
      .inplace(le_Scalar_)
      .out(le_Scalar_out);
  define(m, gt, Tag::pointwise).elementwise<binary_body<gt_arithmetic>>().out_and_inplace();
  define(m, gt_Scalar, Tag::pointwise)
      .elementwise<number_body<gt_arithmetic>>()
      .inplace(gt_Scalar_)
      .out(gt_Scalar_out);
  define(m, ge, Tag::pointwise).elementwise<binary_body<ge_arithmetic>>().out_and_inplace();
  define(m, ge_Scalar, Tag::pointwise)
      .elementwise<number_body<ge_arithmetic>>()
      .inplace(ge_Scalar_)
      .out(ge_Scalar_out);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, maximum, Tag::pointwise)
      .elementwise<selection_body<maximum_arithmetic>>()
      .out(maximum_out);
  define(m, minimum, Tag::pointwise)
      .elementwise<selection_body<minimum_arithmetic>>()
      .out(minimum_out);
  define(m, max_other)
      .composed([](const Tensor& self, const Tensor& other) { return maximum(self, other); })
      .out(max_other_out, [](const Tensor& self, const Tensor& other, const Tensor& out) {
        return maximum_out(self, other, out);
      });
  define(m, min_other)
      .composed([](const Tensor& self, const Tensor& other) { return minimum(self, other); })
      .out(min_other_out, [](const Tensor& self, const Tensor& other, const Tensor& out) {
        return minimum_out(self, other, out);
      });
  define(m, logical_and, Tag::pointwise)
      .elementwise<binary_body<logical_and_arithmetic>>()
      .inplace(logical_and_)
      .out(logical_and_out);
  define(m, logical_or, Tag::pointwise)
      .elementwise<binary_body<logical_or_arithmetic>>()
      .inplace(logical_or_)
      .out(logical_or_out);
  define(m, logical_xor, Tag::pointwise)
      .elementwise<binary_body<logical_xor_arithmetic>>()
      .inplace(logical_xor_)
      .out(logical_xor_out);
  define(m, logical_not, Tag::pointwise)
      .elementwise<unary_body<logical_not_arithmetic>>()
      .inplace(logical_not_)
      .out(logical_not_out);
}

}  // namespace
#endif  // SB_CPU_VARIANT

}  // namespace sb
