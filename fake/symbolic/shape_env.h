// The environment of symbolic sizes: what symbols there are, what has been asked about them, and
// what is known.
//
//   auto env = ShapeEnv::create();
//   SymInt n = env->create_symint(5, "x.size(0)");  // prints as s0; 5 is its hint
//   if (n * 2 == 10) ...                            // true, and the guard s0 == 5 is recorded
//   env->evaluate_guards({{"x.size(0)", 7}});       // does not hold: s0 == 5

#ifndef SWITCHBOARD_FAKE_SYMBOLIC_SHAPE_ENV_H_
#define SWITCHBOARD_FAKE_SYMBOLIC_SHAPE_ENV_H_

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "switchboard/core/symbols/sym_bool.h"
#include "switchboard/core/symbols/sym_float.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/fake/symbolic/expr.h"
#include "switchboard/fake/symbolic/facts.h"
#include "switchboard/fake/symbolic/size_spec.h"
#include "switchboard/fake/symbolic/value_range.h"

namespace sb {

namespace symbolic {
class Substitution;
}  // namespace symbolic

// The answer to a question depends on data that is not there. As `GuardOnDataDependentSymNode`.
class GuardOnDataDependentError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
  std::string_view kind() const noexcept override { return "GuardOnDataDependentError"; }
};

// A symbol would become a number, where that was refused: it says which symbol, who asked, and, of
// a size that was marked, where that was.
class SettledSymbolError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
  std::string_view kind() const noexcept override { return "SettledSymbolError"; }
};

// What a run asks of a dimension is not what was promised: ShapeEnv::check_constraints.
class ConstraintViolationError : public ValueError {
 public:
  using ValueError::ValueError;
  std::string_view kind() const noexcept override { return "ConstraintViolationError"; }
};

// What is done where a size at hand is settled: read as a number, or found equal to one.
enum class OnSettle : uint8_t {
  Allow,   // a guard says so
  Record,  // so does ShapeEnv::settled()
  Throw,   // SettledSymbolError, and nothing is recorded
};

// What is done where an answer depends on data.
enum class OnDataDependent : uint8_t {
  Throw,        // GuardOnDataDependentError
  TakeExample,  // what bind_unbacked() said answers, and ShapeEnv::assumed() tells what was asked
};

// As ShapeEnv's settings. Equal ones give equal results, so that a cache key can hold them.
struct ShapeEnvSettings {
  bool allow_scalar_outputs = true;            // item() gives a symbol
  bool allow_dynamic_output_shape_ops = true;  // so does nonzero() as a size
  bool assume_static_by_default = false;       // a dimension is Static unless it says otherwise
  bool specialize_zero_one = true;             // hints of 0 and 1 become plain; others are above 1
  bool duck_shape = true;                      // otherwise Duck is Dynamic
  OnSettle on_settle = OnSettle::Allow;
  // 0 and 1 are not special: hints of them become symbols like others, whose range begins at 0, and
  // guard_size_oblivious() takes those of inputs, too, to be at least 2, which records nothing. As
  // `backed_size_oblivious`.
  bool size_oblivious = false;
  OnDataDependent on_data_dependent = OnDataDependent::Throw;

  bool operator==(const ShapeEnvSettings&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const ShapeEnvSettings& s) {
    return H::combine(std::move(h), s.allow_scalar_outputs, s.allow_dynamic_output_shape_ops,
                      s.assume_static_by_default, s.specialize_zero_one, s.duck_shape, s.on_settle,
                      s.size_oblivious, s.on_data_dependent);
  }
};

// The origin of a question or a symbol: the operator that was running (SymReason), and a line.
struct SymOrigin {
  std::string reason;  // empty if no SymReason was in scope
  SourceLocation where;
};
// "aten::view (ops/views/views.cc:31)".
std::string to_string(const SymOrigin& origin);
// That of a question which is asked now. Where no line was given, as in `if (a == b)`, it is that
// of the running operator.
SymOrigin origin_of(SourceLocation where);

