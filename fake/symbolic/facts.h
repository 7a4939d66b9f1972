// Facts about symbols: their ranges, replacements by others, and conditions that hold.

#ifndef SWITCHBOARD_FAKE_SYMBOLIC_FACTS_H_
#define SWITCHBOARD_FAKE_SYMBOLIC_FACTS_H_

#include <array>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "switchboard/fake/symbolic/expr.h"
#include "switchboard/fake/symbolic/value_range.h"

namespace sb::symbolic {

// Oblivious: sizes that come from data count as at least 2.
enum class Sizes : uint8_t { Exact, Oblivious };

// Grows only. Not thread-safe: ShapeEnv locks.
class Facts {
 public:
  explicit Facts(ExprPool& pool) : pool_(pool) {}

  // The condition holds from now on. An equality replaces a symbol by what it equals: one without a
  // hint before one with, the newest first.
  void learn(Expr condition);
  // The integer expression lies in the range from now on. False, and nothing learnt, if it cannot.
  bool learn_range(Expr e, ValueRange range);
  // The symbol is the size of something.
  void set_size_like(Expr symbol);
  bool is_size_like(Expr symbol) const { return size_like_.contains(symbol); }

  // The expression with what is known put in; a constant where that decides it.
  Expr simplify(Expr e, Sizes sizes = Sizes::Exact);
  ValueRange range(Expr e, Sizes sizes = Sizes::Exact);
  // Returns the replacement of a symbol; null if it has none.
  Expr replacement(Expr symbol) const;

 private:
  Expr substitute(Expr e, Expr symbol, Expr by);
  void replace(Expr symbol, Expr by);
  Expr without_common_factors(Expr sum);
  void solve(Expr sum);
  Expr simplify_node(Expr e, Sizes sizes);
  std::optional<bool> decide(Expr condition, Sizes sizes);
  Expr drop_dominated(Expr e, Sizes sizes);
  ValueRange compute_range(Expr e, Sizes sizes);
  ValueRange known_range(Expr form) const;
  void forget_memos();

  template <class T>
  using PerSizes = std::array<absl::flat_hash_map<Expr, T>, 2>;

  ExprPool& pool_;
  absl::flat_hash_map<Expr, Expr> replacements_;  // of symbols, by what has no replacement itself
  absl::flat_hash_map<Expr, ValueRange> ranges_;  // of forms: see ExprPool::split
  absl::flat_hash_set<Expr> truths_;
  absl::flat_hash_set<Expr> size_like_;
  PerSizes<Expr> simplified_;  // forgotten when anything is learnt
  PerSizes<ValueRange> computed_;
};

}  // namespace sb::symbolic

#endif  // SWITCHBOARD_FAKE_SYMBOLIC_FACTS_H_
