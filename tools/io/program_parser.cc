#include "switchboard/tools/io/program_parser.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/devices/saving/json_document.h"
#include "switchboard/devices/saving/quote.h"
#include "switchboard/tools/io/json_tensor_meta.h"

namespace sb::io {
namespace {

// The union `{"as_name"}` or a constant that the exporter gives symbolic numbers: only a constant
// has a value here.
JsonValue symbolic_constant(const JsonValue& json, std::string_view constant_tag) {
  const auto [tag, value] = json.only_member();
  if (tag == "as_name")
    json.fail<NotImplementedError>("symbolic numbers are not supported: ",
                                   quote(value.is_string() ? value.to_string() : ""));
  if (tag != constant_tag) json.fail("unknown tag ", quote(tag));
  return value;
}

bool is_identifier(absl::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

// Whether two fixed Python values are the same; NaN is the same as NaN.
bool same_constant(const Argument& a, const Argument& b) {
  const double* x = std::get_if<double>(&a);
  const double* y = std::get_if<double>(&b);
  if (x && y && *x != *x && *y != *y) return true;
  return a == b;
}

class Parser {
 public:
  explicit Parser(Program* program) : program_(*program) {}

  void parse(const JsonValue& root) {
    const JsonValue major = root.at("schema_version").at("major");
    if (major.to_int() != 8)
      major.fail<NotImplementedError>("schema major ", major.to_int(),
                                      " is not supported; expected 8");
    program_.schema_minor = root.at("schema_version").at("minor").to_int();
    if (const auto version = root.find("torch_version"))
      program_.torch_version = version->to_string();
    parse_dialect(root);

    const JsonValue graph_module = root.at("graph_module");
    const JsonValue graph = graph_module.at("graph");
    for (const char* field : {"sym_int_values", "sym_float_values", "sym_bool_values"}) {
      const auto values = graph.find(field);
      if (values && !values->members().empty())
        values->fail<NotImplementedError>("dynamic shapes are not supported: symbol ",
                                          quote(values->members().front().first));
    }
    for (const auto& [name, meta] : graph.at("tensor_values").members())
      program_.tensor_values.emplace(std::string(name), parse_tensor_meta(meta));

    const JsonValue signature = graph_module.at("signature");
    parse_inputs(graph.at("inputs"), signature.at("input_specs"));
    for (const JsonValue& node : graph.at("nodes").elements()) parse_node(node);
    parse_outputs(graph.at("outputs"), signature.at("output_specs"));
  }

 private:
  void parse_dialect(const JsonValue& root) {
    const auto verifiers = root.find("verifiers");
    if (!verifiers || verifiers->elements().empty()) return;  // the exporter's default is ATEN
    const auto names = verifiers->elements();
    if (names.size() != 1) verifiers->fail("expected one dialect, got ", names.size());
    const std::string& name = names[0].to_string();
    if (name == "TRAINING")
      program_.dialect = Dialect::Training;
    else if (name != "ATEN")
      names[0].fail<NotImplementedError>("dialect ", quote(name),
                                         " is not supported; expected ATEN or TRAINING");
  }

  // Names of the environment.

  void define(const JsonValue& where, const std::string& name) {
    if (name.empty()) where.fail("a name is empty");
    if (!defined_.insert(name).second) where.fail("the name ", quote(name), " is defined twice");
    if (!program_.tensor_values.contains(name)) where.fail("no tensor_values entry ", quote(name));
  }
  TensorRef use(const JsonValue& json) const {
    const std::string& name = json.at("name").to_string();
    if (!defined_.contains(name)) json.fail("the name ", quote(name), " is not defined before");
    return TensorRef{name};
  }
  TensorRef parse_definition(const JsonValue& json) {
    const std::string& name = json.at("name").to_string();
    define(json, name);
    return TensorRef{name};
  }
  std::optional<TensorRef> parse_optional_tensor(const JsonValue& json) const {
    const auto [tag, value] = json.only_member();
    if (tag == "as_tensor") return use(value);
    if (tag != "as_none") json.fail("unknown tag ", quote(tag));
    return std::nullopt;
  }

  // Arguments.

  template <class T, class F>
  static std::vector<T> parse_list(const JsonValue& json, F parse_element) {
    std::vector<T> result;
    for (const JsonValue& element : json.elements()) result.push_back(parse_element(element));
    return result;
  }

  // A None or a number or text, or nothing if `tag` says something else.
  static std::optional<Argument> parse_constant(std::string_view tag, const JsonValue& value) {
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

  Argument parse_argument(const JsonValue& json) const {
    const auto [tag, value] = json.only_member();
    if (auto constant = parse_constant(tag, value)) return *std::move(constant);
    if (tag == "as_tensor") return use(value);
    if (tag == "as_tensors")
      return parse_list<TensorRef>(value, [this](const JsonValue& v) { return use(v); });
    if (tag == "as_optional_tensors")
      return parse_list<std::optional<TensorRef>>(
          value, [this](const JsonValue& v) { return parse_optional_tensor(v); });
    if (tag == "as_optional_tensor") {
      if (auto tensor = parse_optional_tensor(value)) return *std::move(tensor);
      return None();
    }
    if (tag == "as_ints")
      return parse_list<int64_t>(value, [](const JsonValue& v) { return v.to_int(); });
    if (tag == "as_floats")
      return parse_list<double>(value, [](const JsonValue& v) { return v.to_double(); });
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

    if (tag == "as_sym_int") return symbolic_constant(value, "as_int").to_int();
    if (tag == "as_sym_float") return symbolic_constant(value, "as_float").to_double();
    if (tag == "as_sym_bool") return symbolic_constant(value, "as_bool").to_bool();
    if (tag == "as_sym_ints")
      return parse_list<int64_t>(
          value, [](const JsonValue& v) { return symbolic_constant(v, "as_int").to_int(); });
    if (tag == "as_sym_floats")
      return parse_list<double>(
          value, [](const JsonValue& v) { return symbolic_constant(v, "as_float").to_double(); });
    if (tag == "as_sym_bools")
      return parse_list<bool>(
          value, [](const JsonValue& v) { return symbolic_constant(v, "as_bool").to_bool(); });

    for (const char* known : {"as_graph", "as_custom_obj", "as_operator", "as_nested_tensors",
                              "as_int_lists", "as_float_lists", "as_string_to_argument"})
      if (tag == known) json.fail<NotImplementedError>("tag ", quote(tag), " is not supported");
    json.fail("unknown tag ", quote(tag));
  }

  // The graph.

  void parse_target(const JsonValue& json, Node* node) {
    const std::string& target = json.to_string();
    const std::vector<absl::string_view> parts = absl::StrSplit(target, '.');
    if (parts.size() < 2 || parts[0] != "torch" || parts[1] != "ops")
      json.fail<NotImplementedError>("target ", quote(target),
                                     " is not supported; expected torch.ops.NAMESPACE.OP.OVERLOAD");
    if (parts.size() > 2 && parts[2] == "higher_order")
      json.fail<NotImplementedError>("higher-order operator ", quote(target), " is not supported");
    if (parts.size() != 5 || !std::all_of(parts.begin() + 2, parts.end(), is_identifier))
      json.fail("target ", quote(target),
                " is malformed; expected torch.ops.NAMESPACE.OP.OVERLOAD");
    node->op = str_cat(parts[2], "::", parts[3]);
    if (parts[4] != "default") node->overload = std::string(parts[4]);
  }

  void parse_node(const JsonValue& json) {
    Node node;
    parse_target(json.at("target"), &node);
    absl::flat_hash_set<std::string> names;
    for (const JsonValue& input : json.at("inputs").elements()) {
      const std::string& name = input.at("name").to_string();
      if (name.empty()) input.fail("an argument's name is empty");
      if (!names.insert(name).second) input.fail("the argument ", quote(name), " is there twice");
      if (const auto kind = input.find("kind"); kind && kind->to_int() != 1 && kind->to_int() != 2)
        kind->fail("unknown kind ", kind->to_int(), "; expected 1 (positional) or 2 (keyword)");
      node.inputs.push_back({name, parse_argument(input.at("arg"))});
    }
    for (const JsonValue& output : json.at("outputs").elements())
      node.outputs.push_back(parse_node_output(output));
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
    program_.nodes.push_back(std::move(node));
  }

  NodeOutput parse_node_output(const JsonValue& json) {
    const auto [tag, value] = json.only_member();
    if (tag == "as_none") return None();
    if (tag == "as_tensor") return parse_definition(value);
    if (tag == "as_tensors")
      return parse_list<TensorRef>(value,
                                   [this](const JsonValue& v) { return parse_definition(v); });
    json.fail<NotImplementedError>("an output of tag ", quote(tag),
                                   " is not supported; expected as_tensor, as_tensors or as_none");
  }

  // The signature, which runs parallel to the graph's inputs and outputs.

  // Pairs of a value of the graph and its spec.
  static std::vector<std::pair<JsonValue, JsonValue>> zip_parallel(const JsonValue& arguments,
                                                                   const JsonValue& specs) {
    const std::vector<JsonValue> left = arguments.elements();
    const std::vector<JsonValue> right = specs.elements();
    if (left.size() != right.size())
      specs.fail(right.size(), " specs for ", left.size(), " values of the graph");
    std::vector<std::pair<JsonValue, JsonValue>> result;
    for (size_t i = 0; i < left.size(); ++i) result.emplace_back(left[i], right[i]);
    return result;
  }

  void parse_inputs(const JsonValue& arguments, const JsonValue& specs) {
    absl::flat_hash_set<std::string> constants;
    for (const auto& [argument, json] : zip_parallel(arguments, specs)) {
      InputSpec spec = parse_input_spec(json);
      if (spec.kind == InputKind::Constant) {
        const auto [tag, value] = argument.only_member();
        const auto constant = parse_constant(tag, value);
        if (!constant || !same_constant(*constant, spec.value))
          argument.fail("is not the constant that the signature gives for ", quote(spec.name));
        if (!constants.insert(spec.name).second)
          json.fail("the name ", quote(spec.name), " is defined twice");
      } else {
        const auto [tag, value] = argument.only_member();
        if (tag != "as_tensor")
          argument.fail<NotImplementedError>("an input of tag ", quote(tag), " is not supported");
        const TensorRef tensor = parse_definition(value);
        if (tensor.name != spec.name)
          json.fail("the signature says ", quote(spec.name), ", the graph ", quote(tensor.name));
        mutable_.emplace(spec.kind, spec.kind == InputKind::User ? spec.name : spec.target);
      }
      program_.inputs.push_back(std::move(spec));
    }
    for (const InputSpec& spec : program_.inputs)
      if (spec.kind == InputKind::Constant && defined_.contains(spec.name))
        specs.fail("the name ", quote(spec.name), " is defined twice");
  }

  static InputSpec parse_input_spec(const JsonValue& json) {
    const auto [tag, fields] = json.only_member();
    InputSpec spec;
    const auto bind = [&](InputKind kind, std::string_view target) {
      spec.kind = kind;
      spec.name = fields.at("arg").at("name").to_string();
      spec.target = fields.at(target).to_string();
    };
    if (tag == "parameter") {
      bind(InputKind::Parameter, "parameter_name");
    } else if (tag == "buffer") {
      bind(InputKind::Buffer, "buffer_name");
      spec.persistent = fields.at("persistent").to_bool();
    } else if (tag == "tensor_constant") {
      bind(InputKind::TensorConstant, "tensor_constant_name");
    } else if (tag == "user_input") {
      const JsonValue argument = fields.at("arg");
      const auto [argument_tag, value] = argument.only_member();
      if (argument_tag != "as_tensor")
        argument.fail<NotImplementedError>("a user input of tag ", quote(argument_tag),
                                           " is not supported");
      spec.name = value.at("name").to_string();
    } else if (tag == "constant_input") {
      spec.kind = InputKind::Constant;
      spec.name = fields.at("name").to_string();
      const auto [value_tag, value] = fields.at("value").only_member();
      auto constant = parse_constant(value_tag, value);
      if (!constant) fields.at("value").fail("unknown tag ", quote(value_tag));
      spec.value = *std::move(constant);
    } else if (tag == "custom_obj" || tag == "token") {
      json.fail<NotImplementedError>("an input spec of tag ", quote(tag), " is not supported");
    } else {
      json.fail("unknown tag ", quote(tag));
    }
    return spec;
  }

  void parse_outputs(const JsonValue& arguments, const JsonValue& specs) {
    absl::flat_hash_set<std::pair<OutputKind, std::string>> mutated;
    for (const auto& [argument, json] : zip_parallel(arguments, specs)) {
      OutputSpec spec = parse_output_spec(json);
      const auto [tag, value] = argument.only_member();
      const auto constant = parse_constant(tag, value);
      if (!constant && tag != "as_tensor")
        argument.fail<NotImplementedError>("an output of tag ", quote(tag), " is not supported");
      if (!same_constant(constant ? *constant : Argument(use(value)), spec.arg))
        json.fail("the signature and the graph disagree on this output");
      if (spec.kind != OutputKind::User && !mutated.emplace(spec.kind, spec.target).second)
        json.fail(quote(spec.target), " is mutated twice");
      program_.outputs.push_back(std::move(spec));
    }
  }

  OutputSpec parse_output_spec(const JsonValue& json) const {
    const auto [tag, fields] = json.only_member();
    OutputSpec spec;
    const auto mutate = [&, &fields = fields](OutputKind kind, std::string_view target,
                                              InputKind input_kind) {
      spec.kind = kind;
      spec.arg = use(fields.at("arg"));
      spec.target = fields.at(target).to_string();
      if (!mutable_.contains({input_kind, spec.target}))
        fields.at(target).fail("no input ", quote(spec.target), " of that kind");
    };
    if (tag == "user_output") {
      const JsonValue argument = fields.at("arg");
      const auto [argument_tag, value] = argument.only_member();
      if (auto constant = parse_constant(argument_tag, value))
        spec.arg = *std::move(constant);
      else if (argument_tag == "as_tensor")
        spec.arg = use(value);
      else
        argument.fail<NotImplementedError>("a user output of tag ", quote(argument_tag),
                                           " is not supported");
    } else if (tag == "buffer_mutation") {
      mutate(OutputKind::BufferMutation, "buffer_name", InputKind::Buffer);
    } else if (tag == "parameter_mutation") {
      mutate(OutputKind::ParameterMutation, "parameter_name", InputKind::Parameter);
    } else if (tag == "user_input_mutation") {
      mutate(OutputKind::UserInputMutation, "user_input_name", InputKind::User);
    } else if (tag == "loss_output" || tag == "gradient_to_parameter" ||
               tag == "gradient_to_user_input" || tag == "token") {
      json.fail<NotImplementedError>("an output spec of tag ", quote(tag), " is not supported");
    } else {
      json.fail("unknown tag ", quote(tag));
    }
    return spec;
  }

  Program& program_;
  absl::flat_hash_set<std::string> defined_;
  absl::flat_hash_set<std::string> node_names_;
  // What the graph's tensor inputs stand for, which is what mutations are written back to.
  absl::flat_hash_set<std::pair<InputKind, std::string>> mutable_;
};

}  // namespace

Program parse_program(std::string_view json, std::string origin) {
  const JsonDocument document = JsonDocument::parse(json, origin);
  Program program;
  program.origin = std::move(origin);
  Parser(&program).parse(document.root());
  return program;
}

}  // namespace sb::io
