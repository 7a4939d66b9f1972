// Which sizes a program with dynamic shapes takes.

#ifndef SWITCHBOARD_IO_EXPORTED_SYMBOL_RULES_H_
#define SWITCHBOARD_IO_EXPORTED_SYMBOL_RULES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/io/exported/program.h"

namespace sb::io {

// Numbers for the symbols of a program's inputs, by name.
using SymbolNumbers = std::map<std::string, int64_t>;

class SymbolRules {
 public:
  // A dimension of an input, or an input that is a number.
  struct Place {
    size_t input;               // its index among Program::inputs
    std::optional<size_t> dim;  // nothing for a number
    std::string name;           // "x.size(0)", "n"
    Expression size;
  };

  // The program must outlive it.
  explicit SymbolRules(const Program& program);

  // Those that depend on a symbol, in order.
  const std::vector<Place>& places() const { return places_; }
  // The symbols of the inputs, sorted.
  std::vector<std::string> symbols() const;
  // What must hold of the symbols besides their ranges.
  std::vector<Expression> conditions() const;
  // The guards that could not be read, and so are not checked, each with the reason.
  const std::vector<std::string>& unread() const { return unread_; }

  // The sizes that the program was exported with.
  SymbolNumbers hints() const;
  // The sizes of these inputs, as the program takes them. Throws ValueError, naming input and
  // dimension, where a size is not what the expression says, and what check() throws.
  SymbolNumbers numbers_of(absl::Span<const IValue> inputs) const;
  // The hints with these sizes in their place. A name is a symbol ("s77"), a dimension
  // ("x.size(0)", "x.0"), an input that is a number, "batch" (the first
  // dimension of every input), "seq" or "length" (the second). Symbols that must be equal follow.
  // Throws ValueError that lists the names for one that is none, for sizes that contradict one
  // another, and what check() throws.
  SymbolNumbers with(absl::Span<const std::pair<std::string, int64_t>> sizes) const;

  // The symbols that a name stands for, as with() takes it, and those that must be equal to them,
  // sorted. Throws as with().
  std::vector<std::string> symbols_named(const std::string& name) const;

  // Throws ValueError, naming the constraint and the sizes, where the program does not take them.
  void check(const SymbolNumbers& numbers) const;
  bool admits(const SymbolNumbers& numbers) const;
  // Sizes that the program takes, `first` before all, then the least, and others, at most `count`;
  // the same for every call. Sizes stay small.
  std::vector<SymbolNumbers> samples(const SymbolNumbers& first, size_t count) const;

  // "s53 (ids.size(1) = 12, 2..64)", a line each: what --dim may name.
  std::string describe() const;

 private:
  struct Guard {
    std::string text;
    Expression condition;
  };

  std::string broken(const SymbolNumbers& numbers) const;  // empty if nothing is
  std::string range_text(const std::string& symbol) const;
  std::set<std::string> equal_to(const std::string& leader) const;  // it among them

  const Program& program_;
  std::vector<Place> places_;
  std::vector<Guard> guards_;
  std::vector<std::string> unread_;
  std::set<std::pair<std::string, std::string>> equal_;  // symbols that guards say are equal
};

SymbolValues as_values(const SymbolNumbers& numbers);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_SYMBOL_RULES_H_
