// A program as data: calls of operators in the order in which they ran, that print as code and run
// again. As `torch.fx.Graph`.

#ifndef SWITCHBOARD_DISPATCH_GRAPH_GRAPH_H_
#define SWITCHBOARD_DISPATCH_GRAPH_GRAPH_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb {

class Graph;
class Node;
namespace internal {
class RunSymbols;
}  // namespace internal

// A graph inside a graph: what a higher-order operator calls. Never changed.
struct Subgraph {
  std::string name;  // "true_graph": the graph that takes it in makes it unique
  std::shared_ptr<const Graph> graph;
  // Of an earlier node of the same graph, whose name it has: printed once.
  bool shared = false;
};

// An argument of a node: a constant, the value of another node, a list of arguments, or, for a
// higher-order operator and not in a list, a subgraph. As `torch.fx.node.Argument`.
class GraphArg {
 public:
  struct List {
    std::vector<GraphArg> items;
    // The type of the list when the graph runs: TensorList, OptionalTensorList or List.
    IValue::Tag tag = IValue::Tag::List;
  };

  GraphArg() : value_(IValue()) {}
  // NOLINTNEXTLINE: all of these are arguments. Throws ValueError for null.
  GraphArg(Node* node) : value_(node) { SB_CHECK_VALUE(node, "graph: a null node as argument"); }
  GraphArg(List list) : value_(std::move(list)) {}       // NOLINT
  GraphArg(Subgraph graph) : value_(std::move(graph)) {  // NOLINT
    SB_CHECK_VALUE(subgraph()->graph, "graph: subgraph '", subgraph()->name, "' is null");
  }
  GraphArg(std::vector<GraphArg> items) : GraphArg(List{std::move(items)}) {}  // NOLINT
  template <class T>
  requires(std::convertible_to<T, IValue> && !std::is_pointer_v<std::decay_t<T>>)
      GraphArg(T&& constant)  // NOLINT
      : value_(IValue(std::forward<T>(constant))) {}
  GraphArg(const char* constant) : value_(IValue(constant)) {}  // NOLINT

  // nullptr unless the argument is that.
  const IValue* constant() const { return std::get_if<IValue>(&value_); }
  Node* node() const {
    Node* const* const p = std::get_if<Node*>(&value_);
    return p ? *p : nullptr;
  }
  const List* list() const { return std::get_if<List>(&value_); }
  const Subgraph* subgraph() const { return std::get_if<Subgraph>(&value_); }

  // Calls f(Node*) for every node in the argument, those in lists included, in order.
  template <class F>
  void for_each_node(F&& f) const {
    if (Node* const n = node()) f(n);
    if (const List* const l = list())
      for (const GraphArg& item : l->items) item.for_each_node(f);
  }

 private:
  friend class Graph;
  std::variant<IValue, Node*, List, Subgraph> value_;
};

// The callee of a node of a higher-order operator: the operator itself, or one of its own rules.
// Whoever defines such an operator implements this and adds nodes with Graph::call_higher_order.
class HigherOrderTarget {
 public:
  virtual ~HigherOrderTarget() = default;
  // As code calls it: "cond".
  virtual std::string name() const = 0;
  // Runs it. `arguments` are the values of the node's arguments without the subgraphs, which are
  // in `subgraphs`, both in order.
  virtual std::vector<IValue> run(
      std::vector<IValue> arguments,
      const std::vector<std::shared_ptr<const Graph>>& subgraphs) const = 0;
  // Returns whether a call has effects beyond its results and those of its subgraphs: such calls
  // are never dead code, and stay in order.
  virtual bool is_impure() const { return false; }
};

// The metadata of a tensor, without its data.
struct NodeMeta {
  DType dtype;
  std::vector<SymInt> sizes;
  std::vector<SymInt> strides;
  Device device;

  // Throws RuntimeError for an undefined tensor.
  static NodeMeta of(const Tensor& tensor);
  // "float32[2, 3]", and " on cuda:0" unless on the CPU.
  std::string to_string() const;
};

// What an object must be like that a graph gets as an input.
struct ObjectGuard {
  // Of an object that is an input while a graph is made: register_custom_class() says what counts.
  static ObjectGuard of(const OpaqueObject& object);
  // Returns what is wrong with a value: "expected ..., got ..."; "" if nothing is.
  std::string mismatch(const IValue& value) const;

  std::string class_name;
  IValue equal_to;             // an object of a constant class; else None
  std::vector<IValue> values;  // those that guarded_values() must give
};

