#include "switchboard/core/symbols/sym_node.h"

namespace sb {

std::string_view to_string(SymKind kind) {
  constexpr std::string_view kNames[] = {"SymInt", "SymFloat", "SymBool"};
  return kNames[static_cast<int>(kind)];
}

std::string_view to_string(SymOp op) {
  switch (op) {
    case SymOp::Add:
      return "+";
    case SymOp::Mul:
      return "*";
    case SymOp::Sub:
      return "-";
    case SymOp::FloorDiv:
      return "//";
    case SymOp::Mod:
      return "%";
    case SymOp::Min:
      return "min";
    case SymOp::Max:
      return "max";
    case SymOp::Neg:
      return "neg";
    case SymOp::TrueDiv:
      return "/";
    case SymOp::Pow:
      return "pow";
    case SymOp::Sqrt:
      return "sqrt";
    case SymOp::Floor:
      return "floor";
    case SymOp::Ceil:
      return "ceil";
    case SymOp::Trunc:
      return "trunc";
    case SymOp::ToFloat:
      return "float";
    case SymOp::ToInt:
      return "int";
    case SymOp::Eq:
      return "==";
    case SymOp::Ne:
      return "!=";
    case SymOp::Lt:
      return "<";
    case SymOp::Le:
      return "<=";
    case SymOp::Gt:
      return ">";
    case SymOp::Ge:
      return ">=";
    case SymOp::And:
      return "&";
    case SymOp::Or:
      return "|";
    case SymOp::Not:
      return "!";
  }
  SB_ASSERT(false);
}

SymValue sym_apply(SymOp op, absl::Span<const SymValue> operands) {
  for (const SymValue& v : operands) {
    if (v.is_symbolic()) return v.node()->apply(op, operands);
  }
  SB_ASSERT(false);
}

void SymNode::cannot(std::string_view what) const {
  SB_THROW(RuntimeError, sb::to_string(kind()), " ", to_string(), ": ", what,
           " is not supported by this kind of symbolic expression");
}
SymValue SymNode::apply(SymOp op, absl::Span<const SymValue>) const { cannot(sb::to_string(op)); }
int64_t SymNode::guard_int(SourceLocation) const { cannot("guard_int"); }
double SymNode::guard_float(SourceLocation) const { cannot("guard_float"); }
bool SymNode::guard_bool(SourceLocation) const { cannot("guard_bool"); }
bool SymNode::guard_size_oblivious(SourceLocation) const { cannot("guard_size_oblivious"); }
bool SymNode::expect_true(SourceLocation, std::string_view) const { cannot("expect_true"); }

}  // namespace sb
