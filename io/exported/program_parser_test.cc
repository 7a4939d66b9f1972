#include "switchboard/io/exported/program_parser.h"

#include <limits>

#include "switchboard/io/exported/test_support.h"

namespace sb::io {
namespace {

using Catch::Contains;
using Catch::StartsWith;

Program parse(const std::string& json) { return parse_program(json, "m.json"); }
std::string parse_error(const std::string& json) {
  return error_of([&] { parse(json); });
}

// small_program() with the argument `alpha` replaced, and its value.
Argument parse_alpha(const std::string& json) {
  return parse(replaced(small_program(), R"({"as_int": 2}, "kind": 2)", json))
      .graph.nodes[0]
      .inputs[2]
      .value;
}

TEST_CASE("a program is read whole", "[io][program]") {
  const Program program = parse(small_program());
  CHECK(program.dialect == Dialect::Aten);
  CHECK(program.schema_minor == 20);
  CHECK(program.torch_version == "2.9.0");
  REQUIRE(program.inputs.size() == 2);
  CHECK(program.inputs[0].kind == InputKind::Parameter);
  CHECK(program.inputs[0].name == "p_w");
  CHECK(program.inputs[0].target == "w");
  CHECK(program.inputs[1].kind == InputKind::User);
  CHECK(program.inputs[1].name == "x");
  REQUIRE(program.outputs.size() == 1);
  CHECK(program.outputs[0].arg == Argument(TensorRef{"add"}));
  REQUIRE(program.graph.nodes.size() == 1);
  const Node& node = program.graph.nodes[0];
  CHECK(node.target() == "aten::add.Tensor");
  CHECK(node.inputs[0].name == "self");
  CHECK(node.inputs[0].value == Argument(TensorRef{"x"}));
  CHECK(node.inputs[2].value == Argument(int64_t{2}));
  CHECK(node.outputs[0] == Argument(TensorRef{"add"}));
  CHECK(node.stack_trace == "net.py, line 3");
  CHECK(program.graph.place_of(0) == "m.json: graph_module/graph/nodes[0] (add_1)");
  CHECK(program.graph.meta_of("x").describe() == "float32[2, 3]");
  CHECK_THAT(error_of([&] { program.graph.meta_of("y"); }), Contains("no tensor_values entry 'y'"));
}

TEST_CASE("the default overload has no name", "[io][program]") {
  const Node node = parse(replaced(small_program(), "add.Tensor", "relu.default")).graph.nodes[0];
  CHECK(node.op == "aten::relu");
  CHECK(node.overload == "");
  CHECK(node.target() == "aten::relu");
}

TEST_CASE("every argument tag has its alternative", "[io][program]") {
  CHECK(parse_alpha(R"({"as_none": true})") == Argument(None()));
  CHECK(parse_alpha(R"({"as_ints": []})") == Argument(std::vector<int64_t>()));
  CHECK(parse_alpha(R"({"as_ints": [1, -2]})") == Argument(std::vector<int64_t>{1, -2}));
  CHECK(parse_alpha(R"({"as_float": 1})") == Argument(1.0));
  CHECK(parse_alpha(R"({"as_floats": [0.5, "NaN"]})").index() ==
        Argument(std::vector<double>()).index());
  CHECK(parse_alpha(R"({"as_bool": false})") == Argument(false));
  CHECK(parse_alpha(R"({"as_bools": [true, false]})") == Argument(std::vector<bool>{true, false}));
  CHECK(parse_alpha(R"({"as_string": "mean"})") == Argument(std::string("mean")));
  CHECK(parse_alpha(R"({"as_strings": ["a"]})") == Argument(std::vector<std::string>{"a"}));
  CHECK(parse_alpha(R"({"as_complex": {"real": 1, "imag": "-Infinity"}})") ==
        Argument(std::complex<double>(1, -std::numeric_limits<double>::infinity())));
  CHECK(parse_alpha(R"({"as_scalar_type": 13})") == Argument(DType::BFloat16));
  CHECK(parse_alpha(R"({"as_layout": 7})") == Argument(Layout::Strided));
  CHECK(parse_alpha(R"({"as_memory_format": 2})") == Argument(MemoryFormat::ChannelsLast));
  CHECK(parse_alpha(R"({"as_device": {"type": "cpu", "index": null}})") ==
        Argument(Device(DeviceType::CPU)));
  CHECK(parse_alpha(R"({"as_tensors": [{"name": "x"}, {"name": "p_w"}]})") ==
        Argument(TensorRefs{{"x"}, {"p_w"}}));
  CHECK(parse_alpha(
            R"({"as_optional_tensors": [{"as_tensor": {"name": "x"}}, {"as_none": true}]})") ==
        Argument(OptionalTensorRefs{TensorRef{"x"}, std::nullopt}));
  CHECK(parse_alpha(R"({"as_optional_tensor": {"as_tensor": {"name": "x"}}})") ==
        Argument(TensorRef{"x"}));
  CHECK(parse_alpha(R"({"as_optional_tensor": {"as_none": true}})") == Argument(None()));
  CHECK(parse_alpha(R"({"as_sym_int": {"as_int": 3}})") == Argument(int64_t{3}));
  CHECK(parse_alpha(R"({"as_sym_ints": [{"as_int": 3}]})") == Argument(std::vector<int64_t>{3}));
}

TEST_CASE("integers are exact to the limits of int64", "[io][program]") {
  CHECK(parse_alpha(R"({"as_int": 9223372036854775807})") == Argument(INT64_MAX));
  CHECK(parse_alpha(R"({"as_int": -9223372036854775808})") == Argument(INT64_MIN));
  CHECK(parse_alpha(R"({"as_int": 9007199254740993})") == Argument(int64_t{9007199254740993}));
  const auto fails = [](const std::string& number) {
    return parse_error(
        replaced(small_program(), R"({"as_int": 2}, "kind": 2)", R"({"as_int": )" + number + "}"));
  };
  CHECK_THAT(fails("9223372036854775808"), Contains("does not fit int64"));
  CHECK_THAT(fails("100000000000000000000"), Contains("expected an integer, got a number"));
  CHECK_THAT(fails("1.0"), Contains("expected an integer, got a number"));
  CHECK_THAT(fails("true"), Contains("expected an integer, got a bool"));
}

TEST_CASE("a node may return nothing, tensors and lists of them", "[io][program]") {
  std::string json = small_program();
  json = replaced(json, R"("outputs": [{"as_tensor": {"name": "add"}}],
      "metadata")",
                  R"("outputs": [{"as_none": true}, {"as_tensors": [{"name": "add"}]}],
      "metadata")");
  const Node node = parse(json).graph.nodes[0];
  REQUIRE(node.outputs.size() == 2);
  CHECK(node.outputs[0] == Argument(None()));
  CHECK(node.outputs[1] == Argument(TensorRefs{{"add"}}));
}

TEST_CASE("mutations and constant inputs are part of the signature", "[io][program]") {
  std::string json = small_program();
  json = replaced(json, R"({"as_tensor": {"name": "x"}}],)", R"({"as_tensor": {"name": "x"}},
    {"as_int": 3}],)");
  json = replaced(json, R"({"user_input": {"arg": {"as_tensor": {"name": "x"}}}}])",
                  R"({"user_input": {"arg": {"as_tensor": {"name": "x"}}}},
                     {"constant_input": {"name": "n", "value": {"as_int": 3}}}])");
  json = replaced(json, R"({"user_output": {"arg": {"as_tensor": {"name": "add"}}}})",
                  R"({"user_input_mutation": {"arg": {"name": "add"}, "user_input_name": "x"}})");
  const Program program = parse(json);
  CHECK(program.inputs[2].kind == InputKind::Constant);
  CHECK(program.inputs[2].value == Argument(int64_t{3}));
  CHECK(program.outputs[0].kind == OutputKind::UserInputMutation);
  CHECK(program.outputs[0].target == "x");
  CHECK_THAT(parse_error(replaced(json, R"("value": {"as_int": 3})", R"("value": {"as_int": 4})")),
             Contains("is not the constant that the graph has for 'n'"));
  CHECK_THAT(
      parse_error(replaced(json, R"("user_input_name": "x")", R"("user_input_name": "p_w")")),
      Contains("no input 'p_w' of that kind"));
}