// One line of a graph. Belongs to it, at one address.
class Node {
 public:
  enum class Kind : uint8_t {
    Placeholder,  // an input
    Constant,     // a tensor that the graph holds
    Call,         // of an operator
    HigherOrder,  // a call of a higher-order operator; the value is the list of its results
    GetItem,      // an element of a node with several results, or with a list
    Output,       // what the graph returns; the last node
  };

  Kind kind() const { return kind_; }
  // Unique in the graph; an identifier.
  const std::string& name() const { return name_; }
  // The arguments: of a Call, one for each argument of the schema; of a GetItem, the node it takes
  // from; of an Output, what is returned; of a Placeholder, the one before that must be given the
  // same tensor, if there is one.
  const std::vector<GraphArg>& arguments() const { return arguments_; }
  // Replaces an argument. Throws IndexError; what else is wrong, Graph::lint() finds.
  void set_argument(size_t index, GraphArg argument);

  const OperatorHandle& op() const { return op_.value(); }            // of a Call
  const HigherOrderTarget& higher_order() const { return *target_; }  // of a HigherOrder
  const std::shared_ptr<const HigherOrderTarget>& shared_higher_order() const { return target_; }
  const Tensor& constant() const { return constant_; }  // of a Constant
  size_t item() const { return item_; }                 // of a GetItem
  // Of a Placeholder that takes an object of a class; nullptr for others.
  const ObjectGuard* object_guard() const { return object_guard_.get(); }
  // The metadata that the value had when the graph was made; nullopt if it is no tensor.
  const std::optional<NodeMeta>& meta() const { return meta_; }
  void set_meta(std::optional<NodeMeta> meta) { meta_ = std::move(meta); }
  // The symbol that the value was when the graph was made; nullopt if it was no symbolic number.
  const std::optional<SymValue>& number() const { return number_; }
  void set_number(std::optional<SymValue> number) { number_ = std::move(number); }

  // The place of the node among those with an ordered effect (dispatch/modes/effects.h): 1, 2, ...,
  // as the effect tokens of `with_effects`; 0 for a node without one. Higher-order calls have one
  // if their target or a node in a subgraph does. What held when the node was made counts.
  size_t token() const { return token_; }

  // Returns whether the node does more than give its value, so that it stays when nobody uses that:
  // inputs, the output, nodes with an ordered effect, operators that write to an argument, return
  // nothing, draw random numbers (nondeterministic_seeded) or were removed, and higher-order calls
  // of which a part is so.
  bool is_impure() const;

 private:
  friend class Graph;
  Node(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

  Kind kind_;
  std::string name_;
  std::vector<GraphArg> arguments_;
  std::optional<OperatorHandle> op_;
  std::shared_ptr<const HigherOrderTarget> target_;
  Tensor constant_;
  size_t item_ = 0;
  size_t token_ = 0;
  std::shared_ptr<const ObjectGuard> object_guard_;
  std::optional<NodeMeta> meta_;
  std::optional<SymValue> number_;
  size_t index_ = 0;  // in the graph
};

// Nodes in the order in which they run. The first are the placeholders, the last is the output.
//
//   graph(x: float32[2, 3], y: float32[3]):
//     add = aten::add.Tensor(x, y, alpha=2)
//     relu = aten::relu(add)
//     mylib::log(relu)  # token 1
//     return (relu,)
//
// Running and printing do not change the graph and are safe from several threads, except where the
// program writes to one of the graph's constants. Everything else is for one thread.
class Graph {
 public:
  Graph() = default;
  // A graph that was moved from is empty.
  Graph(Graph&& other) noexcept { *this = std::move(other); }
  Graph& operator=(Graph&& other) noexcept {
    nodes_ = std::exchange(other.nodes_, {});
    num_inputs_ = std::exchange(other.num_inputs_, 0);
    num_tokens_ = std::exchange(other.num_tokens_, 0);
    names_ = std::exchange(other.names_, {});
    constants_ = std::exchange(other.constants_, {});
    return *this;
  }

