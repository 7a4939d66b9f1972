// What the symbols of a program with symbolic sizes are when its graph runs. Core knows no algebra,
// and neither does a graph: the room of symbols implements this.

#ifndef SWITCHBOARD_DISPATCH_GRAPH_SYMBOL_VALUES_H_
#define SWITCHBOARD_DISPATCH_GRAPH_SYMBOL_VALUES_H_

#include <memory>
#include <optional>
#include <string>

#include "switchboard/core/symbols/sym_node.h"

namespace sb {

// The values of symbols in one run: numbers, or expressions where the run has symbols of its own.
// For one thread at a time.
class SymbolValues {
 public:
  virtual ~SymbolValues() = default;
  // The expression has this value, by which a symbol in it gets one. Returns false where it has
  // another; true where too little is known to tell. Guards where values are symbolic.
  virtual bool bind(const SymNode& expression, const SymValue& value) = 0;
  // nullopt where a symbol in it has no value. Throws RuntimeError where a part overflows or
  // divides by 0.
  virtual std::optional<SymValue> value_of(const SymNode& expression) const = 0;
  // Returns whether a symbol in the expression is one that only data tell, whatever it has been
  // found equal to meanwhile.
  virtual bool is_told(const SymNode& expression) const = 0;
  // Returns whether the symbols of the expression are those of the mode that is active, so that it
  // may stay what it is.
  virtual bool is_at_hand(const SymNode& expression) const = 0;
  // What the program rests on, as far as it was found while it was traced and does not hold for
  // these values, with who asked: "s0 <= 7, as aten::view asked". Empty if all holds.
  virtual std::string broken_condition() = 0;
};

namespace internal {

// Makes the values of a run; what it has none for is looked up in those of the run around it,
// unless that is null.
using NewSymbolValues =
    std::shared_ptr<SymbolValues> (*)(std::shared_ptr<const SymbolValues> outer);
// Set while the program starts, where it links what implements symbols (//fake).
inline constinit NewSymbolValues new_symbol_values = nullptr;

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_GRAPH_SYMBOL_VALUES_H_
