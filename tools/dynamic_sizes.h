// What --dynamic says: which sizes of a program are symbols, and in which ranges.

#ifndef SWITCHBOARD_TOOLS_DYNAMIC_SIZES_H_
#define SWITCHBOARD_TOOLS_DYNAMIC_SIZES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/io/exported/program.h"
#include "switchboard/io/exported/symbol_rules.h"

namespace sb::tools {

// "batch=1..4096", "length=..": an end that is left out is the program's. Sizes are at least 1.
struct DynamicSize {
  std::string name;
  int64_t low = 1;
  std::optional<int64_t> high;

  // Several, with commas between. Throws ValueError for what is not of this form, a range without a
  // number in it, and a name given twice.
  static std::vector<DynamicSize> parse_list(const std::string& text);
};

// The symbols of a run, and the names that the user has for them.
class DynamicSizes {
 public:
  // A size that was asked for: a symbol of the environment, called by its name there, too.
  struct Named {
    std::string name;
    int64_t at_hand;                  // what the run goes by where it must choose
    std::string symbol;               // what the environment's texts call it: "s0"
    std::vector<std::string> places;  // "x.size(0)", the dimensions that it is
  };

  // A name is what SymbolRules::with() takes, and in a program that leaves it closed a dimension of
  // an input ("x.size(0)", "x.0"), "batch" (the first of each), "seq" or "length" (the second). The
  // other symbols of the program have the numbers `sizes`. Throws ValueError for a name that is
  // none of these, or that another has named, and for ranges in which the program takes no size.
  DynamicSizes(const io::Program& program, const io::SymbolRules& rules,
               const std::vector<DynamicSize>& asked, const io::SymbolNumbers& sizes);

  // What the program says of its symbols is known in it. A symbol that a run settles is a
  // SettledSymbolError; sizes that data decides are refused.
  const IntrusivePtr<ShapeEnv>& env() const { return env_; }
  const std::vector<Named>& named() const { return named_; }
  // For every symbol of the program, and the names that are none of its.
  const io::SymbolValues& values() const { return values_; }
  // The inputs of which a closed dimension is a symbol here, by their index.
  const std::map<size_t, io::ValueMeta>& opened() const { return opened_; }

  // An expression, or a text of the environment, in the user's names.
  std::string text(const SymInt& expression) const { return text(expression.to_string()); }
  std::string text(const std::string& environments) const;
  // What the numbers give, one for each of named(). Throws RuntimeError where int64 does not hold
  // a part, ValueError where something else than these decides it.
  int64_t evaluate(const SymInt& expression, const std::vector<int64_t>& numbers) const;
  // Whether the run would be the same with these numbers.
  GuardsResult admits(const std::vector<int64_t>& numbers) const;
  // What is known of a symbol after the run.
  symbolic::ValueRange range(size_t named) const;
  // "batch in 2..64 (x.size(0))" and the guards with who asked, a line each.
  std::vector<std::string> holds_for() const;

 private:
  using Numbers = std::vector<std::pair<std::string, int64_t>>;

  struct Target {
    std::vector<std::string> symbols;
    std::vector<std::pair<size_t, size_t>> dims;  // of closed inputs
  };
  Target find_target(const std::string& name) const;
  Numbers with_names(const std::vector<int64_t>& numbers) const;
  void choose_sizes_at_hand(const std::vector<Target>& targets, std::vector<DynamicSize>* asked,
                            const io::SymbolNumbers& sizes);
  void open(const Target& target, const std::string& name);
  void assume_rules();

  const io::Program& program_;
  const io::SymbolRules& rules_;
  IntrusivePtr<ShapeEnv> env_;
  std::vector<Named> named_;
  io::SymbolValues values_;
  std::map<size_t, io::ValueMeta> opened_;
  size_t assumed_ = 0;  // how many guards are the program's own
};

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_DYNAMIC_SIZES_H_