// A question whose answer the program relied on.
struct Guard {
  std::string text;  // what holds: "s0 == 2*s1"
  SymOrigin origin;
  std::vector<std::pair<std::string, int64_t>> hints;  // of the symbols in it
};
// A symbol that became a number, or that an expression which was read as one has in it.
struct SettledSymbol {
  std::string symbol;
  std::vector<std::string> sources;  // the dimensions that are it
  std::string text;                  // "s0 == 5"
  bool was_read = false;             // as a number, and not only found equal to one
  SymOrigin origin;
};
// A condition that must hold and can be checked only when the data is there.
struct RuntimeAssert {
  std::string text;
  std::string message;  // of the check; may be empty
  SymOrigin origin;
  std::vector<std::string> symbols;
};
// Facts about a symbol: as its creation recorded them, and its range now.
struct SymbolInfo {
  std::string name;
  SymKind kind = SymKind::Int;
  bool unbacked = false;
  bool size_like = false;
  std::optional<int64_t> hint;
  std::optional<int64_t> hint_override;
  std::vector<std::string> sources;  // the dimensions that are it
  SymOrigin origin;
  symbolic::ValueRange range;
  std::string replacement;  // what it has been found equal to; empty if nothing
};
// A guard, or a plain number, that leaves a dimension less than its constraint promises.
struct ConstraintViolation {
  std::string source;  // "x.size(0)"
  std::string text;    // what holds of it: "s0 <= 63"
  std::string mend;    // what to state instead: ".max = 63"
  SymOrigin origin;    // who asked
};
struct GuardsResult {
  bool holds = true;
  std::string failed;  // the first that does not hold
  SymOrigin origin;    // who asked it
  explicit operator bool() const { return holds; }
};

// Thread-safe: one mutex. Symbols keep their environment alive; it keeps every expression that was
// made in it.
class ShapeEnv : public IntrusiveTarget {
 public:
  explicit ShapeEnv(ShapeEnvSettings settings = {}) : settings_(settings), facts_(pool_) {}
  static IntrusivePtr<ShapeEnv> create(ShapeEnvSettings settings = {}) {
    return make_intrusive<ShapeEnv>(settings);
  }
  using Options = ShapeEnvSettings;
  const ShapeEnvSettings& settings() const { return settings_; }

  // Every value that the expression may have, as far as is known; there may be fewer. A plain
  // number is its own range. Throws ValueError for a symbol of another environment.
  symbolic::ValueRange range_of(const SymInt& size);

  // Of the size of an input, whatever on_settle is: to settle it is a SettledSymbolError from now
  // on. Throws ValueError where it is a number already, or only data will tell it. As
  // `torch._dynamo.mark_dynamic`.
  void mark_dynamic(const SymInt& size, SourceLocation where = SourceLocation::current());

  // The size of a dimension of an input: `hint` is the size at hand, `source` the dimension's name,
  // "x.size(0)". A plain integer for a Static one, and for 0 and 1 where the settings specialise
  // them. A source that is asked for again gives the same. `min` and `max`, inclusive, become
  // guards. Throws ValueError for a negative hint, one outside the range, or another hint for a
  // source.
  SymInt create_symint(int64_t hint, std::string source, const SymbolicDim& dim,
                       SourceLocation where = SourceLocation::current());
  SymInt create_symint(int64_t hint, std::string source, std::optional<DimDynamic> dim = {},
                       std::optional<int64_t> min = {}, std::optional<int64_t> max = {},
                       SourceLocation where = SourceLocation::current()) {
    return create_symint(hint, std::move(source), SymbolicDim{dim, min, max}, where);
  }
  // The dimension of that source, which is yet to come, is a symbol of its own for which the
  // condition is a guard, and the specialisation's hint is at hand whatever is there.
  void specialize(SizeSpecialization specialization);
  // The size of a dimension that is stated to be a number or an expression of this environment:
  // guards hold for those sizes only. `hint` is the size at hand. Throws ValueError where that is
  // another, and for a source that has a size.
  SymInt state_size(const SymInt& size, int64_t hint, std::string source,
                    SourceLocation where = SourceLocation::current());
  // A number that is an input, of any sign, with the value at hand; a source that is asked for
  // again gives the same. As `create_unspecified_symbol`.
  SymInt create_number(int64_t hint, std::string source,
                       SourceLocation where = SourceLocation::current());
  // Numbers that only the data will tell: u0, u1, ...; f0; b0. As `create_unbacked_symint`.
  SymInt create_unbacked_symint(SourceLocation where = SourceLocation::current());
  SymFloat create_unbacked_symfloat(SourceLocation where = SourceLocation::current());
  SymBool create_unbacked_symbool(SourceLocation where = SourceLocation::current());

