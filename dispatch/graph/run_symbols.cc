#include "switchboard/dispatch/graph/run_symbols.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/core/symbols/sym_float.h"

namespace sb::internal {
namespace {

// Of the run that is the innermost on this thread, and has any.
thread_local std::shared_ptr<SymbolValues> current_values;

bool is_symbolic(absl::Span<const SymInt> numbers) {
  for (const SymInt& n : numbers)
    if (n.is_symbolic()) return true;
  return false;
}

bool has_symbols(const IValue& value) {
  if (value.is_List()) {
    for (const IValue& item : value.to_list())
      if (has_symbols(item)) return true;
    return false;
  }
  return value.is_symbolic() || value.is_SymIntList();
}

// Of a number; nullopt for anything else.
std::optional<SymValue> number_of(const IValue& value) {
  if (value.is_Int() || value.is_SymInt()) return value.to_sym_int().value();
  if (value.is_Double() || value.is_SymFloat()) return value.to_sym_float().value();
  if (value.is_Bool() || value.is_SymBool()) return value.to_sym_bool().value();
  return std::nullopt;
}

IValue number_as_value(const SymValue& number) {
  switch (number.kind()) {
    case SymKind::Int:
      return SymInt(number);
    case SymKind::Float:
      return SymFloat(number);
    case SymKind::Bool:
      return SymBool(number);
  }
  SB_ASSERT(false);
}

std::string text_of(const SymValue& number) {
  switch (number.kind()) {
    case SymKind::Int:
      return SymInt(number).to_string();
    case SymKind::Float:
      return SymFloat(number).to_string();
    case SymKind::Bool:
      return SymBool(number).to_string();
  }
  SB_ASSERT(false);
}

// "s0 = 5", or what there is of it.
std::string text_with_value(const SymNode& expression, const SymbolValues& values) {
  const std::optional<SymValue> value = values.value_of(expression);
  return expression.to_string() + (value ? str_cat(" = ", text_of(*value)) : "");
}

// `numbers` says whether sizes that were none are held to as well. In a graph inside of another
// they are not: a loop's rows count as one there, however many there are.
void bind_sizes(const Node& node, const Tensor& input, std::string_view who, bool numbers,
                SymbolValues* values) {
  const std::vector<SymInt>& expected = node.meta()->sizes;
  const SymIntArrayRef got = input.sym_sizes();
  SB_CHECK_VALUE(got.size() == expected.size(), who, "expected ", expected.size(),
                 " dimensions, got ", input.describe());
  for (size_t d = 0; d < got.size(); ++d) {
    const SymNode* const symbol = expected[d].node();
    const bool fits = symbol ? values->bind(*symbol, got[d].value())
                             : !numbers || static_cast<bool>(got[d] == expected[d]);
    SB_CHECK_VALUE(fits, who, "dimension ", d, ": expected ",
                   symbol ? text_with_value(*symbol, *values) : expected[d].to_string(),
                   ", as when the graph was made, got ", input.describe());
  }
}

// Those that follow from the sizes need not be the same.
void bind_strides(const Node& node, const Tensor& input, SymbolValues* values) {
  const std::vector<SymInt>& expected = node.meta()->strides;
  for (size_t d = 0; d < expected.size(); ++d) {
    const SymNode* const symbol = expected[d].node();
    if (symbol && !values->value_of(*symbol)) values->bind(*symbol, input.sym_strides()[d].value());
  }
}

}  // namespace

RunSymbols::RunSymbols() : outer_(current_values) {}
RunSymbols::~RunSymbols() { current_values = std::move(outer_); }

SymbolValues& RunSymbols::values() {
  if (!values_) {
    values_ = new_symbol_values(outer_);
    current_values = values_;
  }
  return *values_;
}

void RunSymbols::bind_inputs(absl::Span<const Node* const> nodes,
                             const std::vector<IValue>& inputs) {
  bool any = false, any_tensor = false;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i]->meta()) continue;
    any_tensor = true;
    any = any || is_symbolic(nodes[i]->meta()->sizes) || is_symbolic(nodes[i]->meta()->strides);
    keeps_symbols_ = keeps_symbols_ || inputs[i].unchecked_tensor().is_symbolic();
  }
  // Of a graph without tensors nothing but their environment tells what they are.
  keeps_symbols_ = keeps_symbols_ || (!any_tensor && !outer_);
  if (!any || !new_symbol_values) return;
  // Twice: what an expression is may follow from a symbol that a later input tells.
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!nodes[i]->meta()) continue;
      const Tensor& input = inputs[i].unchecked_tensor();
      bind_sizes(*nodes[i], input, str_cat("graph: input ", i, " '", nodes[i]->name(), "': "),
                 !outer_, &values());
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i]->meta()) bind_strides(*nodes[i], inputs[i].unchecked_tensor(), &values());
  const std::string broken = values().broken_condition();
  SB_CHECK_VALUE(broken.empty(), "graph: the program rests on ", broken,
                 "; got inputs for which that does not hold");
}