struct Refusal {
  const char* from;
  const char* to;
  const char* error;  // a part of "Kind: message"
};

TEST_CASE("what cannot be run is refused with its place", "[io][program]") {
  const Refusal refusal = GENERATE(values<Refusal>({
      {R"("major": 8)", R"("major": 9)",
       "NotImplementedError: m.json: schema_version/major: schema major 9 is not supported"},
      {R"("ATEN")", R"("EDGE")", "NotImplementedError: m.json: verifiers[0]: dialect 'EDGE'"},
      {R"("sym_int_values": {})", R"("sym_int_values": {"s0": {}})",
       "expected one tag, got 0 fields"},
      {R"({"as_int": 3}], "requires_grad")", R"({"as_expr": {"expr_str": "s0"}}], "requires_grad")",
       "ValueError: m.json: graph_module/graph/tensor_values/p_w/sizes[1]/as_expr/expr_str: "
       "expression 's0': expected '(' at character 2"},
      {R"({"as_int": 3}], "requires_grad")",
       R"x({"as_expr": {"expr_str": "Gamma(Integer(3))"}}], "requires_grad")x",
       "the function 'Gamma' is not supported"},
      {R"("dtype": 7)", R"("dtype": 28)", "dtype uint16 is not supported"},
      {R"("dtype": 7)", R"("dtype": 9)", "dtype complex32 is not supported"},
      {R"("dtype": 7)", R"("dtype": 99)",
       "ValueError: m.json: graph_module/graph/tensor_values/"
       "p_w/dtype: unknown scalar type 99"},
      {R"("layout": 7)", R"("layout": 2)", "layout sparse_csr is not supported"},
      {R"("layout": 7)", R"("layout": 0)", "unknown layout 0"},
      {R"("type": "cpu")", R"("type": "cuda")", "device 'cuda' is not supported; expected cpu"},
      {R"([{"as_int": 2}, {"as_int": 3}])", R"([{"as_int": -2}, {"as_int": 3}])",
       "is negative: -2"},
      {R"([{"as_int": 2}, {"as_int": 3}])", R"([{"as_int": 3}])", "1 sizes but 2 strides"},
      {R"([{"as_int": 2}, {"as_int": 3}])", R"([{"as_int": 9223372036854775807}, {"as_int": 3}])",
       "does not fit int64"},
      {"torch.ops.aten.add.Tensor", "torch.ops.aten.add", "is malformed"},
      {"torch.ops.aten.add.Tensor", "torch.ops.aten..Tensor", "is malformed"},
      {"torch.ops.aten.add.Tensor", "torch.ops.aten.a d.Tensor", "is malformed"},
      {R"({"as_int": 2}, "kind")", R"({"as_int": 2, "as_none": null}, "kind")",
       "expected one tag, got 2 fields"},
      {R"({"as_int": 2}, "kind")", R"({"as_graph": {}}, "kind")",
       "ValueError: m.json: graph_module/graph/nodes[0] (add_1)/inputs[2] (alpha)/arg/as_graph: no "
       "field 'name'"},
      {R"({"as_int": 2}, "kind")", R"({"as_sym_int": {"as_name": "s0"}}, "kind")",
       "the name 's0' is not defined before"},
      {R"({"as_int": 2}, "kind")", R"({"as_float": "inf"}, "kind")",
       "expected a number, got 'inf'"},
      {R"("kind": 2)", R"("kind": 3)", "unknown kind 3"},
      {R"("name": "other")", R"("name": "self")", "the argument 'self' is there twice"},
      {R"({"name": "x"}}, "kind")", R"({"name": "y"}}, "kind")",
       "inputs[0] (self)/arg: the name 'y' is not defined before"},
      {R"({"name": "x"}}, "kind")", R"({"name": "add"}}, "kind")",
       "the name 'add' is not defined before"},
      {R"([{"as_tensor": {"name": "add"}}],
      "metadata")",
       R"([{"as_tensor": {"name": "x"}}],
      "metadata")",
       "the name 'x' is defined twice"},
      {R"([{"as_tensor": {"name": "add"}}],
      "metadata")",
       R"([{"as_tensor": {"name": "sub"}}],
      "metadata")",
       "no tensor_values entry 'sub'"},
      {R"("outputs": [{"as_tensor": {"name": "add"}}],
    "nodes")",
       R"("outputs": [{"as_tensor": {"name": "gone"}}],
    "nodes")",
       "the name 'gone' is not defined before"},
      {R"("outputs": [{"as_tensor": {"name": "add"}}],
    "nodes")",
       R"("outputs": [{"as_tensor": {"name": "x"}}],
    "nodes")",
       "the signature and the graph disagree"},
      {R"([{"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "x"}}])",
       R"([{"as_tensor": {"name": "x"}}, {"as_tensor": {"name": "p_w"}}])",
       "the signature says 'p_w', the graph 'x'"},
      {R"([{"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "x"}}])",
       R"([{"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "x"}}, {"as_int": 1}])",
       "2 specs for 3 values"},
      {R"({"user_input": {)", R"({"wish": {)", "unknown tag 'wish'"},
      {R"({"user_output": {)", R"({"wish": {)", "unknown tag 'wish'"},
      {R"("x": {"dtype")", R"("p_w": {"dtype")", "the name 'p_w' is there twice in one object"},
      {R"("schema_version")", R"("no_version")", "ValueError: m.json: no field 'schema_version'"},
      {R"("2.9.0")", "\"\xff\"", "ValueError: m.json: byte "},
      {R"("2.9.0")", "1e999", "ValueError: m.json: byte "},
      {R"("2.9.0")", "NaN", "ValueError: m.json: byte "},
  }));
  CHECK_THAT(parse_error(replaced(small_program(), refusal.from, refusal.to)),
             Contains(refusal.error));
}

