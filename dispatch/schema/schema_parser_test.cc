#include "switchboard/dispatch/schema/schema_parser.h"

#include <string>

#include "catch2/catch.hpp"
#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;

// As PyTorch prints them: every kind of type, default, annotation and return that its own operators
// have, but for those that are refused on purpose.
// clang-format off
constexpr const char* kSchemas[] = {
    R"(aten::relu(Tensor self) -> Tensor)",
    R"(aten::relu_(Tensor(a!) self) -> Tensor(a!))",
    R"(aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor)",
    R"(aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> )"
    R"(Tensor(a!))",
    R"(aten::mm(Tensor self, Tensor mat2) -> Tensor)",
    R"(aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) )"
    R"(-> Tensor)",
    R"(aten::cat(Tensor[] tensors, int dim=0) -> Tensor)",
    R"(aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] )"
    R"(padding=0, int[2] dilation=1, int groups=1) -> Tensor)",
    R"(aten::convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] )"
    R"(padding, int[] dilation, bool transposed, int[] output_padding, int groups) -> Tensor)",
    R"(aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? )"
    R"(running_mean, Tensor? running_var, bool training, float momentum, float eps) -> )"
    R"((Tensor, Tensor, Tensor))",
    R"(aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, )"
    R"(Tensor? bias, float eps) -> (Tensor, Tensor, Tensor))",
    R"(aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], )"
    R"(int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor))",
    R"(aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? )"
    R"(dtype=None) -> Tensor)",
    R"(aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? )"
    R"(dtype=None) -> Tensor)",
    R"(aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor )"
    R"(indices))",
    R"(aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? )"
    R"(layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? )"
    R"(memory_format=None) -> Tensor)",
    R"(aten::empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? )"
    R"(layout=None, Device? device=None, bool? pin_memory=None) -> Tensor)",
    R"(aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? )"
    R"(layout=None, Device? device=None, bool? pin_memory=None) -> Tensor)",
    R"(aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? )"
    R"(dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor)",
    R"(aten::zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? )"
    R"(device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor)",
    R"(aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool )"
    R"(copy=False, MemoryFormat? memory_format=None) -> Tensor(a))",
    R"(aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? )"
    R"(device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? )"
    R"(memory_format=None) -> Tensor)",
    R"(aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a))",
    R"(aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!))",
    R"(aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a))",
    R"(aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a))",
    R"(aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a))",
    R"(aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, )"
    R"(SymInt step=1) -> Tensor(a))",
    R"(aten::select.int(Tensor(a) self, int dim, int index) -> Tensor(a))",
    R"(aten::split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[])",
    R"(aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor)",
    R"(aten::index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool )"
    R"(accumulate=False) -> Tensor(a!))",
    R"(aten::embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool )"
    R"(scale_grad_by_freq=False, bool sparse=False) -> Tensor)",
    R"(aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor)",
    R"(aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor)",
    R"(aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor)",
    R"(aten::matmul(Tensor self, Tensor other) -> Tensor)",
    R"(aten::dropout(Tensor input, float p, bool train) -> Tensor)",
    R"(aten::uniform_(Tensor(a!) self, float from=0., float to=1., *, Generator? )"
    R"(generator=None) -> Tensor(a!))",
    R"(aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a))",
    R"(aten::permute(Tensor(a) self, int[] dims) -> Tensor(a))",
    R"(aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[])",
    R"(aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[])",
    R"(aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor)",
    R"(aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor)",
    R"(aten::scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> )"
    R"(Tensor(a!))",
    R"(aten::topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> )"
    R"((Tensor values, Tensor indices))",
    R"(aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor )"
    R"(indices))",
    R"(aten::detach(Tensor(a) self) -> Tensor(a))",
    R"(aten::resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> )"
    R"(Tensor(a!))",
    R"(aten::set_.source_Storage(Tensor(a!) self, Storage source) -> Tensor(a!))",
    R"(aten::gelu(Tensor self, *, str approximate="none") -> Tensor)",
    R"(aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int )"
    R"(ignore_index) -> (Tensor output, Tensor total_weight))",
    R"(aten::randint(int high, int[] size, *, ScalarType? dtype=4, Layout? layout=None, )"
    R"(Device? device=None, bool? pin_memory=None) -> Tensor)",
    R"(aten::randperm(int n, *, ScalarType? dtype=4, Layout? layout=None, Device? )"
    R"(device=None, bool? pin_memory=None) -> Tensor)",
    R"(aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? )"
    R"(storage_offset=None) -> Tensor(a))",
    R"(aten::_linalg_slogdet.sign(Tensor A, *, Tensor(a!) sign, Tensor(b!) logabsdet, )"
    R"(Tensor(c!) LU, Tensor(d!) pivots) -> (Tensor(a!) sign, Tensor(b!) logabsdet, )"
    R"(Tensor(c!) LU, Tensor(d!) pivots))",
    R"(aten::_foreach_div_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ())",
    R"(aten::fft_fft2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> )"
    R"(Tensor)",
    R"(aten::upsample_nearest1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] )"
    R"(input_size, float? scales=None) -> Tensor)",
    R"(aten::__upsample.size_list(Tensor input, int[]? size=None, int? scale_factor=None, str )"
    R"(mode="nearest", bool? align_corners=None) -> Tensor)",
    R"(aten::exp.complex(complex a) -> complex)",
    R"(aten::sorted.str(str[](a) input) -> str[])",
    R"(aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor)",
    R"(aten::bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> )"
    R"(Tensor(a!))",
    R"(aten::upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? )"
    R"(scale_factors) -> Tensor)",
    R"(aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float )"
    R"(eps=9.9999999999999995e-07, bool keepdim=False) -> Tensor)",
    R"(aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float )"
    R"(atol=1e-08, bool equal_nan=False) -> bool)",
    R"(aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool )"
    R"(training=False, Generator? generator=None) -> Tensor)",
    R"(aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] )"
    R"(padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> Tensor)",
    R"(aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, )"
    R"(str padding="valid", int[3] dilation=1, int groups=1) -> Tensor)",
    R"(aten::upsample_nearest2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] )"
    R"(input_size, float? scales_h=None, float? scales_w=None) -> Tensor)",
    R"(aten::Int.str(str a) -> int)",
    R"(aten::sum.int(int[] self) -> int)",
    R"(aten::Int.Tensor(Tensor a) -> int)",
    R"(aten::any.str(str[] self) -> bool)",
    R"(aten::sort.int(int[](a!) self, bool reverse=False) -> ())",
    R"(aten::_test_string_default(Tensor dummy, str a="\"\'\\", str b="\"\'\\") -> Tensor)",
    R"(aten::lstrip(str self, str chars=" \n\t\f\v") -> str)",
    R"(aten::_cudnn_rnn_backward(Tensor input, Tensor[] weight, int hx, Tensor? cx, bool[4] )"
    R"(output_mask) -> (Tensor, Tensor, Tensor, Tensor[]))",
    R"(demo::step(__torch__.torch.classes.demo.Queue queue, Tensor(a!)[]? tensors=None) -> )"
    R"(__torch__.torch.classes.demo.Queue?)",
    R"(demo::rotate(Tensor self, complex by=1.j, complex[] more=[]) -> Tensor)",
    R"(demo::write(Tensor! self, Tensor! other) -> ())",
};
// clang-format on

