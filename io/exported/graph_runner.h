// Runs an exported program, node by node, each operator by its name.

#ifndef SWITCHBOARD_IO_EXPORTED_GRAPH_RUNNER_H_
#define SWITCHBOARD_IO_EXPORTED_GRAPH_RUNNER_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/io/exported/compiled_graph.h"
#include "switchboard/io/exported/node_step.h"
#include "switchboard/io/exported/program.h"

namespace sb::io {

// A program whose operators were found and whose arguments were bound. Not thread-safe; the program
// and the dispatcher must outlive it.
class GraphRunner {
 public:
  // Finds the operator of every node and binds its arguments, so that a program with an unknown
  // operator, or an argument that does not fit, fails before it runs. Throws NotImplementedError
  // that lists all that is missing (missing.h), or TypeError (the node does not fit its schema)
  // that names the file, the node and the operator.
  explicit GraphRunner(const Program& program, const Dispatcher& dispatcher = default_dispatcher());

  // Runs on values that lie on `device`, one for each of the program's inputs in order (None for
  // Constant ones and tokens): tensors, and numbers where the program takes numbers. A value is
  // dropped after its last use; mutations are written back to the inputs that they name. Gives a
  // value for each of the program's outputs. Errors of operators are thrown with the place of their
  // node before them.
  std::vector<IValue> run(std::vector<IValue> inputs, Device device,
                          RunObserver* observer = nullptr) const;

  const Program& program() const { return program_; }

 private:
  size_t mutated_input(const OutputSpec& output) const;

  const Program& program_;
  const Dispatcher& dispatcher_;
  std::unique_ptr<const CompiledGraph> graph_;
  std::vector<std::optional<size_t>> written_back_;  // for each output the input that it mutates
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_GRAPH_RUNNER_H_
