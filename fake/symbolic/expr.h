// Expressions over symbols, kept simplified, and the pool that makes them.
//
// Two expressions of one pool that simplify to the same thing are the same pointer. Integers are
// sums: a constant and terms, each a coefficient times a product of atoms; what does not distribute
// (a floor division, a remainder, a minimum) is an atom. A comparison of integers is a sum compared
// with 0, its common factor taken out. Floats are simplified by folding constants only.

#ifndef SWITCHBOARD_FAKE_SYMBOLIC_EXPR_H_
#define SWITCHBOARD_FAKE_SYMBOLIC_EXPR_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "switchboard/core/symbols/sym_node.h"

namespace sb::symbolic {

struct ExprNode;
using Expr = const ExprNode*;

enum class ExprForm : uint8_t { Const, Symbol, Apply };

// Immutable once its pool has given it out. Lives as long as the pool.
struct ExprNode {
  ExprForm form = ExprForm::Const;
  SymKind kind = SymKind::Int;
  SymOp op = SymOp::Add;      // of Apply. Integers are compared by Eq, Ne, Le of one operand with 0
  bool has_unbacked = false;  // whether a symbol without a hint is in it
  uint32_t index = 0;         // by age: what operands are sorted by
  int64_t value = 0;       // Const: the number or the truth; Symbol: its number; Add: the constant
  double float_value = 0;  // Const of kind Float
  std::vector<Expr> args;
  std::vector<int64_t> coefficients;  // Add of integers: one for each operand
  const std::string* name = nullptr;  // Symbol

  bool is_const() const { return form == ExprForm::Const; }
  bool is_symbol() const { return form == ExprForm::Symbol; }
  bool is(SymOp o) const { return form == ExprForm::Apply && op == o; }
  // A sum of integers.
  bool is_sum() const { return is(SymOp::Add) && kind == SymKind::Int; }
};

// Makes expressions and keeps them all until it goes, so that taking one apart, however deep it is,
// costs nothing. Not thread-safe: ShapeEnv locks.
//
// Hostile input: sums longer than kMaxTerms and products that would expand to more than
// kMaxExpansion terms or kMaxDegree factors stay as they are, as atoms. Coefficients that overflow
// int64 and division by a constant 0 throw RuntimeError.
class ExprPool {
 public:
  static constexpr size_t kMaxTerms = 256;
  static constexpr size_t kMaxExpansion = 64;
  static constexpr size_t kMaxDegree = 32;

  ExprPool() = default;
  ExprPool(const ExprPool&) = delete;
  ExprPool& operator=(const ExprPool&) = delete;

  Expr constant(int64_t value);
  Expr constant_float(double value);
  Expr constant_bool(bool value);
  // A new symbol. Its `value` counts the symbols of the pool.
  Expr symbol(SymKind kind, std::string name, bool unbacked);

  // op(args...), simplified. Throws TypeError where a kind of an operand is not the operation's.
  Expr apply(SymOp op, absl::Span<const Expr> args);
  Expr add(Expr a, Expr b) { return apply(SymOp::Add, {a, b}); }
  Expr sub(Expr a, Expr b) { return apply(SymOp::Sub, {a, b}); }
  Expr mul(Expr a, Expr b) { return apply(SymOp::Mul, {a, b}); }
  Expr negate(Expr condition);
  // a op 0, for op in Eq, Ne, Le.
  Expr compare_with_zero(SymOp op, Expr a);
  // The same operation on other operands, one for each of e's: e itself if they are the same.
  Expr rebuild(Expr e, absl::Span<const Expr> args);

  // An integer expression as factor * form + constant, where the form's coefficients have no common
  // factor and the first is positive: what 2*s0 + 4 and -s0 have in common is s0.
  struct Scaled {
    Expr form = nullptr;
    int64_t factor = 1;
    int64_t constant = 0;
  };
  Scaled split(Expr e);

  size_t size() const { return nodes_.size(); }

 private:
  struct Linear;  // a constant and terms
  struct Hash {
    size_t operator()(Expr e) const;
  };
  struct Equal {
    bool operator()(Expr a, Expr b) const;
  };

  Expr intern(ExprNode node);
  Expr intern_apply(SymKind kind, SymOp op, std::vector<Expr> args);
  static Linear linear(Expr e);
  Expr from_linear(Linear terms);
  void accumulate(Linear& sum, const Linear& other, int64_t factor);
  Expr add_all(absl::Span<const Expr> args);
  Expr multiply(Expr a, Expr b);
  Expr multiply_monomials(Expr a, Expr b);
  Expr floor_div(Expr a, Expr b);
  Expr mod(Expr a, Expr b);
  // a / b where that is a polynomial; null where it is not, or is not easily seen to be.
  Expr exact_quotient(const Linear& a, const Linear& b);
  // The monomial without the factors of the other; null where it does not have them all.
  Expr divide_monomials(Expr a, Expr b);
  void take_multiples(Linear& rest, Linear& quotient, const Linear& b);
  Expr min_max(SymOp op, absl::Span<const Expr> args);
  Expr compare(SymOp op, Expr a, Expr b);
  void remainders_from_quotients(Linear& sum);
  Expr connective(SymOp op, absl::Span<const Expr> args);
  Expr float_apply(SymOp op, absl::Span<const Expr> args);

  std::deque<ExprNode> nodes_;
  std::deque<std::string> names_;
  absl::flat_hash_set<Expr, Hash, Equal> interned_;
};

// Calls visit(node) for `root` and everything in it, each once, operands first, without recursion.
// `skip(node)` says that a node needs no visit.
template <class Skip, class Visit>
void visit_post_order(Expr root, Skip skip, Visit visit) {
  std::vector<std::pair<Expr, size_t>> stack;
  if (!skip(root)) stack.push_back({root, 0});
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < node->args.size()) {
      const Expr child = node->args[next++];
      if (!skip(child)) stack.push_back({child, 0});
      continue;
    }
    const Expr done = node;
    stack.pop_back();
    if (!skip(done)) visit(done);
  }
}

// Every symbol in the expression, oldest first.
std::vector<Expr> symbols_of(Expr e);

// A number of any kind: an integer or a truth in `i`, a float in `d`.
struct Number {
  int64_t i = 0;
  double d = 0;
};
// The values of symbols; nullopt where one has none.
using SymbolValues = absl::flat_hash_map<Expr, Number>;

// The expression's value. nullopt where a symbol has none. Throws RuntimeError where a part
// overflows int64 or divides by 0.
std::optional<Number> evaluate(Expr e, const SymbolValues& values);

// op on plain numbers of `kind`, as evaluate() does.
Number evaluate_op(SymOp op, SymKind kind, absl::Span<const Number> args);

// "2*s0 + s1//4", "s0 == s1", "Max(1, s0)". Ends in "..." after about 4,000 characters.
std::string to_string(Expr e);

}  // namespace sb::symbolic

#endif  // SWITCHBOARD_FAKE_SYMBOLIC_EXPR_H_