  // Everything recorded, in order.
  std::vector<Guard> guards() const;
  std::vector<RuntimeAssert> runtime_asserts() const;
  // With OnSettle::Record, what was settled, in order.
  std::vector<SettledSymbol> settled() const;
  // Those that wait for this symbol.
  std::vector<RuntimeAssert> runtime_asserts(std::string_view symbol) const;
  std::vector<SymbolInfo> symbols() const;
  std::optional<SymbolInfo> symbol(std::string_view name) const;

  // Lists what the program rests on, a line each: sources that are plain or equal, ranges, guards
  // with who asked.
  std::vector<std::string> produce_guards() const;
  // Returns whether these sizes satisfy all of that. Keys are sources ("x.size(0)") or symbols
  // ("s0", and "u0", whose run-time checks then count too). Sources that are plain or share a
  // symbol may be left out. Throws ValueError for a key that names nothing, and for a symbol
  // without a value.
  GuardsResult evaluate_guards(absl::Span<const std::pair<std::string, int64_t>> sizes) const;
  GuardsResult evaluate_guards(std::initializer_list<std::pair<std::string, int64_t>> sizes) const {
    return evaluate_guards(absl::MakeConstSpan(sizes.begin(), sizes.size()));
  }

  // The value of an expression of this environment at these sizes, keyed as above; nullopt where a
  // symbol in it has none. Throws RuntimeError where a part overflows or divides by 0. Records
  // nothing.
  std::optional<int64_t> evaluate(const SymInt& number,
                                  absl::Span<const std::pair<std::string, int64_t>> sizes) const;

  // Where dimensions have less than their constraints promise, in the order of the dimensions.
  std::vector<ConstraintViolation> constraint_violations();
  // Throws ConstraintViolationError with all of them, if there are any. As
  // `ShapeEnv.produce_guards` of PyTorch does.
  void check_constraints();

  // With OnDataDependent::TakeExample, the conditions that the program relied on and did not state,
  // in order. They are run-time checks from then on.
  std::vector<RuntimeAssert> assumed() const;
  // With it: answers the last question that was refused on this thread's behalf within an operator
  // (guard_size_oblivious), so that the operator may be run again. False if there is none.
  bool assume_refused();
  // The value for the sizes at hand and the data that bind_unbacked() told; nullopt where a symbol
  // has neither. Records nothing.
  std::optional<SymValue> at_hand(const SymValue& number);

  // The data is there: the symbol's value. Throws RuntimeError where that breaks its range or a
  // run-time check whose symbols all have values now, ValueError for a name that is no unbacked
  // integer or truth.
  void bind_unbacked(std::string_view symbol, int64_t value);
  // The same of a float.
  void bind_unbacked_float(std::string_view symbol, double value);

  // Grows whenever something is recorded or learnt, or a symbol made: an answer holds as long as it
  // stays the same.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

  // For a scope, on this thread, questions of this environment are answered and not recorded. As
  // `suppress_guards`.
  class SuppressGuards {
   public:
    explicit SuppressGuards(const ShapeEnv& env)
        : env_(&env), outer_(std::exchange(innermost_, this)) {}
    ~SuppressGuards() { innermost_ = outer_; }
    SuppressGuards(const SuppressGuards&) = delete;
    SuppressGuards& operator=(const SuppressGuards&) = delete;

   private:
    friend class ShapeEnv;
    static constinit inline thread_local const SuppressGuards* innermost_ = nullptr;
    const ShapeEnv* env_;
    const SuppressGuards* outer_;
  };
  // Whether one of these holds here.
  bool suppressed() const;

 private:
  friend class ExprSymNode;
  friend class symbolic::Substitution;
  friend void constrain_range(const SymInt&, std::optional<int64_t>, std::optional<int64_t>,
                              SourceLocation);
  friend void constrain_range_for_size(const SymInt&, std::optional<int64_t>,
                                       std::optional<int64_t>, SourceLocation);
  using Expr = symbolic::Expr;
  struct Symbol {
    SymbolInfo info;
    Expr expr;
    symbolic::ValueRange asked;  // what its creation and constrain_range() say
  };
  struct Source {
    std::string name;
    int64_t hint;
    Expr expr;  // a symbol, a constant, or what state_size() said
    SymOrigin origin;
    DimConstraint constraint = DimConstraint::None;
  };
  struct Recorded {
    Expr condition;
    std::string message;
    SymOrigin origin;
    std::vector<Expr> symbols;
  };

