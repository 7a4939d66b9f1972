#include "switchboard/io/exported/program_parser.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/exported/graph_parser.h"
#include "switchboard/io/exported/parse_notes.h"
#include "switchboard/io/safetensors/json_document.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

// Whether two values are the same; NaN is the same as NaN.
bool same_value(const Argument& a, const Argument& b) {
  const double* x = std::get_if<double>(&a);
  const double* y = std::get_if<double>(&b);
  if (x && y && *x != *x && *y != *y) return true;
  return a == b;
}

// The name of what a graph takes or gives, or what it is.
std::string name_of(const Argument& argument) {
  std::string text(kind_of(argument));
  for_each_name(argument, [&](const std::string& name) { text = name; });
  return text;
}

// Pairs of a value of the graph and its spec: the signature runs parallel to the graph.
std::vector<std::pair<const Argument*, JsonValue>> zip_parallel(
    const std::vector<Argument>& arguments, const JsonValue& specs) {
  const std::vector<JsonValue> right = specs.elements();
  if (arguments.size() != right.size())
    specs.fail(right.size(), " specs for ", arguments.size(), " values of the graph");
  std::vector<std::pair<const Argument*, JsonValue>> result;
  for (size_t i = 0; i < right.size(); ++i) result.emplace_back(&arguments[i], right[i]);
  return result;
}

struct InputTag {
  std::string_view tag;
  InputKind kind;
  std::string_view target;  // the field that names it
};
constexpr InputTag kInputTags[] = {
    {"parameter", InputKind::Parameter, "parameter_name"},
    {"buffer", InputKind::Buffer, "buffer_name"},
    {"tensor_constant", InputKind::TensorConstant, "tensor_constant_name"},
    {"custom_obj", InputKind::CustomObject, "custom_obj_name"},
    {"token", InputKind::Token, ""},
};

