#include "switchboard/dispatch/values/bind_arguments.h"

#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/schema/function_schema.h"
#include "switchboard/dispatch/schema/schema_parser.h"
#include "switchboard/dispatch/values/coerce_argument.h"

namespace sb {
namespace {

using Catch::Matchers::Equals;

class SevenNode : public SymNode {
 public:
  int64_t guard_int(SourceLocation) const override { return 7; }
  std::string to_string() const override { return "s7"; }
};
SymInt symbol() { return SymInt(make_intrusive<SevenNode>()); }

class Queue : public OpaqueObject {
 public:
  std::string_view class_name() const override { return "__torch__.torch.classes.demo.Queue"; }
};

Tensor tensor() { return empty_on(DeviceType::CPU, {2}, DType::Float32); }

// The value as one of the type, or nullopt.
std::optional<IValue> coerce(std::string_view type, IValue value) {
  const FunctionSchema schema = parse_schema(str_cat("f(", type, " x) -> ()"));
  return coerce_argument(schema, 0, std::move(value));
}

const FunctionSchema& add() {
  static const FunctionSchema schema =
      parse_schema("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  return schema;
}

TEST_CASE("binding gives one value for each argument, defaults filled in", "[dispatch][bind]") {
  const Tensor a = tensor(), b = tensor();
  const Stack stack = bind_arguments(add(), {a, b});
  REQUIRE(stack.size() == 3);
  CHECK(stack[0].to_tensor().is_same(a));
  CHECK(stack[1].to_tensor().is_same(b));
  CHECK(stack[2].to_int() == 1);
}

TEST_CASE("arguments may be named, in any order", "[dispatch][bind]") {
  const Tensor a = tensor(), b = tensor();
  const Stack stack = bind_arguments(add(), {}, {{"alpha", 2.5}, {"other", b}, {"self", a}});
  CHECK(stack[0].to_tensor().is_same(a));
  CHECK(stack[1].to_tensor().is_same(b));
  CHECK(stack[2].to_double() == 2.5);
}

TEST_CASE("a later argument may be named where an earlier one takes its default",
          "[dispatch][bind]") {
  const FunctionSchema schema =
      parse_schema("aten::sum(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor");
  const Stack stack = bind_arguments(schema, {tensor()}, {{"keepdim", true}});
  CHECK(stack[1].is_None());
  CHECK(stack[2].to_bool());
}

TEST_CASE("binding errors name the operator, the argument, what was expected and what came",
          "[dispatch][bind]") {
  const Tensor a = tensor();
  const auto message = [](auto&&... args) {
    try {
      bind_arguments(add(), std::forward<decltype(args)>(args)...);
      return std::string();
    } catch (const TypeError& e) {
      return std::string(e.what());
    }
  };
  using Values = std::vector<IValue>;
  using Named = std::vector<std::pair<std::string, IValue>>;
  CHECK(message(Values{a, 3}) == "aten::add.Tensor: argument 1 'other': expected Tensor, got int");
  CHECK(message(Values{a}) == "aten::add.Tensor: argument 1 'other': expected Tensor, got nothing");
  CHECK(message(Values{a, a}, Named{{"alpha", "x"}}) ==
        "aten::add.Tensor: argument 2 'alpha': expected Scalar, got str");
  CHECK(message(Values{a, a, 1}) ==
        "aten::add.Tensor: expected at most 2 positional arguments, got 3");
  CHECK(message(Values{a, a}, Named{{"self", a}}) ==
        "aten::add.Tensor: argument 0 'self': given both by position and by name");
  CHECK(message(Values{a, a}, Named{{"alpha", 1}, {"alpha", 2}}) ==
        "aten::add.Tensor: argument 2 'alpha': given twice");
  CHECK(message(Values{a, a}, Named{{"beta", 1}}) ==
        "aten::add.Tensor: no argument 'beta'; arguments: self, other, alpha");
  // A misspelt name is told before the argument that it leaves missing.
  CHECK(message(Values{a}, Named{{"othr", a}}) ==
        "aten::add.Tensor: no argument 'othr'; arguments: self, other, alpha");
  CHECK_THROWS_WITH(bind_arguments(parse_schema("f() -> ()"), {}, {{"x", 1}}),
                    Equals("f: no argument 'x'; arguments: (none)"));
  CHECK_THROWS_WITH(
      bind_arguments(parse_schema("f(int[] x) -> ()"), {std::vector<IValue>{1, IValue(), "a"}}),
      Equals("f: argument 0 'x': expected int[], got [int, None, str]"));
}

TEST_CASE("a value of the right type is moved, not copied", "[dispatch][bind]") {
  IValue list(std::vector<int64_t>{1, 2, 3});
  const int64_t* data = list.to_int_list().data();
  CHECK(coerce("int[]", list)->to_int_list().data() == data);
  CHECK(coerce("SymInt[2]?", std::move(list))->to_sym_int_list().data() ==
        reinterpret_cast<const SymInt*>(data));
  IValue generic(std::vector<IValue>{1, 2.5});
  const IValue* elements = generic.to_list().data();
  CHECK(coerce("Scalar[]", std::move(generic))->to_list().data() == elements);
  Tensor t = tensor();
  const Stack stack = bind_arguments(add(), {std::move(t), tensor()});
  CHECK(stack[0].to_tensor().use_count() == 1);
}

TEST_CASE("numbers convert upwards: bool to int to float to complex, and never a float to an int",
          "[dispatch][bind]") {
  CHECK(coerce("int", true)->to_int() == 1);
  CHECK(coerce("SymInt", true)->to_int() == 1);
  CHECK(coerce("float", true)->to_double() == 1.0);
  CHECK(coerce("float", 3)->is_Double());
  CHECK(coerce("float?", 3)->is_Double());
  CHECK(coerce("complex", true)->is_Complex());
  CHECK(coerce("complex", 3)->is_Complex());
  CHECK(coerce("complex", 1.5)->is_Complex());
  CHECK(coerce("SymInt", 3)->is_Int());
  CHECK_FALSE(coerce("int", 3.0));
  CHECK_FALSE(coerce("SymInt", 3.0));
  CHECK_FALSE(coerce("float", std::complex<double>(1, 0)));
}

TEST_CASE("a Scalar is the number that was given, a bool too", "[dispatch][bind]") {
  CHECK(coerce("Scalar", 3)->is_Int());
  CHECK(coerce("Scalar", true)->is_Bool());
  CHECK(coerce("Scalar?", true)->is_Bool());
  CHECK(coerce("Scalar[]", std::vector<bool>{true})->to_list()[0].is_Bool());
  CHECK(coerce("Scalar", 1.5)->is_Double());
  CHECK_FALSE(coerce("Scalar", "1"));
  CHECK_FALSE(coerce("Scalar", tensor()));
}

TEST_CASE("every number is a bool, and None is false", "[dispatch][bind]") {
  CHECK(coerce("bool", 2)->to_bool());
  CHECK_FALSE(coerce("bool", 0)->to_bool());
  CHECK(coerce("bool", 0.5)->to_bool());
  CHECK(coerce("bool", std::complex<double>(0, 1))->to_bool());
  CHECK_FALSE(coerce("bool", IValue())->to_bool());
  CHECK(coerce("bool?", IValue())->is_None());
  CHECK_FALSE(coerce("bool", "True"));
}

TEST_CASE("a symbolic int stays one for SymInt and is guarded for int", "[dispatch][bind]") {
  CHECK(coerce("SymInt", symbol())->is_SymInt());
  CHECK(coerce("int", symbol())->to_int() == 7);
  const IValue sizes(std::vector<SymInt>{1, symbol()});
  CHECK(coerce("SymInt[]", sizes)->is_SymIntList());
  CHECK(coerce("int[]", sizes)->to_int_list() == IntArrayRef({1, 7}));
}

TEST_CASE("an optional takes None; a Tensor that is none is undefined", "[dispatch][bind]") {
  CHECK(coerce("Tensor?", IValue())->is_None());
  CHECK(coerce("int[2]?", IValue())->is_None());
  CHECK_FALSE(coerce("Tensor", IValue())->to_tensor().defined());
  CHECK_FALSE(coerce("Tensor[]", std::vector<IValue>{IValue()}));
  CHECK_FALSE(coerce("int[]", IValue()));
  CHECK_FALSE(coerce("Generator", IValue()));
}

TEST_CASE("an int fills a sized list of ints and a float one of floats, and nothing else any other",
          "[dispatch][bind]") {
  CHECK(coerce("int[2]", 3)->to_int_list() == IntArrayRef({3, 3}));
  CHECK(coerce("int[2]?", 3)->to_int_list() == IntArrayRef({3, 3}));
  CHECK(coerce("int[2]", true)->to_int_list() == IntArrayRef({1, 1}));
  CHECK(coerce("float[3]", 1.5)->to_double_list().size() == 3);
  CHECK_FALSE(coerce("int[]", 3));
  CHECK_FALSE(coerce("int[2]", 1.5));
  CHECK_FALSE(coerce("SymInt[2]", 3));
  CHECK_FALSE(coerce("float[3]", 1));
  CHECK_FALSE(coerce("bool[3]", true));
  CHECK_FALSE(coerce("Tensor[2]", tensor()));
}

TEST_CASE("a list given for a sized list keeps its length: operators check it",
          "[dispatch][bind]") {
  CHECK(coerce("int[2]", std::vector<int64_t>{1})->to_int_list().size() == 1);
}

TEST_CASE("an empty list is an empty list of any kind", "[dispatch][bind]") {
  for (const IValue& empty : {IValue(std::vector<IValue>()), IValue(std::vector<int64_t>()),
                              IValue(std::vector<Tensor>())}) {
    CHECK(coerce("int[]", empty)->is_IntList());
    CHECK(coerce("SymInt[]", empty)->is_IntList());
    CHECK(coerce("float[]", empty)->is_DoubleList());
    CHECK(coerce("bool[]", empty)->is_BoolList());
    CHECK(coerce("Tensor[]", empty)->is_TensorList());
    CHECK(coerce("Tensor?[]", empty)->is_OptionalTensorList());
    CHECK(coerce("Scalar[]?", empty)->is_List());
    CHECK(coerce("str[]", empty)->is_List());
  }
}

TEST_CASE("a list converts where its elements do", "[dispatch][bind]") {
  CHECK(coerce("float[]", std::vector<int64_t>{1, 2})->to_double_list()[1] == 2.0);
  CHECK(coerce("Scalar[]", std::vector<int64_t>{1, 2})->to_list()[1].to_int() == 2);
  CHECK(coerce("Scalar[]", std::vector<double>{1.5})->to_list()[0].is_Double());
  CHECK(coerce("int?[]", std::vector<int64_t>{1})->to_list()[0].to_int() == 1);
  CHECK(coerce("int[]", std::vector<IValue>{1, 2})->to_int_list() == IntArrayRef({1, 2}));
  CHECK(coerce("float[]", std::vector<IValue>{1, 2.5})->to_double_list()[1] == 2.5);
  CHECK(coerce("bool[]", std::vector<IValue>{true})->to_bool_list()[0]);
  CHECK(coerce("int[][]", std::vector<IValue>{std::vector<IValue>{1}, std::vector<int64_t>{2}})
            ->to_list()[0]
            .is_IntList());
  CHECK_FALSE(coerce("int[]", std::vector<double>{1}));
  CHECK(coerce("int[]", std::vector<bool>{true})->to_int_list() == IntArrayRef({1}));
  CHECK(coerce("float[]", std::vector<bool>{true})->to_double_list()[0] == 1.0);
  CHECK_FALSE(coerce("int[]", std::vector<IValue>{1, "a"}));
  CHECK(coerce("str[]", "ab")->to_list().size() == 2);
}

TEST_CASE("a list of tensors is a list of optional tensors, not the reverse", "[dispatch][bind]") {
  const Tensor t = tensor();
  const auto optionals = coerce("Tensor?[]", std::vector<Tensor>{t, t});
  CHECK(optionals->to_optional_tensor_list()[1]->is_same(t));
  const auto mixed = coerce("Tensor?[]", std::vector<IValue>{t, IValue()});
  CHECK_FALSE(mixed->to_optional_tensor_list()[1].has_value());
  CHECK(coerce("Tensor[]", std::vector<IValue>{t})->is_TensorList());
  CHECK_FALSE(coerce("Tensor[]", std::vector<std::optional<Tensor>>{std::nullopt}));
  CHECK_FALSE(coerce("Tensor[]", std::vector<int64_t>{1}));
}

TEST_CASE("a device may be a str; a dtype, layout or memory format an int, and the reverse",
          "[dispatch][bind]") {
  CHECK(coerce("Device", Device("cpu"))->is_Device());
  CHECK(coerce("Device", "cuda:1")->to_device() == Device("cuda:1"));
  CHECK_FALSE(coerce("Device", "nowhere"));
  CHECK_FALSE(coerce("Device", 0));
  CHECK(coerce("ScalarType", DType::Int64)->is_DType());
  CHECK(coerce("ScalarType", 4)->to_dtype() == DType::Int64);
  CHECK(coerce("Layout", 0)->to_layout() == Layout::Strided);
  CHECK(coerce("MemoryFormat", 2)->to_memory_format() == MemoryFormat::ChannelsLast);
  CHECK_FALSE(coerce("ScalarType", 1000));
  CHECK_FALSE(coerce("ScalarType", "int64"));
  CHECK_FALSE(coerce("Layout", "strided"));
  CHECK(coerce("int", DType::Int64)->to_int() == 4);
  CHECK(coerce("int", Layout::Strided)->to_int() == 0);
  CHECK(coerce("Scalar", DType::Float32)->to_int() == 6);
  CHECK_FALSE(coerce("SymInt", DType::Int64));
  CHECK_FALSE(coerce("int[]", std::vector<IValue>{DType::Int64}));
}

TEST_CASE("without operators no tensor is a number and no number a tensor", "[dispatch][bind]") {
  CHECK_FALSE(coerce("int", tensor()));
  CHECK_FALSE(coerce("Tensor", 3));
}

TEST_CASE("an object fits the class of its name only", "[dispatch][bind]") {
  const IValue queue = IntrusivePtr<OpaqueObject>(make_intrusive<Queue>());
  CHECK(coerce("__torch__.torch.classes.demo.Queue", queue));
  CHECK_FALSE(coerce("__torch__.torch.classes.demo.Stack", queue));
  CHECK_FALSE(coerce("__torch__.torch.classes.demo.Queue", 3));
}

TEST_CASE("a sized list of absurd length is not filled", "[dispatch][bind]") {
  FunctionSchema schema = parse_schema("f(int x) -> ()");
  for (const int64_t length : {std::numeric_limits<int64_t>::max(), int64_t{-1}}) {
    schema.arguments[0].type.modifiers = {{TypeModifier::List, length}};
    CHECK_FALSE(coerce_argument(schema, 0, 1));
  }
}

}  // namespace
}  // namespace sb
