#include "switchboard/dispatch/graph/graph.h"

#include "absl/strings/ascii.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/run_symbols.h"
#include "switchboard/dispatch/inspect/call_text.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/modes/purity.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/values/coerce_argument.h"

namespace sb {
namespace {

// What a list is when it is given for an argument of that type.
IValue::Tag list_tag(const Type& type) {
  if (!type.has_tensor() || !type.is_list()) return IValue::Tag::List;
  return type.modifiers.front().kind == TypeModifier::Optional ? IValue::Tag::OptionalTensorList
                                                               : IValue::Tag::TensorList;
}

// An argument that a builder gave, as one of the type that the schema says.
GraphArg fit_argument(const OperatorHandle& op, size_t index, GraphArg value) {
  const Argument& argument = op.schema().arguments[index];
  const auto complain = [&](std::string_view got) {
    SB_THROW(TypeError, op.name().to_string(), ": argument ", index, " '", argument.name,
             "': expected ", argument.type.to_string(), ", got ", got);
  };
  if (value.subgraph()) complain("a subgraph");
  if (const IValue* const constant = value.constant()) {
    IValue fitting = *constant;
    internal::coerce_at(op.schema(), index, fitting);
    return fitting;
  }
  if (const GraphArg::List* const list = value.list()) {
    if (!argument.type.is_list()) complain("a list");
    return GraphArg::List{list->items, list_tag(argument.type)};
  }
  return value;
}

// An identifier that is no word of the printed form.
std::string identifier(std::string_view text) {
  std::string name;
  for (const char c : text)
    name += absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) name = "_" + name;
  for (const char* const word : {"graph", "self", "return", "None", "True", "False"})
    if (name == word) name += "_value";
  return name;
}

}  // namespace

NodeMeta NodeMeta::of(const Tensor& tensor) {
  SB_CHECK(tensor.defined(), "NodeMeta: expected a tensor, got an undefined one");
  return {tensor.dtype(),
          {tensor.sym_sizes().begin(), tensor.sym_sizes().end()},
          {tensor.sym_strides().begin(), tensor.sym_strides().end()},
          tensor.device()};
}

std::string NodeMeta::to_string() const {
  return type_text(dtype, absl::MakeConstSpan(sizes), device);
}

void Node::set_argument(size_t index, GraphArg argument) {
  SB_CHECK_INDEX(index < arguments_.size(), "graph: node '", name_, "': argument ", index,
                 " is out of range: it has ", arguments_.size());
  arguments_[index] = std::move(argument);
}

bool Node::is_impure() const {
  if (token_ != 0) return true;
  switch (kind_) {
    case Kind::Placeholder:
    case Kind::Output:
      return true;
    case Kind::Constant:
    case Kind::GetItem:
      return false;
    case Kind::Call:
      // A removed operator stays, so that running the graph says so.
      return op().entry().dead() || op().schema().returns.empty() || sb::is_impure(op());
    case Kind::HigherOrder:
      break;
  }
  for (const GraphArg& argument : arguments_) {
    const Subgraph* const sub = argument.subgraph();
    if (!sub) continue;
    for (size_t i = 0; i < sub->graph->size(); ++i) {
      const Node& node = (*sub->graph)[i];
      const bool frame = node.kind() == Kind::Placeholder || node.kind() == Kind::Output;
      if (!frame && node.is_impure()) return true;
    }
  }
  return false;
}

std::string Graph::unique_name(std::string_view base) {
  const std::string name = identifier(base);
  const auto [known, is_new] = names_.try_emplace(name, 0);
  if (is_new) return name;
  size_t suffix = known->second;
  std::string candidate;
  do {
    candidate = str_cat(name, "_", ++suffix);
  } while (names_.contains(candidate));
  known->second = suffix;
  names_.emplace(candidate, 0);
  return candidate;
}

