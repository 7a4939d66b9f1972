#include "switchboard/io/exported/guard_expression.h"

#include <charconv>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "switchboard/core/error.h"
#include "switchboard/io/exported/sym_function.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

using Term = ExpressionTerm;
using TermPtr = std::shared_ptr<const Term>;
constexpr int kMaxGuardDepth = 200;
constexpr size_t kMaxGuardLength = 4000;

TermPtr integer(int64_t value) { return std::make_shared<Term>(Term{Term::Kind::Integer, value}); }
TermPtr call(std::string name, std::vector<TermPtr> operands) {
  return std::make_shared<Term>(
      Term{Term::Kind::Function, 0, 0, std::move(name), std::move(operands)});
}

struct GuardOperator {
  std::string_view text;
  const char* function;  // as sympy calls it
};
// Longer ones before those that they begin with.
constexpr GuardOperator kComparisons[] = {{"==", "Equality"},      {"!=", "Unequality"},
                                          {"<=", "LessThan"},      {">=", "GreaterThan"},
                                          {"<", "StrictLessThan"}, {">", "StrictGreaterThan"}};
constexpr GuardOperator kProducts[] = {
    {"//", "FloorDiv"}, {"/", "IntTrueDiv"}, {"%", "PythonMod"}, {"*", "Mul"}};

bool has_comparison(const Term& term) {
  for (const GuardOperator& op : kComparisons)
    if (term.kind == Term::Kind::Function && term.name == op.function) return true;
  for (const TermPtr& operand : term.operands)
    if (has_comparison(*operand)) return true;
  return false;
}

// A recursive-descent reader; each function reads what binds as tightly as its name says.
class GuardReader {
 public:
  GuardReader(std::string_view text,
              absl::FunctionRef<std::optional<Expression>(const std::string&, int64_t)> size_of,
              absl::FunctionRef<std::optional<Expression>(const std::string&)> number_of)
      : text_(text), size_of_(size_of), number_of_(number_of) {}

  Expression read() {
    // A sum of ever so many terms would be as deep.
    if (text_.size() > kMaxGuardLength) fail("longer than 4,000 characters");
    TermPtr term = disjunction();
    skip_spaces();
    if (at_ != text_.size()) fail("something after its end");
    return Expression(std::move(term));
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    SB_THROW(ValueError, "guard ", quote(std::string(text_)), ": ", what, " at character ", at_);
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  bool take_word(std::string_view word) {
    skip_spaces();
    const size_t end = at_ + word.size();
    if (!text_.substr(at_).starts_with(word)) return false;
    if (end < text_.size() && is_word(text_[end])) return false;
    at_ = end;
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(str_cat("expected '", token, "'"));
  }
  static bool is_word(char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  }
  std::string read_word() {
    skip_spaces();
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  int64_t read_int() {
    skip_spaces();
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("expected an integer that fits int64");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }
  std::string read_string() {
    skip_spaces();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) fail("expected a string");
    const char mark = text_[at_++];
    const size_t end = text_.find(mark, at_);
    if (end == text_.npos) fail("a string without an end");
    return std::string(text_.substr(std::exchange(at_, end + 1), end - at_));
  }

  TermPtr disjunction() {
    TermPtr term = conjunction();
    while (take_word("or")) term = call("Or", {term, conjunction()});
    return term;
  }
  TermPtr conjunction() {
    TermPtr term = negation();
    while (take_word("and")) term = call("And", {term, negation()});
    return term;
  }
  TermPtr negation() {
    if (++depth_ > kMaxGuardDepth) fail("nested too deeply");
    TermPtr term = take_word("not") ? call("Not", {negation()}) : comparison();
    --depth_;
    return term;
  }
  // a < b <= c is a < b and b <= c.
  TermPtr comparison() {
    TermPtr left = sum();
    TermPtr all;
    while (const GuardOperator* op = take_one_of(kComparisons)) {
      // In a chain the middle is there twice; chains within chains would double at each level.
      if (all && has_comparison(*left)) fail("a chain over a comparison");
      TermPtr right = sum();
      TermPtr one = call(op->function, {left, right});
      all = all ? call("And", {all, one}) : one;
      left = right;
    }
    return all ? all : left;
  }
  template <size_t N>
  const GuardOperator* take_one_of(const GuardOperator (&operators)[N]) {
    for (const GuardOperator& op : operators)
      if (take(op.text)) return &op;
    return nullptr;
  }
  TermPtr sum() {
    TermPtr term = product();
    while (true) {
      if (take("+"))
        term = call("Add", {term, product()});
      else if (take("-"))
        term = call("Add", {term, call("Mul", {integer(-1), product()})});
      else
        return term;
    }
  }
  TermPtr product() {
    TermPtr term = power();
    while (const GuardOperator* op = take_one_of(kProducts))
      term = call(op->function, {term, power()});
    return term;
  }
  TermPtr power() {
    TermPtr term = unary();
    return take("**") ? call("Pow", {term, power()}) : term;
  }
  TermPtr unary() {
    if (!take("-")) return atom();
    if (++depth_ > kMaxGuardDepth) fail("nested too deeply");
    TermPtr term = call("Mul", {integer(-1), unary()});
    --depth_;
    return term;
  }

  TermPtr atom() {
    if (++depth_ > kMaxGuardDepth) fail("nested too deeply");
    TermPtr term = read_atom();
    --depth_;
    return term;
  }
  TermPtr read_atom() {
    if (take("(")) {
      TermPtr term = disjunction();
      expect(")");
      return term;
    }
    skip_spaces();
    if (at_ < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[at_])))
      return integer(read_int());
    std::string name = read_word();
    if (name.empty()) fail("expected a term");
    if (name == "True" || name == "False")
      return std::make_shared<Term>(Term{Term::Kind::Bool, int64_t{name == "True"}});
    if (name == "L") return input();
    if (name == "torch") {
      expect(".");
      name = read_word() == "sym_max" ? "Max" : "Min";
      if (!text_.substr(0, at_).ends_with("sym_max") && !text_.substr(0, at_).ends_with("sym_min"))
        fail("expected sym_max or sym_min");
    }
    if (!find_sympy_function(name)) fail(str_cat("the name ", quote(name), " is not known"));
    std::vector<TermPtr> operands;
    expect("(");
    do {
      operands.push_back(disjunction());
    } while (take(","));
    expect(")");
    return call(name, std::move(operands));
  }

  // L['x'].size()[0], L['args'][0]['mask'].size()[1], L['n']
  TermPtr input() {
    std::string name;
    while (take("[")) {
      skip_spaces();
      const bool is_number =
          at_ < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[at_]));
      const std::string part = is_number ? str_cat(read_int()) : read_string();
      name += (name.empty() ? "" : "_") + part;
      expect("]");
    }
    std::optional<Expression> found;
    if (take(".size()")) {
      expect("[");
      const int64_t dim = read_int();
      expect("]");
      found = size_of_(name, dim);
    } else {
      found = number_of_(name);
    }
    if (!found) fail(str_cat("no such input: ", quote(name)));
    return found->term();
  }

  std::string_view text_;
  absl::FunctionRef<std::optional<Expression>(const std::string&, int64_t)> size_of_;
  absl::FunctionRef<std::optional<Expression>(const std::string&)> number_of_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Expression parse_guard(
    std::string_view text,
    absl::FunctionRef<std::optional<Expression>(const std::string& input, int64_t dim)> size_of,
    absl::FunctionRef<std::optional<Expression>(const std::string& input)> number_of) {
  return GuardReader(text, size_of, number_of).read();
}

}  // namespace sb::io
