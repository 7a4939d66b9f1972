#include "switchboard/io/exported/sym_function.h"

#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/core/symbols/sym_bool.h"
#include "switchboard/core/symbols/sym_float.h"
#include "switchboard/core/symbols/sym_int.h"

namespace sb::io {
namespace {

using Operands = absl::Span<const SymValue>;

void expect_operands(std::string_view who, Operands operands, size_t count) {
  SB_CHECK_TYPE(operands.size() == count, who, ": expected ", count, " operands, got ",
                operands.size());
}

// Truths count as 0 and 1, as in Python.
SymInt as_int(std::string_view who, const SymValue& value) {
  SB_CHECK_TYPE(value.kind() != SymKind::Float, who, ": expected an integer, got a float");
  if (value.kind() == SymKind::Int) return SymInt(value);
  return value.is_symbolic() ? sym_int(SymBool(value)) : SymInt(int64_t{value.as_bool()});
}

SymFloat as_float(std::string_view who, const SymValue& value) {
  if (value.kind() == SymKind::Float) return SymFloat(value);
  const SymInt integer = as_int(who, value);
  return integer.is_symbolic() ? sym_float(integer)
                               : SymFloat(static_cast<double>(integer.expect_int()));
}

// A number is true unless it is 0.
SymBool as_bool(std::string_view who, const SymValue& value) {
  if (value.kind() == SymKind::Bool)
    return value.is_symbolic() ? SymBool(value) : SymBool(value.as_bool());
  if (value.kind() == SymKind::Int) return SymInt(value) != SymInt(0);
  return as_float(who, value) != SymFloat(0.0);
}

bool any_float(Operands operands) {
  for (const SymValue& value : operands)
    if (value.kind() == SymKind::Float) return true;
  return false;
}

bool all_bools(Operands operands) {
  for (const SymValue& value : operands)
    if (value.kind() != SymKind::Bool) return false;
  return true;
}

// op(a, b, ...) from the left, on floats if any is one, else on integers.
template <class F>
SymValue fold(std::string_view who, Operands operands, F op) {
  SB_CHECK_TYPE(!operands.empty(), who, ": expected operands, got none");
  if (any_float(operands)) {
    SymFloat result = as_float(who, operands[0]);
    for (const SymValue& value : operands.subspan(1)) result = op(result, as_float(who, value));
    return result.value();
  }
  SymInt result = as_int(who, operands[0]);
  for (const SymValue& value : operands.subspan(1)) result = op(result, as_int(who, value));
  return result.value();
}

SymValue add(Operands operands) {
  return fold("add", operands, [](const auto& a, const auto& b) { return a + b; });
}
SymValue mul(Operands operands) {
  return fold("mul", operands, [](const auto& a, const auto& b) { return a * b; });
}
SymValue sub(Operands operands) {
  expect_operands("sub", operands, 2);
  return fold("sub", operands, [](const auto& a, const auto& b) { return a - b; });
}
SymValue maximum(Operands operands) {
  return fold("max", operands, [](const auto& a, const auto& b) { return sym_max(a, b); });
}
SymValue minimum(Operands operands) {
  return fold("min", operands, [](const auto& a, const auto& b) { return sym_min(a, b); });
}
SymValue negate(Operands operands) {
  expect_operands("neg", operands, 1);
  return any_float(operands) ? (-as_float("neg", operands[0])).value()
                             : (-as_int("neg", operands[0])).value();
}
SymValue positive(Operands operands) {
  expect_operands("pos", operands, 1);
  return operands[0];
}
SymValue absolute(Operands operands) {
  expect_operands("abs", operands, 1);
  const SymValue both[] = {operands[0], negate(operands)};
  return maximum(both);
}

SymValue true_divide(Operands operands) {
  expect_operands("truediv", operands, 2);
  if (!any_float(operands))
    return sym_true_div(as_int("truediv", operands[0]), as_int("truediv", operands[1])).value();
  return (as_float("truediv", operands[0]) / as_float("truediv", operands[1])).value();
}
SymValue floor_divide(Operands operands) {
  expect_operands("floordiv", operands, 2);
  if (!any_float(operands))
    return sym_floor_div(as_int("floordiv", operands[0]), as_int("floordiv", operands[1])).value();
  const SymFloat quotient = as_float("floordiv", operands[0]) / as_float("floordiv", operands[1]);
  return sym_float(sym_floor(quotient)).value();
}
SymValue modulo(Operands operands) {
  expect_operands("mod", operands, 2);
  return sym_mod(as_int("mod", operands[0]), as_int("mod", operands[1])).value();
}
// sympy: (base // divisor) % modulus.
SymValue modular_indexing(Operands operands) {
  expect_operands("ModularIndexing", operands, 3);
  const SymValue quotient[] = {floor_divide(operands.first(2)), operands[2]};
  return modulo(quotient);
}

// A power by repeated multiplication, which keeps the base's symbol. The exponent is a number.
SymValue power(Operands operands) {
  expect_operands("pow", operands, 2);
  if (any_float(operands))
    return sym_pow(as_float("pow", operands[0]), as_float("pow", operands[1])).value();
  const int64_t exponent = as_int("pow", operands[1]).guard_int();
  const SymInt base = as_int("pow", operands[0]);
  if (exponent < 0) {
    const SymFloat inverse = sym_true_div(SymInt(1), base);
    return sym_pow(inverse, SymFloat(static_cast<double>(-exponent))).value();
  }
  SB_CHECK(exponent <= 64, "pow: expected an integer exponent of at most 64, got ", exponent);
  SymInt result = 1;
  for (int64_t i = 0; i < exponent; ++i) result = result * base;
  return result.value();
}
SymValue square_root(Operands operands) {
  expect_operands("sqrt", operands, 1);
  return sym_sqrt(as_float("sqrt", operands[0])).value();
}

SymValue left_shift(Operands operands) {
  expect_operands("lshift", operands, 2);
  const int64_t bits = as_int("lshift", operands[1]).guard_int();
  SB_CHECK(bits >= 0 && bits < 62, "lshift: expected a shift of 0 to 61 bits, got ", bits);
  return (as_int("lshift", operands[0]) * SymInt(int64_t{1} << bits)).value();
}
SymValue right_shift(Operands operands) {
  expect_operands("rshift", operands, 2);
  const int64_t bits = as_int("rshift", operands[1]).guard_int();
  SB_CHECK(bits >= 0 && bits < 62, "rshift: expected a shift of 0 to 61 bits, got ", bits);
  return sym_floor_div(as_int("rshift", operands[0]), SymInt(int64_t{1} << bits)).value();
}

SymValue to_float(Operands operands) {
  expect_operands("sym_float", operands, 1);
  return as_float("sym_float", operands[0]).value();
}
// A float rounded in that way; an integer as it is.
template <SymInt round(const SymFloat&)>
SymValue to_int(Operands operands) {
  expect_operands("sym_int", operands, 1);
  if (!any_float(operands)) return as_int("sym_int", operands[0]).value();
  return round(as_float("sym_int", operands[0])).value();
}
SymInt round_half_even(const SymFloat& value) {
  return sym_trunc(SymFloat(std::nearbyint(value.guard_float())));
}
SymValue to_bool(Operands operands) {
  expect_operands("bool", operands, 1);
  return as_bool("bool", operands[0]).value();
}
SymValue identity(Operands operands) {
  expect_operands("Identity", operands, 1);
  return operands[0];
}

// Truths compare as truths, all else as numbers.
template <SymOp kOp, class T>
SymBool compare_as(const T& a, const T& b) {
  if constexpr (kOp == SymOp::Eq) return a == b;
  if constexpr (kOp == SymOp::Ne) return a != b;
  if constexpr (kOp == SymOp::Lt) return a < b;
  if constexpr (kOp == SymOp::Le) return a <= b;
  if constexpr (kOp == SymOp::Gt) return a > b;
  if constexpr (kOp == SymOp::Ge) return a >= b;
}
template <SymOp kOp>
SymValue compare(Operands operands) {
  const std::string_view who = sb::to_string(kOp);
  expect_operands(who, operands, 2);
  if (any_float(operands))
    return compare_as<kOp>(as_float(who, operands[0]), as_float(who, operands[1])).value();
  return compare_as<kOp>(as_int(who, operands[0]), as_int(who, operands[1])).value();
}

// Of truths a truth; of integers, their bits, which are numbers by then.
SymValue logical_and(Operands operands) {
  if (!all_bools(operands)) {
    expect_operands("and", operands, 2);
    return SymInt(as_int("and", operands[0]).guard_int() & as_int("and", operands[1]).guard_int())
        .value();
  }
  SymBool result = true;
  for (const SymValue& value : operands) result = sym_and(result, as_bool("and", value));
  return result.value();
}
SymValue logical_or(Operands operands) {
  if (!all_bools(operands)) {
    expect_operands("or", operands, 2);
    return SymInt(as_int("or", operands[0]).guard_int() | as_int("or", operands[1]).guard_int())
        .value();
  }
  SymBool result = false;
  for (const SymValue& value : operands) result = sym_or(result, as_bool("or", value));
  return result.value();
}
SymValue logical_not(Operands operands) {
  expect_operands("not", operands, 1);
  return sym_not(as_bool("not", operands[0])).value();
}

// operands[1] if operands[0], else operands[2]: t + c * (f - t), where c is not known.
SymValue if_then_else(Operands operands) {
  expect_operands("sym_ite", operands, 3);
  const SymBool condition = as_bool("sym_ite", operands[0]);
  if (!condition.is_symbolic()) return operands[condition.expect_bool() ? 1 : 2];
  if (const auto known = statically_known(condition)) return operands[*known ? 1 : 2];
  if (any_float(operands.subspan(1))) return operands[condition.guard_bool() ? 1 : 2];
  const SymInt yes = as_int("sym_ite", operands[1]), no = as_int("sym_ite", operands[2]);
  return (no + sym_int(condition) * (yes - no)).value();
}

using Table = absl::flat_hash_map<std::string_view, SymFunction>;

}  // namespace

SymFunction find_sym_function(std::string_view target) {
  static const Table* const table = new Table{
      {"_operator.add", add},
      {"_operator.sub", sub},
      {"_operator.mul", mul},
      {"_operator.truediv", true_divide},
      {"_operator.floordiv", floor_divide},
      {"_operator.mod", modulo},
      {"_operator.pow", power},
      {"_operator.neg", negate},
      {"_operator.pos", positive},
      {"_operator.abs", absolute},
      {"_operator.lshift", left_shift},
      {"_operator.rshift", right_shift},
      {"_operator.eq", compare<SymOp::Eq>},
      {"_operator.ne", compare<SymOp::Ne>},
      {"_operator.lt", compare<SymOp::Lt>},
      {"_operator.le", compare<SymOp::Le>},
      {"_operator.gt", compare<SymOp::Gt>},
      {"_operator.ge", compare<SymOp::Ge>},
      {"_operator.and_", logical_and},
      {"_operator.or_", logical_or},
      {"_operator.not_", logical_not},
      {"_operator.index", identity},
      {"math.trunc", to_int<sym_trunc>},
      {"math.floor", to_int<sym_floor>},
      {"math.ceil", to_int<sym_ceil>},
      {"math.sqrt", square_root},
      {"torch.sym_int", to_int<sym_trunc>},
      {"torch.sym_float", to_float},
      {"torch.sym_max", maximum},
      {"torch.sym_min", minimum},
      {"torch.sym_not", logical_not},
      {"torch.sym_ite", if_then_else},
      {"torch.sym_sqrt", square_root},
      {"torch._sym_sqrt", square_root},
      {"torch.sym_sum", add},
      {"builtins.abs", absolute},
      {"builtins.bool", to_bool},
      {"builtins.float", to_float},
      {"builtins.int", to_int<sym_trunc>},
      {"builtins.max", maximum},
      {"builtins.min", minimum},
      {"builtins.round", to_int<round_half_even>},
  };
  // The module of a function is how Python came by it: torch/__init__.py defines sym_max, and
  // `operator` hands on `_operator`.
  std::string name(target);
  if (name.starts_with("operator.")) name = "_" + name;
  const auto found = table->find(name);
  return found == table->end() ? nullptr : found->second;
}

SymFunction find_sympy_function(std::string_view name) {
  static const Table* const table = new Table{
      {"Add", add},
      {"Mul", mul},
      {"Pow", power},
      {"PowByNatural", power},
      {"FloatPow", power},
      {"Rational", true_divide},
      {"IntTrueDiv", true_divide},
      {"FloatTrueDiv", true_divide},
      {"FloorDiv", floor_divide},
      {"CleanDiv", floor_divide},
      {"Mod", modulo},
      {"PythonMod", modulo},
      {"ModularIndexing", modular_indexing},
      {"LShift", left_shift},
      {"RShift", right_shift},
      {"Abs", absolute},
      {"Max", maximum},
      {"Min", minimum},
      {"ToFloat", to_float},
      {"TruncToInt", to_int<sym_trunc>},
      {"TruncToFloat", to_int<sym_trunc>},
      {"FloorToInt", to_int<sym_floor>},
      {"floor", to_int<sym_floor>},
      {"CeilToInt", to_int<sym_ceil>},
      {"ceiling", to_int<sym_ceil>},
      {"RoundToInt", to_int<round_half_even>},
      {"Identity", identity},
      {"OpaqueUnaryFn_sqrt", square_root},
      {"Equality", compare<SymOp::Eq>},
      {"Unequality", compare<SymOp::Ne>},
      {"StrictLessThan", compare<SymOp::Lt>},
      {"LessThan", compare<SymOp::Le>},
      {"StrictGreaterThan", compare<SymOp::Gt>},
      {"GreaterThan", compare<SymOp::Ge>},
      {"And", logical_and},
      {"Or", logical_or},
      {"Not", logical_not},
      {"ITE", if_then_else},
      {"Where", if_then_else},
      {"BitwiseFn_bitwise_and", logical_and},
      {"BitwiseFn_bitwise_or", logical_or},
  };
  const auto found = table->find(name);
  return found == table->end() ? nullptr : found->second;
}

}  // namespace sb::io
