#include "switchboard/tools/value_checker.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"

namespace sb::tools {
namespace {

template <class List>
std::string list_text(const List& list) {
  return absl::StrCat("[",
                      absl::StrJoin(list, ", ",
                                    [](std::string* out, const auto& item) {
                                      absl::StrAppend(out, item.to_string());
                                    }),
                      "]");
}

// Sizes alone decide: where one is 0 or all are 1 no stride is ever used.
bool has_several_elements(const Tensor& tensor) {
  if (!tensor.is_symbolic()) return tensor.numel() > 1;
  return std::ranges::none_of(tensor.sym_sizes(),
                              [](const SymInt& size) { return size.maybe_int() == 0; });
}

bool is_close(double a, double b) {
  return a == b || (a != a && b != b) || std::abs(a - b) <= 1e-12 * std::abs(a);
}

}  // namespace

std::string label_of(const io::Node& node) {
  if (!node.name.empty() || node.outputs.empty()) return node.name;
  const auto* ref = std::get_if<io::TensorRef>(&node.outputs[0]);
  return ref ? ref->name : node.target();
}

ValueChecker::ValueChecker(Device device, bool own_strides, RunSymbols symbols,
                           std::ostream* headings)
    : device_(device),
      own_strides_(own_strides),
      symbols_(std::move(symbols)),
      headings_(headings) {}

void ValueChecker::on_node(const io::Graph& graph, size_t node) {
  if (node == 0)
    for (const std::string& symbol : std::exchange(bound_in_[&graph], {}))
      symbols_.values.erase(symbol);
  graph_ = &graph;
  if (headings_) *headings_ << label_of(graph.nodes[node]) << "\n";
}

void ValueChecker::on_value(const io::Graph& graph, size_t node, const std::string& name,
                            const IValue& value) {
  graph_ = &graph;
  std::optional<std::string> fault;
  if (value.is_Tensor()) {
    fault = tensor_fault(value.to_tensor(), graph.meta_of(name));
  } else if (const auto recorded_at = graph.sym_values.find(name);
             recorded_at == graph.sym_values.end()) {
    fault = absl::StrCat(value.to_string(), ", recorded nothing");
  } else if (value.is_Double() || value.is_Bool()) {
    const io::Expression& recorded = recorded_at->second;
    if (recorded.is_known(symbols_.values)) {
      const SymValue number = recorded.evaluate(symbols_.values);
      const bool fits =
          number.is_symbolic() ||
          (value.is_Bool()
               ? number.kind() == SymKind::Bool && number.as_bool() == value.to_bool()
               : number.kind() == SymKind::Float && is_close(number.as_float(), value.to_double()));
      if (!fits) fault = absl::StrCat(value.to_string(), ", recorded ", recorded.to_string());
    }
  } else if (value.is_Int() || value.is_SymInt()) {
    const io::Expression& recorded = recorded_at->second;
    if (!is_as_recorded(value.to_sym_int(), recorded))
      fault = absl::StrCat(value.to_sym_int().to_string(), ", recorded ", known_text(recorded));
  }
  if (fault)
    faults_.push_back(absl::StrCat(graph.place_of(node), ": ", graph.nodes[node].target(),
                                   ": value '", name, "': ", *fault));
}

std::optional<std::string> ValueChecker::tensor_fault(const Tensor& tensor,
                                                      const io::ValueMeta& meta) {
  if (!tensor.defined()) return "undefined, recorded " + meta.describe();
  const SymIntArrayRef sizes = tensor.sym_sizes();
  bool fits = tensor.dtype() == meta.dtype && sizes.size() == meta.sizes.size();
  for (size_t i = 0; fits && i < sizes.size(); ++i) fits = is_as_recorded(sizes[i], meta.sizes[i]);
  if (!fits) {
    std::string recorded = absl::StrCat(std::string(to_string(meta.dtype)), "[");
    for (size_t i = 0; i < meta.sizes.size(); ++i)
      absl::StrAppend(&recorded, i ? ", " : "", known_text(meta.sizes[i]));
    return absl::StrCat(std::string(to_string(tensor.dtype())), list_text(sizes), ", recorded ",
                        recorded, "]");
  }
  if (!own_strides_ && has_several_elements(tensor)) {
    const SymIntArrayRef strides = tensor.sym_strides();
    for (size_t i = 0; i < strides.size(); ++i) {
      // A dimension of one element has no second that a stride would lead to.
      if (sizes[i].maybe_int() == 1 || is_as_recorded(strides[i], meta.strides[i])) continue;
      return absl::StrCat("strides ", list_text(strides), ", recorded ", list_text(meta.strides));
    }
  }
  const bool there = tensor.device().type == device_.type &&
                     (!device_.has_index() || tensor.device().index == device_.index);
  if (!there) return absl::StrCat(tensor.describe(), ", should be on ", to_string(device_));
  return std::nullopt;
}

// A symbol that is met for the first time, as what data decides, is what the run says it is.
bool ValueChecker::is_as_recorded(const SymInt& number, const io::Expression& recorded) {
  if (!recorded.is_known(symbols_.values)) {
    const auto symbol = recorded.symbol();
    if (!symbol) return true;  // its symbols are bound by a later value, if at all
    symbols_.values.emplace(*symbol, number.value());
    bound_in_[graph_].emplace_back(*symbol);
    return is_in_range(number, std::string(*symbol));
  }
  return same(number, recorded.evaluate_int(symbols_.values));
}

bool ValueChecker::is_in_range(const SymInt& number, const std::string& symbol) const {
  if (!symbols_.ranges || number.is_symbolic()) return true;
  const auto found = symbols_.ranges->find(symbol);
  if (found == symbols_.ranges->end()) return true;
  const int64_t value = number.expect_int();
  const auto& [min, max] = found->second;
  return (!min || value >= *min) && (!max || value <= *max);
}

bool ValueChecker::same(const SymInt& a, const SymInt& b) const {
  if (!a.is_symbolic() && !b.is_symbolic()) return a.expect_int() == b.expect_int();
  if (const auto known = statically_known(a == b)) return *known;
  if (!symbols_.env) return false;
  // Two forms of one number. Symbols that data decides get numbers of their own.
  std::vector<std::pair<std::string, int64_t>> unbacked;
  int64_t next = 3;
  for (const SymbolInfo& symbol : symbols_.env->symbols())
    if (symbol.unbacked && symbol.kind == SymKind::Int)
      unbacked.emplace_back(symbol.name, std::clamp(next++, symbol.range.low, symbol.range.high));
  for (SamplePoint point : symbols_.samples) {
    point.insert(point.end(), unbacked.begin(), unbacked.end());
    const auto left = symbols_.env->evaluate(a, point), right = symbols_.env->evaluate(b, point);
    if (!left || left != right) return false;
  }
  return !symbols_.samples.empty();
}

std::string ValueChecker::known_text(const io::Expression& recorded) const {
  if (recorded.is_constant() || !recorded.is_known(symbols_.values)) return recorded.to_string();
  const std::string here = recorded.evaluate_int(symbols_.values).to_string();
  return symbols_.env ? absl::StrCat(recorded.to_string(), " = ", here) : here;
}

}  // namespace sb::tools
