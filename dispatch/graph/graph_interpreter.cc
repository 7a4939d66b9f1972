// Running a graph again. As `torch.fx.Interpreter`.

#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/graph.h"
#include "switchboard/dispatch/graph/run_symbols.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/values/coerce_argument.h"

namespace sb {
namespace {

std::vector<IValue> run_call(const OperatorHandle& op, std::vector<IValue> arguments) {
  SB_CHECK_NOT_IMPLEMENTED(!op.entry().dead(), "operator ", op.name().to_string(), " was removed");
  SB_CHECK(arguments.size() == op.schema().arguments.size(), op.name().to_string(), ": expected ",
           op.schema().arguments.size(), " arguments, got ", arguments.size());
  // A value that a node gave, or a list with one in it, may be of another type than a call takes.
  for (size_t i = 0; i < arguments.size(); ++i) internal::coerce_at(op.schema(), i, arguments[i]);
  op.call_boxed(&arguments);
  return arguments;
}

std::vector<IValue> run_higher_order(const Node& node, std::vector<IValue> arguments) {
  std::vector<std::shared_ptr<const Graph>> subgraphs;
  for (const GraphArg& argument : node.arguments())
    if (const Subgraph* const sub = argument.subgraph()) subgraphs.push_back(sub->graph);
  return node.higher_order().run(std::move(arguments), subgraphs);
}

IValue item_of(const IValue& value, size_t i) {
  const auto check = [i](size_t size) {
    SB_CHECK_INDEX(i < size, "item ", i, " is out of range: there are ", size);
  };
  if (value.is_TensorList()) {
    check(value.to_tensor_list().size());
    return value.to_tensor_list()[i];
  }
  if (value.is_OptionalTensorList()) {
    check(value.to_optional_tensor_list().size());
    return value.to_optional_tensor_list()[i];
  }
  if (value.is_IntList()) {
    check(value.to_int_list().size());
    return value.to_int_list()[i];
  }
  SB_CHECK_TYPE(value.is_List(), "expected a list, got ", value.tag_name());
  check(value.to_list().size());
  return value.to_list()[i];
}

// RuntimeError where an operator gives fewer tensors than when the graph was made, as their number
// may depend on sizes, and these on data.
void check_item(const Node& node, const IValue& value) {
  const Node* const from = node.arguments().at(0).node();
  if (!value.is_TensorList() || !from || from->kind() != Node::Kind::Call) return;
  const size_t size = value.to_tensor_list().size();
  SB_CHECK(node.item() < size, from->op().name().to_string(), ": gave ", size,
           " tensors, of which the graph takes number ", node.item(),
           ": there were more when it was made");
}

// What the node gives. `arguments` are its arguments but for subgraphs.
IValue run_node(const Node& node, std::vector<IValue> arguments) {
  switch (node.kind()) {
    case Node::Kind::Constant:
      return node.constant();
    case Node::Kind::GetItem:
      check_item(node, arguments.at(0));
      return item_of(arguments.at(0), node.item());
    case Node::Kind::Call: {
      std::vector<IValue> results = run_call(node.op(), std::move(arguments));
      if (results.size() == 1) return std::move(results[0]);
      return IValue(std::move(results));
    }
    case Node::Kind::HigherOrder:
      return IValue(run_higher_order(node, std::move(arguments)));
    case Node::Kind::Placeholder:
    case Node::Kind::Output:
      break;  // taken from the inputs, and what the run ends with
  }
  return {};
}

// Sizes that the data tell, and that a program has made numbers of, are numbers in its graph: those
// that an operator with Tag::dynamic_output_shape gave, its source, and those of what was made of
// that.
class BurntSizes {
 public:
  // Notes the sizes that the node's value had when the graph was made, and has not now.
  void note(const Node& node, const IValue& value) {
    const Node* const source = source_of(node);
    if (!source) return;
    sources_[&node] = source;
    if (!node.meta() || !value.is_Tensor()) return;
    const Tensor& now = value.unchecked_tensor();
    const std::vector<SymInt>& was = node.meta()->sizes;
    if (!now.defined() || now.is_symbolic()) return;
    std::vector<int64_t> before;
    for (const SymInt& size : was) {
      if (size.is_symbolic()) return;
      before.push_back(size.expect_int());
    }
    if (now.sizes() == IntArrayRef(before)) return;
    int64_t numel = 1;
    for (size_t d = 0; d < before.size(); ++d) {
      numel *= before[d];
      if (d >= now.sizes().size() || now.sizes()[d] != before[d]) gone_[before[d]] = source;
    }
    gone_[numel] = source;
  }

