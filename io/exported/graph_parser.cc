#include "switchboard/io/exported/graph_parser.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/exported/json_tensor_meta.h"
#include "switchboard/io/exported/sym_function.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

bool is_identifier(absl::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

template <class T, class F>
std::vector<T> parse_list(const JsonValue& json, F parse_element) {
  std::vector<T> result;
  for (const JsonValue& element : json.elements()) result.push_back(parse_element(element));
  return result;
}

std::string name_in(const JsonValue& json) { return json.at("name").to_string(); }

std::optional<TensorRef> parse_optional_tensor(const JsonValue& json) {
  const auto [tag, value] = json.only_member();
  if (tag == "as_tensor") return TensorRef{name_in(value)};
  if (tag != "as_none") json.fail("unknown tag ", quote(tag));
  return std::nullopt;
}

// Symbolic numbers: `{"as_name"}`, or a plain one under `plain`, which `get` reads.
template <class T>
std::variant<T, SymRef> parse_sym_number(const JsonValue& json, std::string_view plain,
                                         T (JsonValue::*get)() const) {
  const auto [tag, value] = json.only_member();
  if (tag == "as_name") return SymRef{value.to_string()};
  if (tag != plain) json.fail("unknown tag ", quote(tag));
  return (value.*get)();
}

template <class T>
Argument parse_sym(const JsonValue& json, std::string_view plain, T (JsonValue::*get)() const) {
  const auto number = parse_sym_number(json, plain, get);
  if (const auto* ref = std::get_if<SymRef>(&number)) return *ref;
  return std::get<T>(number);
}

// The same for lists, which are of plain numbers where all are plain.
template <class T>
Argument parse_syms(const JsonValue& json, std::string_view plain, T (JsonValue::*get)() const) {
  auto numbers = parse_list<std::variant<T, SymRef>>(
      json, [&](const JsonValue& v) { return parse_sym_number(v, plain, get); });
  const auto is_plain = [](const auto& number) { return std::holds_alternative<T>(number); };
  if (!std::ranges::all_of(numbers, is_plain)) return numbers;
  std::vector<T> values;
  for (const auto& number : numbers) values.push_back(std::get<T>(number));
  return values;
}

class GraphParser {
 public:
  explicit GraphParser(ParseNotes& notes) : notes_(notes) {}

  Graph parse(const JsonValue& json) {
    notes_.check_members(
        json, "a graph",
        {"inputs", "outputs", "nodes", "tensor_values", "sym_int_values", "sym_bool_values",
         "sym_float_values", "custom_obj_values", "is_single_tensor_return"});
    graph_.place = json.place();
    if (const auto single = json.find("is_single_tensor_return"))
      graph_.is_single_tensor_return = single->to_bool();
    for (const auto& [name, meta] : json.at("tensor_values").members())
      graph_.tensor_values.emplace(std::string(name), notes_.parse_value_meta(meta));
    parse_sym_values(json, "sym_int_values", "as_int");
    parse_sym_values(json, "sym_float_values", "as_float");
    parse_sym_values(json, "sym_bool_values", "as_bool");

    for (const JsonValue& input : json.at("inputs").elements())
      graph_.inputs.push_back(define(input, parse_reference(input)));
    for (const JsonValue& node : json.at("nodes").elements()) parse_node(node);
    for (const JsonValue& output : json.at("outputs").elements())
      graph_.outputs.push_back(use(output, parse_argument(output)));
    return std::move(graph_);
  }

 private:
  void parse_sym_values(const JsonValue& json, std::string_view member, std::string_view plain) {
    const auto values = json.find(member);
    if (!values) return;
    for (const auto& [name, value] : values->members())
      graph_.sym_values.emplace(std::string(name), notes_.parse_sym(value, plain));
  }

  // Names of the environment.

  enum class Kind { Tensor, Number, Other };

  Argument define(const JsonValue& where, Argument argument) {
    const bool of_tensors =
        std::holds_alternative<TensorRef>(argument) || std::holds_alternative<TensorRefs>(argument);
    const bool of_number = std::holds_alternative<SymRef>(argument);
    for_each_name(argument, [&](const std::string& name) {
      if (name.empty()) where.fail("a name is empty");
      const Kind kind = of_tensors ? Kind::Tensor : of_number ? Kind::Number : Kind::Other;
      if (!defined_.emplace(name, kind).second)
        where.fail("the name ", quote(name), " is defined twice");
      if (of_tensors && !graph_.tensor_values.contains(name))
        where.fail("no tensor_values entry ", quote(name));
      if (of_number && !graph_.sym_values.contains(name))
        where.fail("no sym_int_values, sym_float_values or sym_bool_values entry ", quote(name));
    });
    return argument;
  }
  // Lists of operands of higher-order operators have numbers and tokens among their tensors.
  Argument use(const JsonValue& where, Argument argument, bool mixed = false) const {
    const bool of_tensors = std::holds_alternative<TensorRef>(argument) ||
                            std::holds_alternative<TensorRefs>(argument) ||
                            std::holds_alternative<OptionalTensorRefs>(argument);
    const bool of_numbers =
        std::holds_alternative<SymRef>(argument) || std::holds_alternative<SymInts>(argument);
    for_each_name(argument, [&](const std::string& name) {
      const auto found = defined_.find(name);
      if (found == defined_.end()) where.fail("the name ", quote(name), " is not defined before");
      if (mixed) return;
      if (of_tensors && found->second == Kind::Number)
        where.fail("expected a tensor, ", quote(name), " is a number");
      if (of_numbers && found->second != Kind::Number)
        where.fail("expected a number, ", quote(name), " is none");
    });
    return argument;
  }

  // Arguments.

  Argument parse_argument(const JsonValue& json) {
    const auto [tag, value] = json.only_member();
    if (auto constant = parse_constant(tag, value)) return *std::move(constant);
    if (tag == "as_tensor") return TensorRef{name_in(value)};
    if (tag == "as_tensors") return parse_tensors(value);
    if (tag == "as_optional_tensors")
      return parse_list<std::optional<TensorRef>>(value, parse_optional_tensor);
    if (tag == "as_optional_tensor") {
      if (auto tensor = parse_optional_tensor(value)) return *std::move(tensor);
      return None();
    }
    if (tag == "as_ints") return parse_ints(value);
    if (tag == "as_floats") return parse_floats(value);
    if (tag == "as_bools")
      return parse_list<bool>(value, [](const JsonValue& v) { return v.to_bool(); });
    if (tag == "as_strings")
      return parse_list<std::string>(value, [](const JsonValue& v) { return v.to_string(); });
    if (tag == "as_complex")
      return std::complex<double>(value.at("real").to_double(), value.at("imag").to_double());
    if (tag == "as_scalar_type") return parse_scalar_type(value);
    if (tag == "as_layout") return parse_layout(value);
    if (tag == "as_memory_format") return parse_memory_format(value);
    if (tag == "as_device") return parse_device(value);

    if (tag == "as_sym_int") return parse_sym(value, "as_int", &JsonValue::to_int);
    if (tag == "as_sym_float") return parse_sym(value, "as_float", &JsonValue::to_double);
    if (tag == "as_sym_bool") return parse_sym(value, "as_bool", &JsonValue::to_bool);
    if (tag == "as_sym_ints") return parse_syms(value, "as_int", &JsonValue::to_int);
    if (tag == "as_sym_floats") return parse_syms(value, "as_float", &JsonValue::to_double);
    if (tag == "as_sym_bools") return parse_syms(value, "as_bool", &JsonValue::to_bool);

    if (tag == "as_graph")
      return GraphRef{name_in(value),
                      std::make_shared<Graph>(GraphParser(notes_).parse(value.at("graph")))};
    if (tag == "as_custom_obj") return ObjectRef{name_in(value), value.at("class_fqn").to_string()};
    if (tag == "as_operator") return OperatorRef{value.to_string()};
    if (tag == "as_nested_tensors") return parse_list<TensorRefs>(value, parse_tensors);
    if (tag == "as_int_lists") return parse_list<std::vector<int64_t>>(value, parse_ints);
    if (tag == "as_float_lists") return parse_list<std::vector<double>>(value, parse_floats);
    if (tag == "as_string_to_argument") {
      std::vector<NamedArgument> entries;
      for (const auto& [name, entry] : value.members())
        entries.push_back({std::string(name), parse_argument(entry)});
      return std::make_shared<const std::vector<NamedArgument>>(std::move(entries));
    }
    return UnknownArgument{std::string(tag)};
  }

  static TensorRefs parse_tensors(const JsonValue& json) {
    return parse_list<TensorRef>(json, [](const JsonValue& v) { return TensorRef{name_in(v)}; });
  }
  static std::vector<int64_t> parse_ints(const JsonValue& json) {
    return parse_list<int64_t>(json, [](const JsonValue& v) { return v.to_int(); });
  }
  static std::vector<double> parse_floats(const JsonValue& json) {
    return parse_list<double>(json, [](const JsonValue& v) { return v.to_double(); });
  }

  // Nodes.

  static void parse_target(const JsonValue& json, Node* node) {
    const std::string& target = json.to_string();
    const std::vector<absl::string_view> parts = absl::StrSplit(target, '.');
    if (parts.size() < 2 || parts[0] != "torch" || parts[1] != "ops") {
      node->kind = find_sym_function(target) ? TargetKind::SymFunction : TargetKind::Other;
      node->op = target;
      return;
    }
    const bool higher_order = parts.size() == 4 && parts[2] == "higher_order";
    if ((parts.size() != 5 && !higher_order) ||
        !std::all_of(parts.begin() + 2, parts.end(), is_identifier))
      json.fail("target ", quote(target),
                " is malformed; expected torch.ops.NAMESPACE.OP.OVERLOAD");
    node->kind = higher_order ? TargetKind::HigherOrder : TargetKind::Operator;
    node->op = str_cat(parts[2], "::", parts[3]);
    if (!higher_order && parts[4] != "default") node->overload = std::string(parts[4]);
  }

  void parse_node(const JsonValue& json) {
    notes_.check_members(
        json, "a node",
        {"target", "inputs", "outputs", "metadata", "is_hop_single_tensor_return", "name"});
    Node node;
    parse_target(json.at("target"), &node);
    absl::flat_hash_set<std::string> names;
    for (const JsonValue& input : json.at("inputs").elements()) {
      notes_.check_members(input, "an argument", {"name", "arg", "kind"});
      std::string name = name_in(input);
      // What has no schema gets its arguments by their order.
      if (name.empty() && node.kind == TargetKind::Operator)
        input.fail("an argument's name is empty");
      if (!name.empty() && !names.insert(name).second)
        input.fail("the argument ", quote(name), " is there twice");
      if (const auto kind = input.find("kind"); kind && kind->to_int() != 1 && kind->to_int() != 2)
        kind->fail("unknown kind ", kind->to_int(), "; expected 1 (positional) or 2 (keyword)");
      const JsonValue value = input.at("arg");
      node.inputs.push_back({std::move(name), use(value, parse_argument(value),
                                                  node.kind == TargetKind::HigherOrder)});
    }
    for (const JsonValue& output : json.at("outputs").elements()) {
      Argument value = parse_node_output(output);
      // The next token, which files write as a tensor without metadata.
      const auto* ref = std::get_if<TensorRef>(&value);
      if (ref && node.op == "higher_order::with_effects" && node.outputs.empty())
        value = TokenRef{ref->name};
      node.outputs.push_back(define(output, std::move(value)));
    }
    if (const auto name = json.find("name")) {
      node.name = name->to_string();
      if (!node.name.empty() && !node_names_.insert(node.name).second)
        name->fail("the node name ", quote(node.name), " is there twice");
    }
    if (const auto metadata = json.find("metadata")) {
      if (const auto text = metadata->find("stack_trace")) node.stack_trace = text->to_string();
      if (const auto text = metadata->find("nn_module_stack"))
        node.nn_module_stack = text->to_string();
    }
    graph_.nodes.push_back(std::move(node));
  }

  Argument parse_node_output(const JsonValue& json) {
    Argument output = parse_argument(json);
    // What a node gives needs a name; a constant result has none and is not used.
    if (std::holds_alternative<GraphRef>(output) || std::holds_alternative<ArgumentMap>(output))
      json.fail("a node cannot give a ", kind_of(output));
    return output;
  }

  ParseNotes& notes_;
  Graph graph_;
  absl::flat_hash_map<std::string, Kind> defined_;
  absl::flat_hash_set<std::string> node_names_;
};

}  // namespace

