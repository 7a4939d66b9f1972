// From a program that runs to a graph.

#ifndef SWITCHBOARD_DISPATCH_GRAPH_TRACING_MODE_H_
#define SWITCHBOARD_DISPATCH_GRAPH_TRACING_MODE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "switchboard/dispatch/graph/graph.h"
#include "switchboard/dispatch/graph/trace_assumptions.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/modes/trace_hooks.h"

namespace sb {

struct TraceOptions {
  // Names of the inputs; "arg0", "arg1", ... where none is given.
  std::vector<std::string> input_names = {};
  // Refuses operators that make numbers of a traced tensor's data, as item does
  // (Tag::data_dependent_output), and those with an ordered effect that give numbers. Otherwise
  // such a number is burnt in: the graph has what it was while it was traced. A symbol, as a fake
  // mode with a ShapeEnv gives it, stays one.
  bool refuse_data_dependent = true;
  // Not empty: the name, for errors, of a function that must write to nothing but what it makes.
  // A call that would is refused with RuntimeError before it runs.
  std::string pure_function = "";
  // Not empty: the name, for errors, of a function that is run again when it has been traced. Its
  // calls with an ordered effect are recorded and passed over, or refused, as WithoutEffects says.
  std::string without_effects_in = "";
  // Detaches in the graph what the program computes while gradients are off, so that gradients of
  // the graph stop where those of the program do. A write there to what has a history is refused
  // with NotImplementedError.
  bool keep_no_grad = false;
  // Not null: sees, before it is written to, a tensor of each memory that the program has not made:
  // an input, or what it has from outside.
  std::function<void(const Tensor&)> before_write_outside = nullptr;
};

// Records each call that reaches it, and runs it below: on real tensors, or on fake ones. As
// `ProxyTorchDispatchMode`. It sees what arrives below autograd, so that composite operators are
// recorded as what they are made of.
//
// A tensor is known by its identity. The result of an in-place operator is its input, which from
// then on stands for the new node; a tensor that the trace does not know becomes a constant of the
// graph, but numbers that were made tensors (x + 1) stay numbers. Numbers, shapes and branches that
// the program took from its inputs are burnt in, but for symbols: a graph that was traced on fake
// tensors with symbolic sizes runs with the sizes of its inputs, and refuses those for which the
// program would have gone another way. A call that throws is not recorded. Objects of
// classes are known as tensors are: one that is an input, or that a call made, stands for its node,
// others are constants; so is an input of a class that register_custom_class() says is constant.
//
// Calls with an ordered effect (dispatch/modes/effects.h) are recorded in their order, so that each
// run of the graph has the effects of the program. While it is traced it has them, too.
//
// For one thread at a time. Use trace(), or, to see more of it, activate it by hand:
//
//   TracingMode mode;
//   mode.add_input(x, "x");
//   { ModeGuard guard(&mode); y = f(x); }
//   Graph graph = mode.finish({y});
class TracingMode : public DispatchMode {
 public:
  explicit TracingMode(TraceOptions options = {});
  ~TracingMode() override;

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override;
  std::string name() const override { return "TracingMode"; }
  std::optional<ModeKey> mode_key() const override { return ModeKey::Proxy; }

  // Makes the tensor the next input, also while the trace runs. RuntimeError if it is undefined, or
  // known already: one tensor stands for one node.
  Node* add_input(const Tensor& tensor, const std::string& name);
  Node* add_input(IntrusivePtr<OpaqueObject> object, const std::string& name);
  // Ends the graph with these results and gives it away; the mode is then useless.
  Graph finish(const std::vector<Tensor>& results);
  Graph finish_values(const std::vector<IValue>& results);