  // All of these are called with the mutex held.
  SymValue value_of(Expr e);
  Expr create_symbol(SymKind kind, char letter, bool unbacked, SymOrigin origin);
  Expr create_unbacked(SymKind kind, char letter, SourceLocation where);
  Symbol& symbol_of(Expr e) { return symbols_[e->value]; }
  const Symbol& symbol_of(Expr e) const { return symbols_[e->value]; }
  const Symbol* find_symbol(std::string_view name) const;
  // A number was read where `reads`.
  void record_guard(Expr condition, SymOrigin origin, bool reads = false);
  void note_settled(Expr condition, const SymOrigin& origin, bool reads);
  // The truth of a condition; guards. `tentative`: whoever asks may have an answer of its own where
  // there is none.
  bool evaluate_condition(Expr condition, SourceLocation where, bool tentative = false);
  symbolic::Number evaluate_number(Expr e, SourceLocation where);
  bool expect(Expr condition, SourceLocation where, std::string_view message);
  int64_t stand_in(Expr number);
  SymInt create_input(int64_t hint, std::string source, const SymbolicDim& dim,
                      SourceLocation where);
  SymInt known_source(const Source& source, int64_t hint);
  Expr create_size(int64_t hint, DimDynamic kind, SourceLocation where);
  symbolic::SymbolValues values_at_hand() const;
  // The answer of the data at hand; throws GuardOnDataDependentError where there is none.
  symbolic::Number take_example(Expr e, SymOrigin origin);
  void bind(const Symbol& symbol, symbolic::Number value, const std::string& text);
  void note_violations(const Source& source, std::vector<ConstraintViolation>* all);
  std::string mend_of(Expr condition, Expr symbol);
  [[noreturn]] void throw_data_dependent(Expr e, const SymOrigin& origin) const;
  void constrain(Expr e, symbolic::ValueRange range, bool size, SourceLocation where);
  Guard describe_guard(const Recorded& guard) const;
  RuntimeAssert describe_assert(const Recorded& assert) const;
  SymbolInfo describe_symbol(const Symbol& symbol) const;
  void changed() { version_.fetch_add(1, std::memory_order_release); }

  const ShapeEnvSettings settings_;
  mutable std::mutex mutex_;
  symbolic::ExprPool pool_;
  symbolic::Facts facts_;
  std::vector<Symbol> symbols_;  // by their number
  std::vector<Source> sources_;
  absl::flat_hash_map<std::string, size_t> source_index_;
  absl::flat_hash_map<int64_t, Expr> duck_;
  absl::flat_hash_map<std::string, Expr> shape_ids_;
  absl::flat_hash_map<std::string, SizeSpecialization> specializations_;  // by source
  std::vector<Recorded> guards_;
  std::vector<Recorded> asserts_;
  std::vector<SettledSymbol> settled_;
  absl::flat_hash_map<Expr, SymOrigin> marked_;  // by mark_dynamic
  symbolic::SymbolValues hints_;
  symbolic::SymbolValues bound_;
  symbolic::SymbolValues hint_overrides_;
  std::vector<Recorded> assumed_;
  Expr refused_ = nullptr;                 // the question of assume_refused()
  absl::flat_hash_map<char, int> counts_;  // of symbols, by first letter
  std::atomic<uint64_t> version_{0};
};

// The environment of a symbolic number. Throws TypeError for a node that no ShapeEnv made.
ShapeEnv& shape_env_of(const SymNode& node);

// The integer lies in [min, max], inclusive; a bound that is left out is none. What comes from data
// is checked when it is there; of a size at hand this is a guard. Throws ValueError where it cannot
// hold. As `torch._constrain_as_value`.
void constrain_range(const SymInt& a, std::optional<int64_t> min, std::optional<int64_t> max = {},
                     SourceLocation where = SourceLocation::current());
// The same for what is the size of something: guard_size_oblivious() takes it to be at least 2.
// `min` is 0 if left out. As `torch._constrain_as_size`.
void constrain_range_for_size(const SymInt& a, std::optional<int64_t> min = {},
                              std::optional<int64_t> max = {},
                              SourceLocation where = SourceLocation::current());

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_SYMBOLIC_SHAPE_ENV_H_