  // NotImplementedError where the node takes such a number for a size.
  void check(const Node& node) const {
    if (gone_.empty() || node.kind() != Node::Kind::Call) return;
    const std::vector<Argument>& declared = node.op().schema().arguments;
    for (size_t i = 0; i < declared.size(); ++i) {
      if (declared[i].type.base != BaseType::SymInt) continue;
      const IValue* const number = node.arguments()[i].constant();
      if (!number) continue;
      if (number->is_Int()) check(node, number->to_int());
      if (number->is_IntList())
        for (const int64_t n : number->to_int_list()) check(node, n);
    }
  }

 private:
  // Null for a node whose sizes no data tell.
  const Node* source_of(const Node& node) const {
    if (node.kind() == Node::Kind::Call && node.op().entry().has_tag(Tag::dynamic_output_shape))
      return &node;
    const Node* source = nullptr;
    if (sources_.empty()) return source;
    for (const GraphArg& argument : node.arguments()) {
      argument.for_each_node([&](const Node* used) {
        if (const auto found = sources_.find(used); found != sources_.end()) source = found->second;
      });
    }
    return source;
  }

  void check(const Node& node, int64_t number) const {
    const auto found = gone_.find(number);
    if (found == gone_.end()) return;
    const Node& source = *found->second;
    SB_THROW(NotImplementedError, node.op().name().to_string(), ": takes the number ", number,
             ", a size of what '", source.name(), "' (", source.op().name().to_string(),
             ") gave when the graph was made; the data tell it, and it is another now; trace with "
             "symbols for sizes, or with such data");
  }

  std::map<const Node*, const Node*> sources_;
  std::map<int64_t, const Node*> gone_;  // with their sources
};

// The operator of a call, where its error does not say which it is.
std::string unnamed_in(const Error& error, const Node& node) {
  if (node.kind() == Node::Kind::GetItem) return unnamed_in(error, *node.arguments()[0].node());
  std::string name;
  if (node.kind() == Node::Kind::Call) name = node.op().name().to_string();
  if (node.kind() == Node::Kind::HigherOrder) name = "higher_order::" + node.higher_order().name();
  return std::string_view(error.what()).find(name) == std::string_view::npos ? name + ": " : "";
}

}  // namespace

IValue Graph::value_of(const GraphArg& argument, const std::vector<IValue>& values,
                       const internal::RunSymbols& symbols) {
  if (const IValue* const constant = argument.constant()) return symbols.value_of(*constant);
  if (const Node* const node = argument.node()) return values[node->index_];
  const GraphArg::List* const list = argument.list();
  SB_CHECK(list, "a subgraph stands where a value is expected");
  std::vector<IValue> items;
  for (const GraphArg& item : list->items) items.push_back(value_of(item, values, symbols));
  if (list->tag == IValue::Tag::TensorList) {
    std::vector<Tensor> tensors;
    for (const IValue& item : items) tensors.push_back(item.to_tensor());
    return tensors;
  }
  if (list->tag == IValue::Tag::OptionalTensorList) {
    std::vector<std::optional<Tensor>> tensors;
    for (const IValue& item : items)
      tensors.push_back(item.is_None() ? std::nullopt : std::optional(item.to_tensor()));
    return tensors;
  }
  return items;
}

void Graph::check_inputs(const std::vector<IValue>& inputs) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < num_inputs_; ++i) names.push_back(nodes_[i]->name());
  SB_CHECK_VALUE(inputs.size() == num_inputs_, "graph: expected ", num_inputs_, " inputs (",
                 absl::StrJoin(names, ", "), "), got ", inputs.size());
  for (size_t i = 0; i < num_inputs_; ++i) {
    if (const ObjectGuard* const guard = nodes_[i]->object_guard()) {
      const std::string wrong = guard->mismatch(inputs[i]);
      SB_CHECK_VALUE(wrong.empty(), "graph: input ", i, " '", names[i], "': ", wrong);
    }
    if (!nodes_[i]->meta()) continue;
    SB_CHECK_TYPE(inputs[i].is_Tensor(), "graph: input ", i, " '", names[i],
                  "': expected a tensor, got ", inputs[i].tag_name());
    SB_CHECK_TYPE(inputs[i].unchecked_tensor().defined(), "graph: input ", i, " '", names[i],
                  "': expected a tensor, got an undefined one");
    for (const GraphArg& argument : nodes_[i]->arguments_) {
      const Node& same = *argument.node();
      SB_CHECK_VALUE(inputs[i].unchecked_tensor().is_same(inputs[same.index_].unchecked_tensor()),
                     "graph: input ", i, " '", names[i], "': expected the tensor that '",
                     same.name_, "' is, as when the graph was made, got another");
    }
  }
}

