// A graph of an exported program, ready to run: its operators found, its arguments bound.

#ifndef SWITCHBOARD_IO_EXPORTED_COMPILED_GRAPH_H_
#define SWITCHBOARD_IO_EXPORTED_COMPILED_GRAPH_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/io/exported/node_step.h"
#include "switchboard/io/exported/program.h"

namespace sb::io {

// Not thread-safe. The graph and the dispatcher must outlive it.
class CompiledGraph {
 public:
  // Throws what find_operator() of the dispatcher and the steps throw (node_step.h), with the place
  // of the node before it.
  CompiledGraph(const Graph& graph, const Dispatcher& dispatcher);

  // Runs on one value for each input of the graph, and gives one for each output. A value is
  // dropped after its last use, as by the interpreter of a GraphModule. Errors of operators are
  // thrown with the place of their node before them.
  std::vector<IValue> run(std::vector<IValue> inputs, const RunContext& context) const;
  const Graph& graph() const { return graph_; }

 private:
  struct Step {
    std::unique_ptr<NodeStep> run;
    std::vector<size_t> dropped_after;  // places of which this node is the last user
  };
  // An output: a value of the run, or a constant.
  struct Output {
    std::optional<size_t> place;
    IValue constant;
  };

  size_t place(const std::string& name);
  void find_last_uses();
  void run_step(size_t node, const RunContext& context, std::vector<IValue>* values) const;

  const Graph& graph_;
  Places places_;
  std::vector<std::optional<size_t>> inputs_;  // nothing for a constant
  std::vector<Step> steps_;                    // one for each node
  std::vector<std::vector<size_t>> results_;   // the places of what each node gives, in order
  std::vector<Output> outputs_;
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_COMPILED_GRAPH_H_
