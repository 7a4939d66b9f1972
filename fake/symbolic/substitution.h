// What symbols are: numbers, or expressions of another environment.

#ifndef SWITCHBOARD_FAKE_SYMBOLIC_SUBSTITUTION_H_
#define SWITCHBOARD_FAKE_SYMBOLIC_SUBSTITUTION_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb::symbolic {

// Values for the symbols of expressions of any environments. For one thread at a time; throws
// TypeError for an expression that is of none.
class Substitution {
 public:
  // Symbols without a value here have those that they have there. `outer` may be null.
  explicit Substitution(std::shared_ptr<const Substitution> outer = nullptr)
      : outer_(std::move(outer)) {}

  // The expression has this value. A symbol that has none, alone or in a sum where all else is
  // known, gets one. Returns false where the expression has another value; true where too little is
  // known to tell. Where values are symbolic, that they are the same is a guard.
  bool bind(const SymNode& expression, const SymValue& value);
  // nullopt where a symbol in it has no value. Throws RuntimeError where a part overflows int64 or
  // divides by 0.
  std::optional<SymValue> value_of(const SymNode& expression) const;
  // A range, a guard or a run-time check of the environments that does not hold for these values,
  // of those whose symbols all have values: "s0 <= 7, as aten::view asked". Empty if all hold. Each
  // is looked at once. Where values are symbolic, they are guards and checks of these.
  std::string broken_condition();

 private:
  std::optional<SymValue> value_of(Expr expression) const;
  std::optional<SymValue> value_of_symbol(Expr symbol) const;
  bool bind_in_sum(Expr sum, const SymValue& value);
  void set(const IntrusivePtr<ShapeEnv>& env, Expr symbol, const SymValue& value);

  std::shared_ptr<const Substitution> outer_;
  absl::flat_hash_map<Expr, SymValue> values_;
  std::vector<IntrusivePtr<ShapeEnv>> environments_;
  absl::flat_hash_set<Expr> looked_at_;  // conditions
};

}  // namespace sb::symbolic

#endif  // SWITCHBOARD_FAKE_SYMBOLIC_SUBSTITUTION_H_