std::optional<Argument> parse_constant(std::string_view tag, const JsonValue& value) {
  if (tag == "as_none") {
    if (!value.to_bool()) value.fail("expected true");
    return None();
  }
  if (tag == "as_int") return value.to_int();
  if (tag == "as_float") return value.to_double();
  if (tag == "as_bool") return value.to_bool();
  if (tag == "as_string") return value.to_string();
  return std::nullopt;
}

Argument parse_reference(const JsonValue& json) {
  const auto [tag, value] = json.only_member();
  if (auto constant = parse_constant(tag, value)) return *std::move(constant);
  if (tag == "as_tensor") return TensorRef{name_in(value)};
  if (tag == "as_sym_int") return parse_sym(value, "as_int", &JsonValue::to_int);
  if (tag == "as_sym_float") return parse_sym(value, "as_float", &JsonValue::to_double);
  if (tag == "as_sym_bool") return parse_sym(value, "as_bool", &JsonValue::to_bool);
  if (tag == "as_custom_obj") return ObjectRef{name_in(value), value.at("class_fqn").to_string()};
  if (tag == "as_token") return TokenRef{name_in(value)};
  json.fail<NotImplementedError>("a value of tag ", quote(tag), " is not supported here");
}

Graph parse_graph(const JsonValue& json, ParseNotes& notes) {
  return GraphParser(notes).parse(json);
}

}  // namespace sb::io