Node* Graph::add(Node::Kind kind, std::string_view base_name, std::vector<GraphArg> arguments) {
  SB_CHECK(!has_output(), "graph: has its output already; got another node, '", base_name, "'");
  std::unique_ptr<Node> node(new Node(kind, unique_name(base_name)));
  node->arguments_ = std::move(arguments);
  node->index_ = nodes_.size();
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

Node* Graph::placeholder(std::string_view name, std::optional<NodeMeta> meta) {
  SB_CHECK(num_inputs_ == nodes_.size(), "graph: placeholder '", name,
           "': expected before all other nodes, got after '", nodes_.back()->name(), "'");
  Node* const node = add(Node::Kind::Placeholder, name, {});
  node->set_meta(std::move(meta));
  ++num_inputs_;
  return node;
}

Node* Graph::object_placeholder(std::string_view name, const OpaqueObject& example) {
  Node* const node = placeholder(name);
  node->object_guard_ = std::make_shared<const ObjectGuard>(ObjectGuard::of(example));
  return node;
}

Node* Graph::same_placeholder(std::string_view name, Node* other) {
  Node* const node = placeholder(name, other->meta());
  node->arguments_.emplace_back(other);
  check_uses(*node);
  return node;
}

Node* Graph::late_placeholder(std::string_view name, std::optional<NodeMeta> meta) {
  std::unique_ptr<Node> node(new Node(Node::Kind::Placeholder, unique_name(name)));
  node->set_meta(std::move(meta));
  nodes_.insert(nodes_.begin() + static_cast<std::ptrdiff_t>(num_inputs_), std::move(node));
  for (size_t i = num_inputs_; i < nodes_.size(); ++i) nodes_[i]->index_ = i;
  return nodes_[num_inputs_++].get();
}

Node* Graph::call(const OperatorHandle& op, std::vector<GraphArg> positional,
                  std::vector<std::pair<std::string, GraphArg>> keyword) {
  const FunctionSchema& schema = op.schema();
  const std::string name = op.name().to_string();
  const size_t n = schema.arguments.size();
  std::vector<std::optional<GraphArg>> given(n);
  for (size_t i = 0; i < positional.size(); ++i) {
    SB_CHECK_TYPE(i < n && !schema.arguments[i].kwarg_only, name, ": got ", positional.size(),
                  " positional arguments, the schema takes ", i);
    given[i] = std::move(positional[i]);
  }
  for (auto& [key, value] : keyword) {
    const std::optional<size_t> i = schema.find_argument(key);
    SB_CHECK_TYPE(i, name, ": unknown argument '", key, "'");
    SB_CHECK_TYPE(!given[*i], name, ": argument ", *i, " '", key, "' given twice");
    given[*i] = std::move(value);
  }
  std::vector<GraphArg> arguments;
  for (size_t i = 0; i < n; ++i) {
    const Argument& argument = schema.arguments[i];
    SB_CHECK_TYPE(given[i] || argument.default_value, name, ": argument ", i, " '", argument.name,
                  "' is missing");
    arguments.push_back(given[i] ? fit_argument(op, i, *std::move(given[i]))
                                 : GraphArg(*argument.default_value));
  }
  return call_bound(op, std::move(arguments));
}

Node* Graph::call_bound(const OperatorHandle& op, std::vector<GraphArg> arguments) {
  const size_t n = op.schema().arguments.size();
  SB_CHECK_TYPE(arguments.size() == n, op.name().to_string(), ": expected ", n, " arguments, got ",
                arguments.size());
  const std::string& qualified = op.name().name;
  const size_t end = qualified.find("::");
  Node* const node =
      add(Node::Kind::Call, end == std::string::npos ? qualified : qualified.substr(end + 2),
          std::move(arguments));
  node->op_ = op;
  if (has_ordered_effect(op)) node->token_ = ++num_tokens_;
  return node;
}

Node* Graph::call_higher_order(std::shared_ptr<const HigherOrderTarget> target,
                               std::vector<GraphArg> arguments) {
  SB_CHECK_VALUE(target, "graph: expected a higher-order operator, got null");
  bool has_effect = target->is_impure();
  for (GraphArg& argument : arguments) {
    Subgraph* const sub = std::get_if<Subgraph>(&argument.value_);
    if (!sub) continue;
    if (!sub->shared) sub->name = unique_name(sub->name);
    has_effect = has_effect || sub->graph->num_tokens() != 0;
  }
  Node* const node = add(Node::Kind::HigherOrder, target->name(), std::move(arguments));
  node->target_ = std::move(target);
  if (has_effect) node->token_ = ++num_tokens_;
  return node;
}

Node* Graph::get_item(Node* from, size_t item) {
  Node* const node = add(Node::Kind::GetItem, "getitem", {from});
  node->item_ = item;
  return node;
}

Node* Graph::constant(const Tensor& tensor) {
  SB_CHECK(tensor.defined(), "graph: expected a tensor as a constant, got an undefined one");
  const auto found = constants_.find(tensor.impl());
  if (found != constants_.end()) return found->second;
  // PyTorch's name, which counts from 0.
  size_t k = 0;
  std::string name;
  do {
    name = str_cat("_tensor_constant", k++);
  } while (names_.contains(name));
  Node* const node = add(Node::Kind::Constant, name, {});
  node->constant_ = tensor;
  node->set_meta(NodeMeta::of(tensor));
  constants_.emplace(tensor.impl(), node);
  return node;
}

Node* Graph::output(std::vector<GraphArg> results) {
  return add(Node::Kind::Output, "output", std::move(results));
}

void Graph::check_uses(const Node& node) const {
  for (size_t i = 0; i < node.arguments_.size(); ++i) {
    node.arguments_[i].for_each_node([&](const Node* used) {
      const bool ours = used->index_ < nodes_.size() && nodes_[used->index_].get() == used;
      SB_CHECK(ours, "graph: node '", node.name_, "': argument ", i,
               " is a node of another graph, '", used->name_, "'");
      SB_CHECK(used->index_ < node.index_, "graph: node '", node.name_, "': argument ", i, " is '",
               used->name_, "', which does not come before it");
    });
  }
}

void Graph::lint_node(const Node& node) const {
  check_uses(node);
  for (size_t i = 0; i < node.arguments_.size(); ++i) {
    if (const Subgraph* const sub = node.arguments_[i].subgraph()) {
      SB_CHECK(node.kind_ == Node::Kind::HigherOrder, "graph: node '", node.name_, "': argument ",
               i, " is a subgraph, which only a higher-order operator takes");
      sub->graph->lint();
    }
  }
  if (node.kind_ == Node::Kind::Call) {
    SB_CHECK(!node.op().entry().dead(), "graph: node '", node.name_, "': operator ",
             node.op().name().to_string(), " was removed");
    const size_t n = node.op().schema().arguments.size();
    SB_CHECK(node.arguments_.size() == n, "graph: node '", node.name_, "': expected ", n,
             " arguments, got ", node.arguments_.size());
  }
  if (node.kind_ == Node::Kind::GetItem) {
    const Node* const from = node.arguments_[0].node();
    SB_CHECK(from, "graph: node '", node.name_, "': expected an item of a node");
    if (from->kind_ == Node::Kind::Call) {
      const auto& returns = from->op().schema().returns;
      const bool fits =
          returns.size() == 1 ? returns[0].type.is_list() : node.item_ < returns.size();
      SB_CHECK(fits, "graph: node '", node.name_, "': item ", node.item_, " of '", from->name_,
               "', which has ", returns.size(), " results");
    }
  }
}

void Graph::lint() const {
  SB_CHECK(has_output(), "graph: has no output");
  size_t token = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    SB_CHECK((nodes_[i]->kind_ == Node::Kind::Placeholder) == (i < num_inputs_), "graph: node '",
             nodes_[i]->name_, "': placeholders come before all other nodes");
    SB_CHECK(nodes_[i]->token_ == 0 || nodes_[i]->token_ == ++token, "graph: node '",
             nodes_[i]->name_, "': expected token ", token, ", got ", nodes_[i]->token_);
    lint_node(*nodes_[i]);
  }
}

