// A size in an exported program that need not be a number: an expression over its symbols.

#ifndef SWITCHBOARD_IO_EXPORTED_EXPRESSION_H_
#define SWITCHBOARD_IO_EXPORTED_EXPRESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/core/symbols/sym_node.h"

namespace sb::io {

// A term of an expression; never changed.
struct ExpressionTerm {
  enum class Kind { Integer, Float, Bool, Symbol, Function };
  Kind kind = Kind::Integer;
  int64_t integer = 0;    // Integer; Bool: 0 or 1
  double number = 0;      // Float
  std::string name = {};  // Symbol: "s77"; Function: as sympy calls it, "FloorDiv"
  std::vector<std::shared_ptr<const ExpressionTerm>> operands = {};  // Function
};

// The number that a symbol of the file has in a run: a plain one, or an expression of a ShapeEnv.
using SymbolValues = absl::flat_hash_map<std::string, SymValue>;

// An integer, float or truth, which may depend on symbols. A plain integer takes no memory.
class Expression {
 public:
  Expression(int64_t value = 0) : value_(value) {}  // NOLINT: integers are expressions
  explicit Expression(std::shared_ptr<const ExpressionTerm> term);

  // Reads what `sympy.srepr` writes: "Mul(Integer(4), Symbol('s0', integer=True))". Throws
  // ValueError that quotes what it could not read, and NotImplementedError for a function that
  // evaluate() does not know.
  static Expression parse(std::string_view text);

  bool is_constant() const { return !term_; }
  // Of a constant.
  int64_t constant() const { return value_; }
  // The name, if it is a symbol and nothing else.
  std::optional<std::string_view> symbol() const;
  // Calls f(name) for every symbol in it, in order, as often as it occurs.
  void for_each_symbol(absl::FunctionRef<void(const std::string&)> f) const;

  // Whether every symbol in it has a value.
  bool is_known(const SymbolValues& symbols) const;
  // The value; symbolic where those of the symbols are. Throws ValueError for a symbol without a
  // value, and RuntimeError for arithmetic that has no result (overflow, division by zero).
  SymValue evaluate(const SymbolValues& symbols) const;
  // The same as an integer. A float that is a whole number is one.
  SymInt evaluate_int(const SymbolValues& symbols) const;

  // It as a term, a constant too.
  std::shared_ptr<const ExpressionTerm> term() const;
  // As Python would write it: "4*s0 + 1".
  std::string to_string() const;
  bool operator==(const Expression& other) const;

 private:
  int64_t value_ = 0;
  std::shared_ptr<const ExpressionTerm> term_;  // null for a plain integer
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_EXPRESSION_H_
