// What a node of an exported graph does when it runs.

#ifndef SWITCHBOARD_IO_EXPORTED_NODE_STEP_H_
#define SWITCHBOARD_IO_EXPORTED_NODE_STEP_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "switchboard/core/device.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/io/exported/program.h"

namespace sb::io {

// Where the values of a run lie, by the names that the graph gives them.
using Places = absl::flat_hash_map<std::string, size_t>;

// Sees a run as it happens, in the graphs of higher-order operators too.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Before a node runs.
  virtual void on_node(const Graph& graph, size_t node) { (void)graph, (void)node; }
  // For every tensor and number that a node gives, while it is alive.
  virtual void on_value(const Graph& graph, size_t node, const std::string& name,
                        const IValue& value) {
    (void)graph, (void)node, (void)name, (void)value;
  }
};

// What is the same for all nodes of a run.
struct RunContext {
  Device device;  // where it runs
  RunObserver* observer = nullptr;
  // The dtype of the autocast region that is around, if one is.
  std::optional<DType> autocast = std::nullopt;
};

// A node that was found and whose arguments were bound, all but the values of the run.
class NodeStep {
 public:
  virtual ~NodeStep() = default;
  // What the node gives, one value for each of its outputs. `values` are those of the run.
  virtual Stack run(absl::Span<const IValue> values, const RunContext& context) const = 0;
};

// Each binds a node of its kind. The node and the operator must outlive the step. They throw
// TypeError for arguments or outputs that do not fit.

// An operator. Arguments go by name, defaults are filled in. A number given for a Tensor becomes a
// wrapped number. The program was exported from the CPU and runs on the context's device: devices
// that it names become that one, and so does the default of an operator that makes a tensor from
// none.
std::unique_ptr<NodeStep> make_operator_step(const Node& node, OperatorHandle op,
                                             const Places& places);
// A number as a value.
IValue ivalue_of(const SymValue& value);
// A function of numbers: see sym_function.h.
std::unique_ptr<NodeStep> make_sym_function_step(const Node& node, const Places& places);
// A higher-order operator: cond, while_loop, map_impl, scan, a call with an effect, print,
// out_dtype, an operator that writes, or a region. Throws NotImplementedError, naming it, for any
// other.
std::unique_ptr<NodeStep> make_higher_order_step(const Node& node, const Dispatcher& dispatcher,
                                                 const Places& places);
// Whether make_higher_order_step knows "higher_order::cond".
bool is_known_higher_order(const std::string& op);
// "aten::add.Tensor" of "torch.ops.aten.add.Tensor"; nothing for what names no operator.
std::optional<std::string> operator_name(std::string_view target);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_NODE_STEP_H_