TEST_CASE("unknown fields are warned of and optional ones may be absent", "[io][program]") {
  std::string json = small_program();
  json = replaced(json, R"("kind": 2)", R"("kind": null, "novelty": {"a": [1]})");
  json = replaced(json, R"(, "name": "add_1")", "");
  json = replaced(json, R"(, "verifiers": ["ATEN"])", "");
  const Program program = parse(json);
  CHECK(program.graph.nodes[0].name == "");
  CHECK(program.graph.place_of(0) == "m.json: graph_module/graph/nodes[0]");
  CHECK(program.warnings ==
        std::vector<std::string>{"unknown field 'novelty' of an argument is ignored"});
}

TEST_CASE("what the reader does not know of a node is kept for whoever runs it", "[io][program]") {
  CHECK(parse_alpha(R"({"as_foo": 2})") == Argument(UnknownArgument{"as_foo"}));
  const auto kind_for = [](const char* target) {
    return parse(replaced(small_program(), "torch.ops.aten.add.Tensor", target))
        .graph.nodes[0]
        .kind;
  };
  CHECK(kind_for("torch.ops.aten.add.Tensor") == TargetKind::Operator);
  CHECK(kind_for("torch.ops.higher_order.cond") == TargetKind::HigherOrder);
  CHECK(kind_for("_operator.mul") == TargetKind::SymFunction);
  CHECK(kind_for("#aten:add") == TargetKind::Other);
}

