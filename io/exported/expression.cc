#include "switchboard/io/exported/expression.h"

#include <charconv>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "switchboard/core/error.h"
#include "switchboard/core/print/number_format.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/core/symbols/sym_bool.h"
#include "switchboard/core/symbols/sym_float.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/io/exported/sym_function.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

using Term = ExpressionTerm;
using TermPtr = std::shared_ptr<const Term>;
using Kind = Term::Kind;

// What a file may nest, so that no text overflows the stack.
constexpr size_t kMaxExpressionDepth = 200;

TermPtr make_integer(int64_t value) { return std::make_shared<Term>(Term{Kind::Integer, value}); }
TermPtr make_function(std::string name, std::vector<TermPtr> operands) {
  return std::make_shared<Term>(Term{Kind::Function, 0, 0, std::move(name), std::move(operands)});
}

// A recursive-descent reader of what sympy.srepr writes: calls, numbers, quoted strings.
class ExpressionReader {
 public:
  explicit ExpressionReader(std::string_view text) : text_(text) {}

  TermPtr read() {
    TermPtr term = read_term();
    skip_spaces();
    if (at_ != text_.size()) fail("something after its end");
    return term;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    SB_THROW(ValueError, "expression ", quote(std::string(text_)), ": ", what, " at character ",
             at_);
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(str_cat("expected '", std::string(1, c), "'"));
  }
  std::string_view read_while(bool (*belongs)(char)) {
    skip_spaces();
    const size_t begin = at_;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  static bool is_word(char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  }
  static bool is_number(char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '-';
  }

  int64_t read_int() {
    const std::string_view digits = read_while(is_number);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
      fail("expected an integer that fits int64");
    return value;
  }
  std::string read_string() {
    expect('\'');
    const size_t end = text_.find('\'', at_);
    if (end == text_.npos) fail("a string without an end");
    return std::string(text_.substr(std::exchange(at_, end + 1), end - at_));
  }
  // What follows the value in Symbol('s0', integer=True): assumptions, which say nothing new.
  void skip_keywords() {
    while (take(',')) {
      read_while(is_word);
      expect('=');
      if (read_while(is_word).empty()) fail("expected a value");
    }
    expect(')');
  }

  TermPtr read_term() {
    if (++depth_ > kMaxExpressionDepth) fail("nested too deeply");
    TermPtr term = read_one();
    --depth_;
    return term;
  }

  TermPtr read_one() {
    skip_spaces();
    if (at_ < text_.size() && is_number(text_[at_])) return make_integer(read_int());
    const std::string name(read_while(is_word));
    if (name.empty()) fail("expected a term");
    if (name == "true" || name == "True") return make_bool(true);
    if (name == "false" || name == "False") return make_bool(false);
    expect('(');
    if (name == "Integer") {
      const int64_t value = read_int();
      expect(')');
      return make_integer(value);
    }
    if (name == "Symbol") {
      Term symbol{Kind::Symbol};
      symbol.name = read_string();
      if (symbol.name.empty()) fail("a symbol without a name");
      skip_keywords();
      return std::make_shared<Term>(std::move(symbol));
    }
    if (name == "Float") {
      const std::string digits = read_string();
      double value = 0;
      if (!absl::SimpleAtod(digits, &value)) fail("expected a float");
      skip_keywords();
      return std::make_shared<Term>(Term{Kind::Float, 0, value});
    }
    return read_function(name);
  }

  static TermPtr make_bool(bool value) {
    return std::make_shared<Term>(Term{Kind::Bool, int64_t{value}});
  }

  TermPtr read_function(const std::string& name) {
    const bool is_case = std::exchange(allow_case_, false);
    std::vector<TermPtr> operands;
    if (!take(')')) {
      const size_t depth = depth_;
      do {
        allow_case_ = name == "Piecewise";
        operands.push_back(read_term());
        // Each case will lie one deeper than the one before.
        if (name == "Piecewise") ++depth_;
        allow_case_ = false;
      } while (take(','));
      depth_ = depth;
      expect(')');
    }
    if (name == "ExprCondPair") {
      if (operands.size() != 2) fail("ExprCondPair needs two operands");
      if (!is_case) fail("ExprCondPair belongs into Piecewise");
      return make_function(name, std::move(operands));
    }
    if (name == "Piecewise") return piecewise(operands);
    if (name == "Mul") return product(std::move(operands));
    SB_CHECK_NOT_IMPLEMENTED(find_sympy_function(name), "expression ", quote(std::string(text_)),
                             ": the function ", quote(name), " is not supported");
    return make_function(name, std::move(operands));
  }

  // Piecewise((a, c), (b, true)) is ITE(c, a, b).
  TermPtr piecewise(const std::vector<TermPtr>& pairs) const {
    TermPtr result;
    for (size_t i = pairs.size(); i-- > 0;) {
      if (pairs[i]->kind != Kind::Function || pairs[i]->name != "ExprCondPair")
        fail("Piecewise needs pairs");
      const auto& pair = pairs[i]->operands;
      const bool always = pair[1]->kind == Kind::Bool && pair[1]->integer;
      if (!result && !always) fail("Piecewise needs a last case that always holds");
      result = always ? pair[0] : make_function("ITE", {pair[1], pair[0], result});
    }
    if (!result) fail("Piecewise needs pairs");
    return result;
  }

  // A product with a fraction p/q is a whole number in a size: (p * rest) // q keeps it one.
  static TermPtr product(std::vector<TermPtr> operands) {
    for (TermPtr& operand : operands) {
      if (operand->name != "Rational" || operand->operands.size() != 2) continue;
      const TermPtr divisor = operand->operands[1];
      operand = TermPtr(operand->operands[0]);
      return make_function("CleanDiv", {make_function("Mul", std::move(operands)), divisor});
    }
    return make_function("Mul", std::move(operands));
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t depth_ = 0;
  bool allow_case_ = false;  // whether the next term may be a case of Piecewise
};

SymValue evaluate_term(const Term& term, const SymbolValues& symbols) {
  switch (term.kind) {
    case Kind::Integer:
      return SymValue::of_int(term.integer);
    case Kind::Float:
      return SymValue::of_float(term.number);
    case Kind::Bool:
      return SymValue::of_bool(term.integer != 0);
    case Kind::Symbol: {
      const auto found = symbols.find(term.name);
      SB_CHECK_VALUE(found != symbols.end(), "symbol ", quote(term.name), " has no value");
      return found->second;
    }
    case Kind::Function:
      break;
  }
  std::vector<SymValue> operands;
  for (const TermPtr& operand : term.operands) operands.push_back(evaluate_term(*operand, symbols));
  const SymFunction function = find_sympy_function(term.name);
  SB_CHECK_NOT_IMPLEMENTED(function, "the function ", quote(term.name), " is not supported");
  return function(operands);
}

void visit_symbols(const Term& term, absl::FunctionRef<void(const std::string&)> f) {
  if (term.kind == Kind::Symbol) f(term.name);
  for (const TermPtr& operand : term.operands) visit_symbols(*operand, f);
}

// How tightly an operator binds; a term in a tighter place gets brackets.
enum Binding { kCompare, kSum, kProduct, kUnary, kPower, kAtom };

struct Infix {
  const char* symbol;
  Binding binding;
};

std::optional<Infix> infix_of(std::string_view name) {
  if (name == "Add") return Infix{" + ", kSum};
  if (name == "Mul") return Infix{"*", kProduct};
  if (name == "FloorDiv" || name == "CleanDiv") return Infix{"//", kProduct};
  if (name == "Mod" || name == "PythonMod") return Infix{" % ", kProduct};
  if (name == "IntTrueDiv" || name == "FloatTrueDiv" || name == "Rational")
    return Infix{"/", kProduct};
  if (name == "Pow" || name == "PowByNatural" || name == "FloatPow") return Infix{"**", kPower};
  if (name == "Equality") return Infix{" == ", kCompare};
  if (name == "Unequality") return Infix{" != ", kCompare};
  if (name == "StrictLessThan") return Infix{" < ", kCompare};
  if (name == "LessThan") return Infix{" <= ", kCompare};
  if (name == "StrictGreaterThan") return Infix{" > ", kCompare};
  if (name == "GreaterThan") return Infix{" >= ", kCompare};
  return std::nullopt;
}

std::string text_of(const Term& term, Binding place) {
  switch (term.kind) {
    case Kind::Integer:
      return term.integer < 0 && place > kSum ? str_cat("(", term.integer, ")")
                                              : str_cat(term.integer);
    case Kind::Float:
      return str_cat(term.number);
    case Kind::Bool:
      return term.integer ? "True" : "False";
    case Kind::Symbol:
      return term.name;
    case Kind::Function:
      break;
  }
  const auto infix = infix_of(term.name);
  if (term.name == "Mul" && term.operands.size() == 2 && term.operands[0]->kind == Kind::Integer &&
      term.operands[0]->integer == -1) {
    const std::string text = "-" + text_of(*term.operands[1], kUnary);
    return place > kSum ? str_cat("(", text, ")") : text;
  }
  if (!infix) {
    std::string text;
    for (const TermPtr& operand : term.operands)
      text += (text.empty() ? "" : ", ") + text_of(*operand, kCompare);
    return str_cat(term.name, "(", text, ")");
  }
  std::string text;
  bool first = true;
  for (const TermPtr& operand : term.operands) {
    // Only sums and products may be read from either side.
    const bool associates = first || term.name == "Add" || term.name == "Mul";
    const auto inner = static_cast<Binding>(infix->binding + (associates ? 0 : 1));
    // Of a product, a quotient or remainder needs brackets: a*(b//c) is not a*b//c.
    const auto nested = infix_of(operand->name);
    const bool other = nested && nested->binding == infix->binding && operand->name != term.name;
    const std::string part = text_of(*operand, other ? kAtom : inner);
    if (!first && term.name == "Add" && part[0] == '-')
      text += " - " + part.substr(1);
    else
      text += (first ? "" : infix->symbol) + part;
    first = false;
  }
  return infix->binding < place ? str_cat("(", text, ")") : text;
}

bool same_term(const Term& a, const Term& b) {
  if (a.kind != b.kind || a.integer != b.integer || a.number != b.number || a.name != b.name ||
      a.operands.size() != b.operands.size())
    return false;
  for (size_t i = 0; i < a.operands.size(); ++i)
    if (!same_term(*a.operands[i], *b.operands[i])) return false;
  return true;
}

}  // namespace

Expression::Expression(std::shared_ptr<const ExpressionTerm> term) {
  if (term->kind == Kind::Integer)
    value_ = term->integer;
  else
    term_ = std::move(term);
}

Expression Expression::parse(std::string_view text) {
  return Expression(ExpressionReader(text).read());
}

std::optional<std::string_view> Expression::symbol() const {
  if (!term_ || term_->kind != Kind::Symbol) return std::nullopt;
  return term_->name;
}

void Expression::for_each_symbol(absl::FunctionRef<void(const std::string&)> f) const {
  if (term_) visit_symbols(*term_, f);
}

bool Expression::is_known(const SymbolValues& symbols) const {
  bool known = true;
  for_each_symbol([&](const std::string& name) { known &= symbols.contains(name); });
  return known;
}

SymValue Expression::evaluate(const SymbolValues& symbols) const {
  return term_ ? evaluate_term(*term_, symbols) : SymValue::of_int(value_);
}

SymInt Expression::evaluate_int(const SymbolValues& symbols) const {
  const SymValue value = evaluate(symbols);
  if (value.kind() == SymKind::Int) return SymInt(value);
  if (value.kind() == SymKind::Float) return sym_trunc(SymFloat(value));
  return sym_int(SymBool(value));
}

std::shared_ptr<const ExpressionTerm> Expression::term() const {
  return term_ ? term_ : make_integer(value_);
}

std::string Expression::to_string() const {
  return term_ ? text_of(*term_, kCompare) : str_cat(value_);
}

bool Expression::operator==(const Expression& other) const {
  if (!term_ || !other.term_) return !term_ && !other.term_ && value_ == other.value_;
  return same_term(*term_, *other.term_);
}

}  // namespace sb::io