FunctionSchema with_argument(std::string_view argument) {
  return parse_schema(str_cat("f(", argument, ") -> ()"));
}
IValue default_of(std::string_view argument) {
  return with_argument(argument).arguments.at(0).default_value.value();
}
Type type_of(std::string_view type) {
  return with_argument(str_cat(type, " x")).arguments.at(0).type;
}
AliasInfo alias_of(std::string_view type) {
  return with_argument(str_cat(type, " x")).arguments.at(0).alias.value();
}
// What parsing says; empty where it succeeds.
std::string error_of(std::string_view schema) {
  try {
    parse_schema(schema);
    return "";
  } catch (const RuntimeError& e) {
    return e.what();
  }
}
std::string error_in_argument(std::string_view argument) {
  return error_of(str_cat("f(", argument, ") -> ()"));
}

TEST_CASE("PyTorch's schemas parse, and print as they were", "[dispatch][parser]") {
  for (const char* text : kSchemas) {
    CAPTURE(text);
    CHECK(parse_schema(text).to_string() == text);
  }
}

TEST_CASE("every prefix of a schema is refused without a crash", "[dispatch][parser]") {
  for (const std::string text : kSchemas) {
    for (size_t n = 0; n < text.size(); ++n) {
      const std::string error = error_of(text.substr(0, n));
      // A whole schema is a prefix where only a name or modifiers of a return follow.
      if (error.empty()) CHECK(text.find(") -> ") < n);
    }
  }
}

