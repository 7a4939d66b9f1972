// The text of expressions.

#include <variant>

#include "switchboard/core/str_cat.h"
#include "switchboard/fake/symbolic/expr_linear.h"

namespace sb::symbolic {

namespace {

constexpr size_t kMaxText = 4096;

// How tightly the text around an operand binds: what binds less is put in parentheses.
// Quotients and products bind alike, but a product's factor that is a quotient must be in them: as
// Python reads 3*s0//5, it is (3*s0)//5.
enum Binding { kLoose, kSum, kQuotient, kProduct, kAtom };

struct Operand {
  Expr expr;
  Binding around;
};
using Pieces = std::vector<std::variant<std::string, Operand>>;

// A sum's terms, those of one sign only if asked, and a constant.
class SumText {
 public:
  explicit SumText(Pieces& out) : out_(out) {}
  void term(Expr monomial, int64_t coefficient) {
    const bool bare = coefficient == 1 || (coefficient == -1 && !first_);
    const Binding around = !bare ? kProduct : first_ ? kSum : kQuotient;
    sign(coefficient < 0);
    if (magnitude(coefficient) != 1) out_.push_back(str_cat(magnitude(coefficient), "*"));
    out_.push_back(Operand{monomial, around});
  }
  void constant(int64_t c) {
    if (c == 0 && !first_) return;
    sign(c < 0);
    out_.push_back(str_cat(magnitude(c)));
  }

 private:
  void sign(bool minus) {
    if (minus)
      out_.push_back(first_ ? "-" : " - ");
    else if (!first_)
      out_.push_back(" + ");
    first_ = false;
  }
  Pieces& out_;
  bool first_ = true;
};

struct Side {
  std::vector<std::pair<Expr, int64_t>> terms;
  void print(Pieces& out, int64_t constant) const {
    SumText text(out);
    for (const auto& [m, c] : terms) text.term(m, c);
    text.constant(constant);
  }
};

// sum op 0, with what is negative brought to the other side.
void integer_comparison(Expr e, Pieces& out) {
  const Expr sum = e->args[0];
  Side left, right;
  int64_t constant = 0;
  if (sum->is_sum()) {
    constant = sum->value;
    for (size_t i = 0; i < sum->args.size(); ++i) {
      const int64_t c = sum->coefficients[i];
      if (c > 0)
        left.terms.emplace_back(sum->args[i], c);
      else
        right.terms.emplace_back(sum->args[i], c == INT64_MIN ? c : -c);
    }
  } else {
    left.terms.emplace_back(sum, 1);
  }
  const int64_t minus_constant = constant == INT64_MIN ? INT64_MAX : -constant;
  const bool le = e->op == SymOp::Le;
  const char* op = e->op == SymOp::Eq ? " == " : e->op == SymOp::Ne ? " != " : " <= ";
  if (left.terms.empty()) {  // constant op right
    right.print(out, 0);
    out.push_back(le ? " >= " : op);
    Side().print(out, constant);
  } else if (le && constant == 1 && !right.terms.empty()) {
    left.print(out, 0);
    out.push_back(" < ");
    right.print(out, 0);
  } else if (constant > 0 && !right.terms.empty()) {
    left.print(out, constant);
    out.push_back(op);
    right.print(out, 0);
  } else {
    left.print(out, 0);
    out.push_back(op);
    right.print(out, minus_constant);
  }
}

void joined(Expr e, std::string_view separator, Binding around, Pieces& out) {
  for (size_t i = 0; i < e->args.size(); ++i) {
    if (i > 0) out.push_back(std::string(separator));
    out.push_back(Operand{e->args[i], around});
  }
}

void call(Expr e, std::string_view name, Pieces& out) {
  out.push_back(str_cat(name, "("));
  joined(e, ", ", kLoose, out);
  out.push_back(")");
}

// The text of a node as pieces, and how tightly it binds.
Binding pieces_of(Expr e, Pieces& out) {
  if (e->is_const()) {
    if (e->kind == SymKind::Bool) {
      out.push_back(e->value ? "True" : "False");
    } else {
      out.push_back(e->kind == SymKind::Int ? str_cat(e->value) : str_cat(e->float_value));
    }
    return e->value < 0 || e->float_value < 0 ? kSum : kAtom;
  }
  if (e->is_symbol()) {
    out.push_back(*e->name);
    return kAtom;
  }
  const std::string infix = str_cat(" ", sb::to_string(e->op), " ");
  switch (e->op) {
    case SymOp::Add:
      if (e->is_sum()) {
        SumText text(out);
        for (size_t i = 0; i < e->args.size(); ++i) text.term(e->args[i], e->coefficients[i]);
        text.constant(e->value);
        return e->args.size() == 1 && e->value == 0 ? kProduct : kSum;
      }
      [[fallthrough]];
    case SymOp::Sub:
      joined(e, infix, kQuotient, out);
      return kSum;
    case SymOp::Mul:
      joined(e, "*", kAtom, out);
      return kProduct;
    case SymOp::FloorDiv:
    case SymOp::TrueDiv:
      joined(e, sb::to_string(e->op), kAtom, out);
      return kQuotient;
    case SymOp::Mod:
      joined(e, infix, kAtom, out);
      return kSum;
    case SymOp::Eq:
    case SymOp::Ne:
    case SymOp::Lt:
    case SymOp::Le:
    case SymOp::Gt:
    case SymOp::Ge:
      if (e->args.size() == 1)
        integer_comparison(e, out);
      else
        joined(e, infix, kSum, out);
      return kLoose;
    case SymOp::And:
    case SymOp::Or:
      joined(e, infix, kAtom, out);
      return kLoose;
    case SymOp::Not:
    case SymOp::Neg:
      out.push_back(e->op == SymOp::Not ? "!" : "-");
      out.push_back(Operand{e->args[0], kAtom});
      return kSum;
    case SymOp::Min:
    case SymOp::Max:
      call(e, e->op == SymOp::Min ? "Min" : "Max", out);
      return kAtom;
    default:
      call(e, sb::to_string(e->op), out);
      return kAtom;
  }
}

}  // namespace

std::string to_string(Expr root) {
  std::string text;
  Pieces stack = {Operand{root, kLoose}};
  Pieces pieces;
  while (!stack.empty()) {
    if (text.size() > kMaxText) return text + "...";
    const auto top = std::move(stack.back());
    stack.pop_back();
    if (const std::string* s = std::get_if<std::string>(&top)) {
      text += *s;
      continue;
    }
    const Operand operand = std::get<Operand>(top);
    pieces.clear();
    const bool parentheses = pieces_of(operand.expr, pieces) < operand.around;
    if (parentheses) stack.push_back(")");
    for (auto it = pieces.rbegin(); it != pieces.rend(); ++it) stack.push_back(std::move(*it));
    if (parentheses) stack.push_back("(");
  }
  return text;
}

}  // namespace sb::symbolic