struct OutputTag {
  std::string_view tag;
  OutputKind kind;
  std::string_view target;  // the field that names the input that it belongs to
  InputKind input;          // of that kind
};
constexpr OutputTag kOutputTags[] = {
    {"loss_output", OutputKind::Loss, "", {}},
    {"buffer_mutation", OutputKind::BufferMutation, "buffer_name", InputKind::Buffer},
    {"parameter_mutation", OutputKind::ParameterMutation, "parameter_name", InputKind::Parameter},
    {"user_input_mutation", OutputKind::UserInputMutation, "user_input_name", InputKind::User},
    {"gradient_to_parameter", OutputKind::GradientToParameter, "parameter_name",
     InputKind::Parameter},
    {"gradient_to_user_input", OutputKind::GradientToUserInput, "user_input_name", InputKind::User},
    {"token", OutputKind::Token, "", {}},
};

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
    notes_.check_members(root, "a program",
                         {"graph_module", "opset_version", "range_constraints", "schema_version",
                          "verifiers", "torch_version", "guards_code"});

    const JsonValue graph_module = root.at("graph_module");
    notes_.check_members(
        graph_module, "a graph module",
        {"graph", "signature", "module_call_graph", "metadata", "treespec_namedtuple_fields"});
    program_.graph = parse_graph(graph_module.at("graph"), notes_);
    const JsonValue signature = graph_module.at("signature");
    parse_inputs(signature.at("input_specs"));
    parse_outputs(signature.at("output_specs"));
    parse_ranges(root);
    program_.hints = notes_.hints();
    program_.warnings.assign(notes_.warnings().begin(), notes_.warnings().end());
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

  void parse_ranges(const JsonValue& root) {
    if (const auto ranges = root.find("range_constraints")) {
      for (const auto& [symbol, json] : ranges->members()) {
        SymbolRange range;
        if (const auto min = json.find("min_val")) range.min = min->to_int();
        if (const auto max = json.find("max_val")) range.max = max->to_int();
        if (range.min && range.max && *range.min > *range.max)
          json.fail("no number is at least ", *range.min, " and at most ", *range.max);
        program_.ranges.emplace(symbol, range);
      }
    }
    if (const auto guards = root.find("guards_code"))
      for (const JsonValue& guard : guards->elements())
        program_.guards.push_back(guard.to_string());
  }

  void parse_inputs(const JsonValue& specs) {
    absl::flat_hash_set<std::string> names;
    for (const auto& [argument, json] : zip_parallel(program_.graph.inputs, specs)) {
      InputSpec spec = parse_input_spec(json);
      if (spec.kind == InputKind::Token ? name_of(*argument) != spec.name
                                        : !same_value(*argument, spec.value)) {
        if (spec.kind == InputKind::Constant)
          json.fail("is not the constant that the graph has for ", quote(spec.name));
        json.fail("the signature says ", quote(spec.name), ", the graph ",
                  quote(name_of(*argument)));
      }
      if (!names.insert(spec.name).second)
        json.fail("the name ", quote(spec.name), " is defined twice");
      inputs_.emplace(spec.kind, spec.kind == InputKind::User ? spec.name : spec.target);
      program_.inputs.push_back(std::move(spec));
    }
  }

  static InputSpec parse_input_spec(const JsonValue& json) {
    const auto [tag, fields] = json.only_member();
    InputSpec spec;
    if (tag == "user_input") {
      spec.value = parse_reference(fields.at("arg"));
      spec.name = name_of(spec.value);
      return spec;
    }
    if (tag == "constant_input") {
      spec.kind = InputKind::Constant;
      spec.name = fields.at("name").to_string();
      const auto [value_tag, value] = fields.at("value").only_member();
      auto constant = parse_constant(value_tag, value);
      if (!constant) fields.at("value").fail("unknown tag ", quote(value_tag));
      spec.value = *std::move(constant);
      return spec;
    }
    const auto* known = std::ranges::find(kInputTags, tag, &InputTag::tag);
    if (known == std::end(kInputTags)) json.fail("unknown tag ", quote(tag));
    spec.kind = known->kind;
    const JsonValue argument = fields.at("arg");
    spec.name = argument.at("name").to_string();
    if (!known->target.empty()) spec.target = fields.at(known->target).to_string();
    if (spec.kind == InputKind::Buffer) spec.persistent = fields.at("persistent").to_bool();
    if (spec.kind == InputKind::CustomObject)
      spec.value = ObjectRef{spec.name, argument.at("class_fqn").to_string()};
    else if (spec.kind == InputKind::Token)
      spec.value = TokenRef{spec.name};
    else
      spec.value = TensorRef{spec.name};
    return spec;
  }

  void parse_outputs(const JsonValue& specs) {
    absl::flat_hash_set<std::pair<OutputKind, std::string>> mutated;
    for (const auto& [argument, json] : zip_parallel(program_.graph.outputs, specs)) {
      OutputSpec spec = parse_output_spec(json);
      if (spec.kind == OutputKind::Token ? name_of(*argument) != name_of(spec.arg)
                                         : !same_value(*argument, spec.arg))
        json.fail("the signature and the graph disagree on this output");
      if (is_mutation(spec.kind) && !mutated.emplace(spec.kind, spec.target).second)
        json.fail(quote(spec.target), " is mutated twice");
      program_.outputs.push_back(std::move(spec));
    }
  }

  OutputSpec parse_output_spec(const JsonValue& json) const {
    const auto [tag, fields] = json.only_member();
    OutputSpec spec;
    if (tag == "user_output") {
      spec.arg = parse_reference(fields.at("arg"));
      return spec;
    }
    const auto* known = std::ranges::find(kOutputTags, tag, &OutputTag::tag);
    if (known == std::end(kOutputTags)) json.fail("unknown tag ", quote(tag));
    spec.kind = known->kind;
    const std::string name = fields.at("arg").at("name").to_string();
    if (spec.kind == OutputKind::Token)
      spec.arg = TokenRef{name};
    else
      spec.arg = TensorRef{name};
    if (known->target.empty()) return spec;
    spec.target = fields.at(known->target).to_string();
    if (!inputs_.contains({known->input, spec.target}))
      fields.at(known->target).fail("no input ", quote(spec.target), " of that kind");
    return spec;
  }

  Program& program_;
  ParseNotes notes_;
  // What the graph's inputs stand for, which is what mutations are written back to.
  absl::flat_hash_set<std::pair<InputKind, std::string>> inputs_;
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