TEST_CASE("every schema with one byte changed parses or throws RuntimeError",
          "[dispatch][parser]") {
  for (const char* schema : {kSchemas[1], kSchemas[5], kSchemas[7], kSchemas[38]}) {
    for (size_t i = 0; i < std::string_view(schema).size(); ++i) {
      for (const char c : {'\0', ' ', '(', ')', '[', ']', '?', '!', '*', ',', '-', '.', '"', '0',
                           'a', '\\', '\x7f', '\xff'}) {
        std::string text = schema;
        text[i] = c;
        const std::string error = error_of(text);
        if (error.empty()) CHECK(error_of(parse_schema(text).to_string()) == "");
      }
    }
  }
}

TEST_CASE("a schema is a name, arguments and returns", "[dispatch][parser]") {
  const FunctionSchema s = parse_schema(
      "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)");
  CHECK(s.name == OperatorName{"aten::add", "out"});
  REQUIRE(s.arguments.size() == 4);
  CHECK(s.arguments[0].name == "self");
  CHECK_FALSE(s.arguments[1].kwarg_only);
  CHECK(s.arguments[2].kwarg_only);
  CHECK(s.arguments[2].default_value->to_int() == 1);
  CHECK(s.arguments[3].is_out());
  REQUIRE(s.returns.size() == 1);
  CHECK(s.returns[0].alias == s.arguments[3].alias);
}

TEST_CASE("a schema may lack a namespace, and have spaces anywhere between its parts",
          "[dispatch][parser]") {
  const FunctionSchema s =
      parse_schema("  f (\n  Tensor ( a ! ) b ,\tint [ 2 ] ? a = - 1 ) ->( ) ");
  CHECK(s.to_string() == "f(Tensor(a!) b, int[2]? a=-1) -> ()");
}

TEST_CASE("returns are none, one or a tuple, and may have names", "[dispatch][parser]") {
  CHECK(parse_schema("f() -> ()").returns.empty());
  CHECK(parse_schema("f() -> Tensor").returns.size() == 1);
  CHECK(parse_schema("f() -> (Tensor)").returns.size() == 1);
  CHECK(parse_schema("f() -> Tensor out").returns[0].name == "out");
  CHECK(parse_schema("f() -> (Tensor(a!) a, Tensor[] b)").returns[1].name == "b");
  CHECK(parse_schema("f() -> (Tensor, int)").returns[1].name.empty());
}

TEST_CASE("modifiers nest in any order", "[dispatch][parser]") {
  CHECK(type_of("Tensor?[]").code() ==
        with_modifier(with_modifier(type_code(BaseType::Tensor), TypeModifier::Optional),
                      TypeModifier::List));
  for (const char* type : {"int[]?", "int?[]", "int[2]", "int[2][]", "int[][3]?", "int[][][]"})
    CHECK(type_of(type).to_string() == type);
  CHECK(type_of("int[2]?").modifiers[0].length == 2);
  CHECK(type_of("int??") == type_of("int?"));
}