void RunSymbols::bind_result(const Node& node, const IValue& value) {
  if (!new_symbol_values) return;
  const auto bind = [&](const SymNode& symbol, const SymValue& number) {
    SB_CHECK(values().bind(symbol, number), "gives ", text_of(number), " for ",
             text_with_value(symbol, values()));
    const std::string broken = values().broken_condition();
    SB_CHECK(broken.empty(), "gives ", symbol.to_string(), " = ", text_of(number),
             "; the program rests on ", broken);
  };
  if (node.number()) {
    if (const std::optional<SymValue> number = number_of(value))
      bind(*node.number()->node(), *number);
  }
  if (!node.meta() || !value.is_Tensor() || !value.unchecked_tensor().defined()) return;
  const SymIntArrayRef sizes = value.unchecked_tensor().sym_sizes();
  const std::vector<SymInt>& traced = node.meta()->sizes;
  // What data tell may be known all the same, once the program has stated enough of it.
  for (size_t d = 0; d < traced.size() && d < sizes.size(); ++d)
    if (traced[d].is_symbolic() && values().is_told(*traced[d].node()))
      bind(*traced[d].node(), sizes[d].value());
}

SymValue RunSymbols::value_of_symbol(const SymNode& symbol) const {
  std::shared_ptr<const SymbolValues> values = values_ ? values_ : outer_;
  if (!values && new_symbol_values) values = new_symbol_values(nullptr);
  if (std::optional<SymValue> value = values ? values->value_of(symbol) : std::nullopt)
    return *std::move(value);
  SB_CHECK_NOT_IMPLEMENTED(keeps_symbols_ || (values && values->is_at_hand(symbol)), "takes ",
                           symbol.to_string(),
                           ", which neither an input nor a node of the graph tells");
  return SymValue(IntrusivePtr<const SymNode>::share(&symbol));
}

IValue RunSymbols::value_of(const IValue& constant) const {
  if (!has_symbols(constant)) return constant;
  if (constant.is_List()) {
    std::vector<IValue> items;
    for (const IValue& item : constant.to_list()) items.push_back(value_of(item));
    return items;
  }
  if (constant.is_SymIntList()) {
    std::vector<SymInt> items;
    for (const SymInt& item : constant.to_sym_int_list())
      items.push_back(item.is_symbolic() ? SymInt(value_of_symbol(*item.node())) : item);
    return items;
  }
  return number_as_value(value_of_symbol(*number_of(constant)->node()));
}

SymValue symbolic_number(const IValue& value) {
  SB_ASSERT(value.is_symbolic());
  return *number_of(value);
}

namespace {

bool has_symbols(const GraphArg& argument) {
  if (const IValue* const constant = argument.constant()) return has_symbols(*constant);
  if (const Subgraph* const sub = argument.subgraph()) return internal::has_symbols(*sub->graph);
  const GraphArg::List* const list = argument.list();
  return list && std::ranges::any_of(list->items, [](const GraphArg& a) { return has_symbols(a); });
}

}  // namespace

bool has_symbols(const Graph& graph) {
  for (size_t i = 0; i < graph.size(); ++i)
    for (const GraphArg& argument : graph[i].arguments())
      if (has_symbols(argument)) return true;
  return false;
}

bool tells_symbol(const Node& node) {
  if (node.number()) return true;
  if (!node.meta()) return false;
  const auto is_of_an_argument = [&](const SymInt& size) {
    bool found = false;
    for (const GraphArg& argument : node.arguments()) {
      argument.for_each_node([&](const Node* used) {
        if (!used->meta()) return;
        for (const SymInt& other : used->meta()->sizes)
          found = found || (other.is_symbolic() && size.node()->is_same(*other.node()));
      });
    }
    return found;
  };
  return std::ranges::any_of(node.meta()->sizes, [&](const SymInt& size) {
    return !has_hint(size) && !is_of_an_argument(size);
  });
}

std::function<std::vector<IValue>(std::vector<IValue>)> graph_function(
    std::shared_ptr<const Graph> graph) {
  return [graph = std::move(graph), made_in = current_values](std::vector<IValue> inputs) {
    struct Scope {
      std::shared_ptr<SymbolValues> around;
      ~Scope() { current_values = std::move(around); }
    };
    const Scope scope{std::exchange(current_values, made_in ? made_in : current_values)};
    return graph->run_values(std::move(inputs));
  };
}

}  // namespace sb::internal