  // For the mode rules of higher-order operators, which record themselves:
  //
  //   Subgraph body{"body", share(mode.trace_subgraph(f, operands))};
  //   Node* node = mode.graph().call_higher_order(target, {mode.argument_of(pred), body});
  //   mode.track_results(node, results);
  Graph& graph() { return graph_; }
  const TraceOptions& options() const { return options_; }
  // Returns whether a trace inside this one runs: then a rule passes the call on and records
  // nothing.
  bool paused() const { return paused_; }
  // The value as an argument of a node. Tensors are their nodes, or become constants.
  GraphArg argument_of(const IValue& value);
  // The node that the tensor stands for; nullptr if the trace does not know it.
  Node* find(const Tensor& tensor) const;
  // From now on the tensor stands for the node. Undefined tensors are passed over.
  void track(const Tensor& tensor, Node* node);
  // The results of a call: the node itself if there is one, else items of it; tensors in lists are
  // items too.
  void track_results(Node* node, const std::vector<IValue>& results);
  void track_items(Node* node, const std::vector<IValue>& results);
  // Says that a call which the trace is about to record, of a higher-order operator, writes to the
  // tensor.
  void note_write(std::string_view who, const Tensor& written);
  // What the graph takes to be so, and the program may see otherwise.
  TraceAssumptions& assumptions() { return assumptions_; }
  // What was said of how that lies which the tensor was computed of, here or in a trace around this
  // one; or null.
  const TraceAssumptions::OtherLayout* find_other_layout(const Tensor& tensor) const;
  // As TraceHooks::gave_view_or_copy.
  void note_view_or_copy(const Tensor& self, const Tensor& result, std::string_view op,
                         internal::ViewOrCopyBy by);
  // Traces a function that the graph will call, apart from this trace, which records nothing of it.
  // A tensor of this trace, or of one around it, that the function uses without having been given
  // it is lifted: the subgraph gets an input for it, behind the others, and `captured` has it.
  // Those that are in `captured` at the beginning get inputs in any case, so that several functions
  // may take the same ones. Without `captured` it is a RuntimeError that names the node. Tensors
  // that no trace knows are constants of the subgraph. The function runs: what it writes to its
  // inputs, it writes.
  Graph trace_subgraph(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
                       const std::vector<Tensor>& inputs, const TraceOptions& options = {},
                       std::vector<Tensor>* captured = nullptr);
  // Runs f with this trace active and the one around it paused; may be called again, until
  // finish(). Every tensor that f uses and the trace does not know, wherever it comes from, becomes
  // an input and is added to `captured`.
  void resume(const std::function<void()>& f, std::vector<Tensor>* captured);
  // Traces f on the inputs with this mode, as trace() does: how a function that looks at the trace
  // while it runs gets one.
  Graph record(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
               const std::vector<Tensor>& inputs);
  Graph record_values(const std::function<std::vector<IValue>(const std::vector<IValue>&)>& f,
                      const std::vector<IValue>& inputs);

 private:
  class Active;

  GraphArg tensor_argument(const Tensor& tensor);
  // The node of a tensor, which is `node`, as an argument: with the history that autograd has given
  // the tensor, or taken from it.
  Node* node_for_use(const Tensor& tensor, Node* node);
  // The node of a tensor in the traces around this one, the next one first; nullptr.
  const Node* find_outside(const Tensor& tensor) const;
  // Makes the tensor the next input, and gives the one that stands for it: itself, or a copy.
  Tensor take_input(const Tensor& tensor, const std::string& name);
  // An input for a tensor that comes from outside.
  Node* lift(const Tensor& tensor, const std::string& name);
  void note_told(const Node& node);
  void track_value(Node* node, const IValue& value);
  GraphArg object_argument(const IValue& value) const;
  // Refuses results of an operator with an effect that the graph cannot have.
  void check_effect(const OperatorHandle& op) const;
  void call_named(const OperatorHandle& op, Stack* stack) const;
  void check_writes(const OperatorHandle& op, const std::vector<IValue>& arguments);
  void check_no_grad_write(const OperatorHandle& op, const std::vector<IValue>& arguments) const;
  void check_layouts(const OperatorHandle& op, const std::vector<IValue>& arguments) const;
  void check_data_dependent(const OperatorHandle& op, const std::vector<IValue>& arguments,
                            const std::vector<IValue>& results) const;

  TraceOptions options_;
  Graph graph_;
  // A weak reference keeps the address from being used again, but no memory alive.
  struct Tracked {
    WeakIntrusivePtr<TensorImpl> tensor;
    Node* node;
  };
  absl::flat_hash_map<const TensorImpl*, Tracked> nodes_;
  // Objects that calls made; they are kept alive.
  struct TrackedObject {
    IntrusivePtr<OpaqueObject> object;
    Node* node;
  };
  absl::flat_hash_map<const OpaqueObject*, TrackedObject> objects_;
  TracingMode* parent_ = nullptr;                  // of a subgraph
  std::vector<Tensor>* captured_ = nullptr;        // the same
  bool captures_all_ = false;                      // what no trace knows, too
  absl::flat_hash_set<const Node*> without_grad_;  // made while gradients were off
  TraceAssumptions assumptions_;
  std::vector<Tensor> from_outside_;  // inputs, constants: what pure functions leave as it is
  bool paused_ = false;               // while a trace inside this one runs
};

// Runs f once on the inputs and gives what it did as a graph. As `make_fx(f)(*inputs)`. A tensor
// that is given twice is one tensor, as for f, and must be given twice to the graph.
// Inside another trace it is a trace of its own: the outer one records nothing of it. Exceptions of
// f pass through and leave the thread's modes as they were.
Graph trace(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
            const std::vector<Tensor>& inputs, const TraceOptions& options = {});

// The same for a function of tensors and of objects of classes, whose results may be any values.
// Which objects the graph then takes, register_custom_class() says. TypeError for an input of
// another kind: numbers are burnt in. Graph::run_values runs it.
Graph trace_values(const std::function<std::vector<IValue>(const std::vector<IValue>&)>& f,
                   const std::vector<IValue>& inputs, const TraceOptions& options = {});

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_GRAPH_TRACING_MODE_H_