TEST_CASE("a class type keeps its qualified name", "[dispatch][parser]") {
  const Type type = type_of("__torch__.torch.classes.ns.Name[]");
  CHECK(type.base == BaseType::Class);
  CHECK(type.class_name == "__torch__.torch.classes.ns.Name");
  CHECK(type.is_list());
  CHECK_THAT(error_in_argument("__torch__.foo x"), Contains("expected a class type"));
  CHECK_THAT(error_in_argument("__torch__.torch.classes.ns x"), Contains("expected '.' but got"));
}

TEST_CASE("alias annotations name sets before and after a call", "[dispatch][parser]") {
  using Sets = std::vector<std::string>;
  CHECK(alias_of("Tensor(a)").before == Sets{"a"});
  CHECK_FALSE(alias_of("Tensor(a)").is_write);
  CHECK(alias_of("Tensor(a!)").is_write);
  CHECK(alias_of("Tensor(b|a)").after == Sets{"a", "b"});
  CHECK(alias_of("Tensor(*)").before == Sets{"*"});
  const AliasInfo info = alias_of("Tensor(a! -> b|c)");
  CHECK(info.before == Sets{"a"});
  CHECK(info.after == Sets{"b", "c"});
  CHECK(info.to_string() == "a! -> b|c");
  // After the base or after brackets.
  CHECK(alias_of("Tensor(a!)[]").position == 0);
  CHECK(alias_of("int[](a!)").position == 1);
  CHECK(alias_of("Tensor(a)?").position == 0);
}

TEST_CASE("a bare exclamation mark writes to a set of its own", "[dispatch][parser]") {
  const FunctionSchema s = parse_schema("f(Tensor! a, Tensor! b) -> ()");
  CHECK(s.arguments[0].is_write());
  CHECK(s.arguments[0].alias->before != s.arguments[1].alias->before);
}

TEST_CASE("malformed alias annotations are refused", "[dispatch][parser]") {
  CHECK_THAT(error_in_argument("Tensor() x"), Contains("expected an alias set but got ')'"));
  CHECK_THAT(error_in_argument("Tensor(!) x"), Contains("expected an alias set but got '!'"));
  CHECK_THAT(error_in_argument("Tensor(a!|b) x"), Contains("expected '->' or ')' but got '|'"));
  CHECK_THAT(error_in_argument("Tensor(a x"), Contains("but got 'x'"));
  CHECK_THAT(error_in_argument("Tensor(a)[](b) x"), Contains("a second alias annotation"));
  CHECK_THAT(error_in_argument("Tensor?(a) x"), Contains("expected an argument's name"));
}

TEST_CASE("a default is a value of its argument's type", "[dispatch][parser]") {
  CHECK(default_of("int x=-3").to_int() == -3);
  CHECK(default_of("float x=3").to_double() == 3.0);
  CHECK(default_of("float x=1e-5").to_double() == 1e-5);
  CHECK(default_of("float x=.5").to_double() == 0.5);
  CHECK(default_of("float x=1.").to_double() == 1.0);
  CHECK(default_of("bool x=True").to_bool());
  CHECK(default_of("Scalar x=1").is_Int());
  CHECK(default_of("Scalar x=1.").is_Double());
  CHECK(default_of("Scalar x=False").is_Bool());
  CHECK(default_of("complex x=2").to_complex() == std::complex<double>(2, 0));
  CHECK(default_of("complex x=1.-2.j").to_complex() == std::complex<double>(1, -2));
  CHECK(default_of("Tensor? x=None").is_None());
  CHECK(default_of("str x='a'").to_string_view() == "a");
  CHECK(default_of("str x=\"a\"").to_string_view() == "a");
  CHECK(default_of("ScalarType x=long").to_dtype() == DType::Int64);
  CHECK(default_of("ScalarType? x=float").to_dtype() == DType::Float32);
  CHECK(default_of("ScalarType x=15").to_dtype() == DType::BFloat16);
  CHECK(default_of("Layout x=strided").to_layout() == Layout::Strided);
  CHECK(default_of("MemoryFormat? x=contiguous_format").to_memory_format() ==
        MemoryFormat::Contiguous);
  CHECK(default_of("MemoryFormat? x=2").to_memory_format() == MemoryFormat::ChannelsLast);
  CHECK(default_of("int x=Mean").to_int() == 1);
  CHECK(default_of("Device x='cuda:1'").to_device() == Device(DeviceType::CUDA, 1));
  CHECK(default_of("int x=9223372036854775807").to_int() == INT64_MAX);
  CHECK(default_of("int x=-9223372036854775808").to_int() == INT64_MIN);
}