// small_program() with x of s0 rows, and the ranges and guards that go with them.
std::string dynamic_program() {
  std::string json = small_program();
  const std::string symbol =
      R"x({"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", )x"
      R"("hint": {"as_int": 2}}})";
  json = replaced(json, R"("x": {"dtype": 7, "sizes": [{"as_int": 2}, )",
                  R"("x": {"dtype": 7, "sizes": [)" + symbol + ", ");
  return replaced(json, R"("verifiers")",
                  R"("range_constraints": {"s0": {"min_val": 2, "max_val": 64}},
    "guards_code": ["L['x'].size()[0] <= 64"], "verifiers")");
}

TEST_CASE("sizes may be expressions of symbols", "[io][program]") {
  const Program program = parse(dynamic_program());
  CHECK(program.is_dynamic());
  CHECK_FALSE(parse(small_program()).is_dynamic());
  CHECK(program.graph.meta_of("x").describe() == "float32[s0, 3]");
  CHECK(program.hints.at("s0").as_int() == 2);
  CHECK(program.ranges.at("s0") == SymbolRange{2, 64});
  CHECK(program.guards == std::vector<std::string>{"L['x'].size()[0] <= 64"});
}

TEST_CASE("loss, gradients and tokens are results of a program", "[io][program]") {
  const auto kind_of_output = [](const std::string& spec) {
    return parse(replaced(small_program(),
                          R"({"user_output": {"arg": {"as_tensor": {"name": "add"}}}})", spec))
        .outputs[0]
        .kind;
  };
  CHECK(kind_of_output(R"({"loss_output": {"arg": {"name": "add"}}})") == OutputKind::Loss);
  CHECK(kind_of_output(
            R"({"gradient_to_parameter": {"arg": {"name": "add"}, "parameter_name": "w"}})") ==
        OutputKind::GradientToParameter);
  CHECK(kind_of_output(
            R"({"gradient_to_user_input": {"arg": {"name": "add"}, "user_input_name": "x"}})") ==
        OutputKind::GradientToUserInput);
}