std::vector<IValue> Graph::run_values(std::vector<IValue> inputs) const {
  SB_CHECK(has_output(), "graph: has no output");
  check_inputs(inputs);
  internal::RunSymbols symbols;
  std::vector<const Node*> placeholders;
  for (size_t i = 0; i < num_inputs_; ++i) placeholders.push_back(nodes_[i].get());
  symbols.bind_inputs(placeholders, inputs);
  std::vector<size_t> last_use(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    check_uses(*nodes_[i]);
    last_use[i] = i;  // nobody's, so far
    for (const GraphArg& argument : nodes_[i]->arguments_)
      argument.for_each_node([&](const Node* used) { last_use[used->index_] = i; });
  }

  BurntSizes burnt;
  std::vector<IValue> values = std::move(inputs);
  values.resize(nodes_.size());
  for (size_t i = 0; i < num_inputs_; ++i)
    if (last_use[i] < num_inputs_) values[i] = IValue();
  for (size_t i = num_inputs_; i < nodes_.size(); ++i) {
    const Node& node = *nodes_[i];
    try {
      std::vector<IValue> arguments;
      for (const GraphArg& argument : node.arguments_)
        if (!argument.subgraph()) arguments.push_back(value_of(argument, values, symbols));
      for (const GraphArg& argument : node.arguments_) {
        argument.for_each_node([&](const Node* used) {
          if (last_use[used->index_] == i) values[used->index_] = IValue();
        });
      }
      if (node.kind_ == Node::Kind::Output) return arguments;
      burnt.check(node);
      values[i] = run_node(node, std::move(arguments));
      symbols.bind_result(node, values[i]);
      burnt.note(node, values[i]);
    } catch (const Error& error) {
      rethrow_with_context(error,
                           str_cat("graph: node '", node.name_, "': ", unnamed_in(error, node)));
    }
    if (last_use[i] == i) values[i] = IValue();
  }
  return {};  // not reached: the last node is the output
}

std::vector<Tensor> Graph::run(const std::vector<Tensor>& inputs) const {
  std::vector<Tensor> tensors;
  for (IValue& result : run_values({inputs.begin(), inputs.end()})) {
    SB_CHECK_TYPE(result.is_Tensor(), "graph: result ", tensors.size(), ": expected a tensor, got ",
                  result.tag_name());
    tensors.push_back(std::move(result).to_tensor());
  }
  return tensors;
}

}  // namespace sb