TEST_CASE("a default of a list is of the list's kind, and one value fills a sized list",
          "[dispatch][parser]") {
  CHECK(default_of("int[] x=[0, 1]").to_int_list() == IntArrayRef({0, 1}));
  CHECK(default_of("int[2] x=1").to_int_list() == IntArrayRef({1, 1}));
  CHECK(default_of("int[2]? x=1").to_int_list() == IntArrayRef({1, 1}));
  CHECK(default_of("int[0] x=1").to_int_list().empty());
  CHECK(default_of("int[] x=[]").is_IntList());
  CHECK(default_of("float[2] x=1").is_DoubleList());
  CHECK(default_of("bool[3] x=True").to_bool_list().size() == 3);
  CHECK(default_of("Tensor[] x=[]").is_TensorList());
  CHECK(default_of("Tensor?[] x=[None]").is_OptionalTensorList());
  CHECK(default_of("Scalar[] x=[1, 2.]").to_list()[1].is_Double());
  CHECK(default_of("str[] x=['a', 'b']").to_list()[1].to_string_view() == "b");
  CHECK(default_of("int[][] x=[[1], []]").to_list()[1].is_IntList());
}

TEST_CASE("strings have C's escapes", "[dispatch][parser]") {
  CHECK(default_of(R"(str x='it\'s')").to_string_view() == "it's");
  CHECK(default_of(R"(str x="\"\\\n\t\101")").to_string_view() == "\"\\\n\tA");
  CHECK(default_of(R"(str x="\000\377")").to_string_view() == std::string_view("\0\xff", 2));
  CHECK_THAT(error_in_argument(R"(str x="\q")"), Contains("an unknown escape in a string"));
  CHECK_THAT(error_in_argument(R"(str x="\777")"), Contains("an unknown escape in a string"));
  CHECK_THAT(error_in_argument("str x=\"abc"), Contains("a string that does not end"));
  CHECK_THAT(error_of("f(str x='\\"), Contains("an unknown escape in a string"));
}

TEST_CASE("a default of another type is refused", "[dispatch][parser]") {
  CHECK_THAT(error_in_argument("int x=1.5"),
             Contains("expected a default value of type int but got 1.5"));
  CHECK_THAT(error_in_argument("int x=None"), Contains("of type int but got None"));
  CHECK_THAT(error_in_argument("Tensor x=None"), Contains("of type Tensor but got None"));
  CHECK_THAT(error_in_argument("bool x=1"), Contains("of type bool but got 1"));
  CHECK_THAT(error_in_argument("int[] x=1"), Contains("of type int[] but got 1"));
  CHECK_THAT(error_in_argument("int[2] x=['a']"), Contains("of type int[2] but got ['a']"));
  CHECK_THAT(error_in_argument("int x=bogus"),
             Contains("expected a default value but got 'bogus'"));
  CHECK_THAT(error_in_argument("float x=inf"), Contains("expected a default value but got 'inf'"));
  CHECK_THAT(error_in_argument("ScalarType x=99"), Contains("expected the number of a dtype"));
  CHECK_THAT(error_in_argument("Device x='nowhere'"), Contains("expected a device: "));
  CHECK_THAT(error_in_argument("int x="), Contains("expected a default value but got ')'"));
  CHECK_THAT(error_in_argument("int x=-"), Contains("expected a number but got ')'"));
}