size_t Graph::eliminate_dead_code() {
  for (const std::unique_ptr<Node>& node : nodes_) check_uses(*node);
  const bool has_symbols = internal::has_symbols(*this);
  std::vector<bool> needed(nodes_.size());
  for (size_t i = nodes_.size(); i-- > 0;) {
    const bool stays =
        nodes_[i]->is_impure() || (has_symbols && internal::tells_symbol(*nodes_[i]));
    if (!needed[i] && !stays) continue;
    needed[i] = true;
    for (const GraphArg& argument : nodes_[i]->arguments_)
      argument.for_each_node([&](const Node* used) { needed[used->index_] = true; });
  }
  size_t kept = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!needed[i]) {
      names_.erase(nodes_[i]->name_);
      for (const GraphArg& argument : nodes_[i]->arguments_)
        if (const Subgraph* const sub = argument.subgraph()) names_.erase(sub->name);
      if (nodes_[i]->kind_ == Node::Kind::Constant) constants_.erase(nodes_[i]->constant_.impl());
      continue;
    }
    if (kept != i) nodes_[kept] = std::move(nodes_[i]);
    nodes_[kept]->index_ = kept;
    ++kept;
  }
  const size_t removed = nodes_.size() - kept;
  nodes_.resize(kept);
  return removed;
}

std::string find_operator(const Graph& graph, absl::FunctionRef<bool(const Node& call)> is) {
  for (size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph[i];
    if (node.kind() == Node::Kind::Call && is(node)) return node.op().name().to_string();
    for (const GraphArg& argument : node.arguments()) {
      if (!argument.subgraph()) continue;
      if (std::string name = find_operator(*argument.subgraph()->graph, is); !name.empty())
        return name;
    }
  }
  return "";
}

}  // namespace sb