  // Adds a node at the end; all throw RuntimeError once there is an output. Names are made
  // identifiers and unique. With `meta`, the input must be a tensor; without, it may be any value.
  Node* placeholder(std::string_view name, std::optional<NodeMeta> meta = std::nullopt);
  // An input that must be given an object like this one.
  Node* object_placeholder(std::string_view name, const OpaqueObject& example);
  // An input that nobody uses, and that must be given the same tensor as `other`.
  Node* same_placeholder(std::string_view name, Node* other);
  // Adds an input behind the others where there are nodes of other kinds already, an output too.
  Node* late_placeholder(std::string_view name, std::optional<NodeMeta> meta = std::nullopt);
  // A call with positional and named arguments, completed by the schema's defaults. Constants are
  // coerced as in bind_arguments. TypeError that names the operator and the argument where they do
  // not fit the schema.
  Node* call(const OperatorHandle& op, std::vector<GraphArg> positional,
             std::vector<std::pair<std::string, GraphArg>> keyword = {});
  // The same with all arguments in the schema's order, taken as they are. TypeError if there are
  // too many or too few.
  Node* call_bound(const OperatorHandle& op, std::vector<GraphArg> arguments);
  Node* call_higher_order(std::shared_ptr<const HigherOrderTarget> target,
                          std::vector<GraphArg> arguments);
  Node* get_item(Node* from, size_t item);
  // A tensor that the graph holds: `_tensor_constant0`, ... The graph keeps the tensor itself, not
  // a copy. Asking twice for one tensor gives one node.
  Node* constant(const Tensor& tensor);
  Node* output(std::vector<GraphArg> results);

  size_t size() const { return nodes_.size(); }
  const Node& operator[](size_t i) const { return *nodes_[i]; }
  Node* at(size_t i) { return nodes_.at(i).get(); }
  size_t num_inputs() const { return num_inputs_; }
  // How many nodes have an ordered effect; the last of them has this token.
  size_t num_tokens() const { return num_tokens_; }
  bool has_output() const { return !nodes_.empty() && nodes_.back()->kind() == Node::Kind::Output; }

  // The graph as code, in the form above; subgraphs follow, each once, under the path of their
  // names: "true_graph", and "true_graph.body_graph" for one inside it.
  std::string to_string() const;

  // Runs the graph through the dispatcher, on whatever the inputs are (meta and fake tensors too)
  // and under the modes of the thread. Symbols of a trace are what they are in this run: inputs'
  // sizes tell them, and what nodes give; all that the program rests on is checked then. An
  // intermediate value goes after its last use, an input too, unless the caller holds it. Throws
  // ValueError for a wrong number of inputs, for sizes that the program does not hold for, for two
  // tensors where one must be given twice, and for an object that the graph was not made for;
  // TypeError for an input that is not a tensor where one is expected, NotImplementedError for an
  // operator that was removed and for a symbol that nothing tells, and what operators throw, with
  // the node's name before the message.
  std::vector<IValue> run_values(std::vector<IValue> inputs) const;
  // The same for tensors. TypeError if the graph returns something else.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) const;

  // Throws RuntimeError, naming the node, unless the graph is well-formed: placeholders first and
  // one output, last; every node used is of this graph and comes before its user; tokens count up;
  // operators exist and have as many arguments; items are in range; names are unique; subgraphs are
  // well-formed.
  void lint() const;

  // Removes nodes that nobody uses and that are not impure, and says how many. Pointers to them
  // dangle. Nodes that tell a symbol stay.
  size_t eliminate_dead_code();

 private:
  Node* add(Node::Kind kind, std::string_view base_name, std::vector<GraphArg> arguments);
  std::string unique_name(std::string_view base);
  // Throws RuntimeError unless the nodes that `node` uses are of this graph and come before it.
  void check_uses(const Node& node) const;
  void lint_node(const Node& node) const;
  // Returns the value of `argument` when the nodes and the symbols have these values.
  static IValue value_of(const GraphArg& argument, const std::vector<IValue>& values,
                         const internal::RunSymbols& symbols);
  void check_inputs(const std::vector<IValue>& inputs) const;
  // `path` comes before the names of subgraphs: "true_graph.".
  std::string text(const std::string& name, const std::string& path) const;

  std::vector<std::unique_ptr<Node>> nodes_;
  size_t num_inputs_ = 0;
  size_t num_tokens_ = 0;
  absl::flat_hash_map<std::string, size_t> names_;  // and the last suffix that each was given
  absl::flat_hash_map<const TensorImpl*, Node*> constants_;
};

// The name of the first operator in the graph, or in one inside of it, for whose call `is` holds;
// or empty.
std::string find_operator(const Graph& graph, absl::FunctionRef<bool(const Node& call)> is);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_GRAPH_GRAPH_H_