TEST_CASE("numbers that no value can hold are refused", "[dispatch][parser]") {
  CHECK_THAT(error_in_argument("int x=9223372036854775808"), Contains("does not fit int64"));
  CHECK_THAT(error_in_argument("int x=99999999999999999999999"), Contains("does not fit int64"));
  CHECK_THAT(error_in_argument("SymInt x=-9223372036854775808"), Contains("does not fit SymInt"));
  CHECK_THAT(error_in_argument("SymInt[] x=[-9223372036854775808]"), Contains("fit SymInt"));
  CHECK_THAT(error_in_argument("float x=1e400"), Contains("does not fit double"));
  CHECK(default_of("float x=99999999999999999999999").to_double() == 1e23);
}

TEST_CASE("an error shows the schema and points at the place", "[dispatch][parser]") {
  CHECK_THAT(error_of("aten::foo(Tensor self"),
             Equals("schema \"aten::foo(Tensor self\": expected ',' or ')' but got end of text at "
                    "column 22\n"
                    "aten::foo(Tensor self\n"
                    "                     ^"));
  CHECK_THAT(error_of("f(int a,, int b) -> ()"),
             Equals("schema \"f(int a,, int b) -> ()\": expected a type but got ',' at column 9\n"
                    "f(int a,, int b) -> ()\n"
                    "        ^"));
}

TEST_CASE("an error in a long schema shows the text around it", "[dispatch][parser]") {
  const std::string long_name(400, 'a');
  const std::string error = error_of(str_cat("f(int ", long_name, ", Foo x) -> ", long_name));
  CHECK_THAT(error, Contains("unknown type 'Foo' at column 409"));
  const size_t shown = error.find('\n') + 1;
  const size_t caret = error.find('\n', shown) + 1;
  CHECK(error.substr(shown, 3) == "...");
  CHECK(error.substr(shown + error.find('^') - caret, 3) == "Foo");
  CHECK(error.size() < 600);
}

TEST_CASE("what is not a schema is refused at the first fault", "[dispatch][parser]") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"", "expected a name but got end of text"},
      {"f", "expected '(' but got end of text"},
      {"f(", "expected a type but got end of text"},
      {"f()", "expected '->' but got end of text"},
      {"f() ->", "expected a type but got end of text"},
      {"f() -> () x", "expected end of text but got 'x'"},
      {"f(int) -> ()", "expected an argument's name but got ')'"},
      {"f(int a,) -> ()", "expected a type but got ')'"},
      {"f(int a b) -> ()", "expected ',' or ')' but got 'b'"},
      {"f(int 1a) -> ()", "expected an argument's name but got '1a'"},
      {"f(int a=1x) -> ()", "expected ',' or ')' but got 'x'"},
      {"f(int a=0x10) -> ()", "expected ',' or ')' but got 'x10'"},
      {"f(int[-1] a) -> ()", "expected ']' or a list's length but got '-'"},
      {"f(int[2 a) -> ()", "expected ']' but got 'a'"},
      {"f(int[] a=[1, 2) -> ()", "expected ',' or ']' but got ')'"},
      {"a::b::f() -> ()", "expected '(' but got ':'"},
      {"a:f() -> ()", "expected ':' but got 'f'"},
      {"f.default() -> ()", "'default' is not a legal overload name"},
      {"f.() -> ()", "expected an overload name but got '('"},
      {"f(int a, int a) -> ()", "a second argument 'a'"},
      {"f(*, int a, *, int b) -> ()", "a second '*'"},
      {"f(int a=1, int b) -> ()", "argument 'b' without a default after one with a default"},
      {"f() -> (Tensor, ) ", "expected a type but got ')'"},
      {"f() -> (Tensor, Tensor)[]", "expected end of text but got '['"},
  }));
  CHECK_THAT(error_of(text), Contains(message));
}

