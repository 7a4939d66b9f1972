// Runs an exported program, node by node, each operator by its name.

#ifndef SWITCHBOARD_TOOLS_GRAPH_RUNNER_H_
#define SWITCHBOARD_TOOLS_GRAPH_RUNNER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tools/io/program.h"
#include "switchboard/tools/node_call.h"

namespace sb::tools {

// Sees a run as it happens.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Before a node runs.
  virtual void on_node(size_t node) { (void)node; }
  // For every tensor that a node gives, while it is alive.
  virtual void on_value(size_t node, const std::string& name, const Tensor& tensor) {
    (void)node, (void)name, (void)tensor;
  }
};

// A program whose operators were found and whose arguments were bound. Not thread-safe; the program
// and the dispatcher must outlive it.
class GraphRunner {
 public:
  // Finds the operator of every node and binds its arguments, so that a program with an unknown
  // operator, or an argument that does not fit, fails before it runs.
  // Throws RuntimeError (no such operator) or TypeError (the node does not fit its schema)
  // that names the file, the node and the operator.
  explicit GraphRunner(const io::Program& program,
                       const Dispatcher& dispatcher = default_dispatcher());

  // Runs on tensors that lie on `device`, one for each of the program's inputs in order (undefined
  // for Constant ones). A value is dropped after its last use, as by the interpreter of a
  // GraphModule; mutations are written back to the inputs that they name. Gives a tensor for each
  // of the program's outputs, undefined where it is a constant. Errors of operators are thrown with
  // the place of their node before them.
  std::vector<Tensor> run(absl::Span<const Tensor> inputs, Device device,
                          RunObserver* observer = nullptr) const;

 private:
  struct Step {
    NodeCall call;
    std::vector<size_t> results;        // the places of the tensors that it gives, in order
    std::vector<size_t> dropped_after;  // places of which this node is the last user
  };
  struct Result {
    std::optional<size_t> place;         // nothing for a constant
    std::optional<size_t> written_back;  // the input that it mutates
  };

  std::vector<OperatorHandle> find_operators() const;
  size_t place(const std::string& name);
  void bind_nodes(absl::Span<const OperatorHandle> operators);
  void find_last_uses();
  void find_results();
  size_t mutated_input(const io::OutputSpec& output) const;
  void run_step(size_t node, Device device, absl::Span<Tensor> values, RunObserver* observer) const;
  void write_back(absl::Span<const Tensor> inputs, absl::Span<const Tensor> outputs) const;

  const io::Program& program_;
  const Dispatcher& dispatcher_;
  Places places_;
  std::vector<size_t> inputs_;   // the place of each input
  std::vector<Step> steps_;      // one for each node
  std::vector<Result> results_;  // one for each output
};

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_GRAPH_RUNNER_H_
