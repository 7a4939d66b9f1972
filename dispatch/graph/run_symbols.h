// The numbers that stand for a graph's symbols while it runs.

#ifndef SWITCHBOARD_DISPATCH_GRAPH_RUN_SYMBOLS_H_
#define SWITCHBOARD_DISPATCH_GRAPH_RUN_SYMBOLS_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/dispatch/graph/graph.h"
#include "switchboard/dispatch/graph/symbol_values.h"

namespace sb::internal {

// For the scope of a run. A graph without symbols costs nothing.
class RunSymbols {
 public:
  RunSymbols();
  ~RunSymbols();
  RunSymbols(const RunSymbols&) = delete;
  RunSymbols& operator=(const RunSymbols&) = delete;

  // Takes the values from the sizes and strides of the inputs, which belong to these nodes. Throws
  // ValueError, naming the input, where the graph was not made for such sizes.
  void bind_inputs(absl::Span<const Node* const> nodes, const std::vector<IValue>& inputs);
  // What only data told: sizes of the node's value, or a number that it gave. Throws RuntimeError
  // where the program does not hold for it.
  void bind_result(const Node& node, const IValue& value);
  // A constant with what its symbols are. Throws NotImplementedError for a symbol that neither an
  // input nor a node tells.
  IValue value_of(const IValue& constant) const;

 private:
  SymbolValues& values();
  SymValue value_of_symbol(const SymNode& symbol) const;

  std::shared_ptr<SymbolValues> values_;
  std::shared_ptr<SymbolValues> outer_;
  bool keeps_symbols_ = false;  // tensors with symbols are among the inputs, or no tensor is
};

// A function that runs the graph, now or later, with the symbols of the run in which it is made.
std::function<std::vector<IValue>(std::vector<IValue>)> graph_function(
    std::shared_ptr<const Graph> graph);

// The symbol that a value is which is a symbolic number.
SymValue symbolic_number(const IValue& value);
// Returns whether a constant in the graph has symbols in it, those of its subgraphs included.
bool has_symbols(const Graph& graph);
// Returns whether a run learns by the node what a symbol is that only data tell.
bool tells_symbol(const Node& node);

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_GRAPH_RUN_SYMBOLS_H_