TEST_CASE("a keyword-only or list argument may lack a default after one that has it",
          "[dispatch][parser]") {
  CHECK(error_in_argument("int a=1, *, int b") == "");
  CHECK(error_in_argument("int a=1, int[2] b") == "");
  CHECK(error_in_argument("int a, *") == "");
}

TEST_CASE("Any and type variables stand for every type, and print as they were",
          "[dispatch][parser]") {
  for (const char* text :
       {"demo::f(Any x) -> Any", "demo::f(Any[] x, Any? y=None) -> Any[]",
        "demo::f(t[] list, t el) -> t[]", "demo::f(t[](a!) list, t1(b -> *) el) -> t[](a!)"}) {
    CHECK(parse_schema(text).to_string() == text);
  }
  CHECK(parse_schema("f(t[](a!) list, t el) -> t[](a!)").is_mutable());
  CHECK_FALSE(parse_schema("f(Any x) -> ()").arguments[0].type.has_tensor());
}

TEST_CASE("types that are left out are named", "[dispatch][parser]") {
  for (const char* type :
       {"Dimname", "Stream", "AnyList", "Dict(str, int)", "QScheme", "Future(int)"})
    CHECK_THAT(error_in_argument(str_cat(type, " x")), Contains("is not supported"));
  CHECK_THAT(error_in_argument("(int, int) x"), Contains("tuple types are not supported"));
  CHECK_THAT(error_in_argument("tensor x"), Contains("a type variable is one letter"));
  CHECK_THAT(error_in_argument("Foo x"), Contains("unknown type 'Foo'"));
  CHECK_THAT(error_in_argument("int a, ..."), Contains("a variable number of values"));
  CHECK_THAT(error_of("f(...) -> ()"), Contains("a variable number of values"));
  CHECK_THAT(error_of("f() -> ..."), Contains("a variable number of values"));
  CHECK_THAT(error_of("f() -> (int, ...)"), Contains("a variable number of values"));
}

TEST_CASE("hostile schemas are refused at little cost", "[dispatch][parser]") {
  CHECK_THAT(error_in_argument("int[99999999999999999999] x"), Contains("of at most 1024"));
  CHECK_THAT(error_in_argument("int[1000000000] x=1"), Contains("of at most 1024"));
  CHECK(default_of("int[1024] x=1").to_int_list().size() == 1024);
  CHECK_THAT(error_in_argument(str_cat("int", std::string(1000, '?'), " x")), Equals(""));
  std::string deep = "int";
  for (int i = 0; i < 1000; ++i) deep += "?[]";
  CHECK_THAT(error_in_argument(str_cat(deep, " x")), Contains("nested too deeply"));
  CHECK_THAT(error_in_argument(str_cat("int[] x=", std::string(60000, '['))),
             Contains("nested too deeply"));
  CHECK_THAT(error_of(std::string(1 << 20, '(')), StartsWith("schema of 1048576 characters"));
}

TEST_CASE("NUL bytes and bytes beyond ASCII are refused, and shown as question marks",
          "[dispatch][parser]") {
  CHECK_THAT(error_of(std::string_view("f(\0int a) -> ()", 15)),
             Contains("\"f(?int a) -> ()\": expected a type but got byte 0x00"));
  CHECK_THAT(error_of(std::string_view("f() -> ()\0", 10)),
             Contains("expected end of text but got byte 0x00"));
  CHECK_THAT(error_of("f(int \xc3\xa9) -> ()"),
             Contains("\"f(int \?\?) -> ()\": expected an argument's name but got byte 0xc3"));
  CHECK_THAT(error_in_argument(std::string_view("str x='\0'", 9)), Contains("byte 0x00"));
  CHECK(default_of("str x='\xc3\xa9'").to_string_view() == "\xc3\xa9");  // but not in strings
}

}  // namespace
}  // namespace sb