TEST_CASE("deeply nested JSON is refused without recursing into it", "[io][json]") {
  const char* open = GENERATE("[", "{\"a\":");
  std::string json;
  for (int i = 0; i < 1'000'000; ++i) json += open;
  CHECK(parse_error(json) == "ValueError: m.json: is nested deeper than 64 levels");
  CHECK_THAT(parse_error(replaced(small_program(), R"("2.9.0")", json)),
             Contains("nested deeper than 64 levels"));
}

TEST_CASE("a document of too many values is refused", "[io][json]") {
  std::string json = "[1";
  for (int i = 0; i < 4'200'000; ++i) json += ",1";
  CHECK_THAT(parse_error(json + "]"), Contains("more than 4194304 values"));
}

TEST_CASE("text that is not JSON is refused", "[io][json]") {
  for (const char* text :
       {"", " ", "{", "nul", "{}x", "{\"a\": 1,}", "\xef\xbb", "[\x01]", "'a'"}) {
    CAPTURE(text);
    CHECK_THAT(parse_error(text), StartsWith("ValueError: m.json: byte "));
  }
  CHECK_THAT(parse_error("[]"), Contains("expected an object, got an array"));
  CHECK_THAT(parse_error(std::string(3, '\0')), StartsWith("ValueError: m.json: byte "));
}

TEST_CASE("a program cut short or with any byte changed is read or refused",
          "[io][program][fuzz]") {
  const std::string json = small_program();
  int refused = 0;
  for (size_t i = 0; i < json.size(); ++i) refused += parse_error(json.substr(0, i)) != "nothing";
  CHECK(refused == static_cast<int>(json.size()));
  for (size_t i = 0; i < json.size(); ++i) {
    for (char c : {'"', '{', ']', ',', '9', '-', 'e', '\\', '\0', '\xff'}) {
      std::string changed = json;
      changed[i] = c;
      parse_error(changed);  // anything but an sb::Error leaves error_of
    }
  }
}

}  // namespace
}  // namespace sb::io
