#include "switchboard/dispatch/schema/function_schema.h"

#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/schema/schema_parser.h"

namespace sb {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("an operator name has a namespace, a name and perhaps an overload",
          "[dispatch][schema]") {
  const OperatorName add = OperatorName::parse("aten::add.Tensor");
  CHECK(add.ns() == "aten");
  CHECK(add.name == "aten::add");
  CHECK(add.overload == "Tensor");
  CHECK(add.to_string() == "aten::add.Tensor");
  CHECK(OperatorName::parse("aten::mm").to_string() == "aten::mm");
  CHECK(OperatorName::parse("mm").ns().empty());  // as a Library gives it
}

TEST_CASE("a malformed operator name is refused with the place of the fault",
          "[dispatch][schema]") {
  CHECK_THROWS_WITH(OperatorName::parse(""),
                    StartsWith("operator name \"\": expected a name but got end of text"));
  CHECK_THROWS_WITH(OperatorName::parse("aten::"), Contains("expected a name but got end of text"));
  CHECK_THROWS_WITH(OperatorName::parse("aten:add"), Contains("expected ':' but got 'add'"));
  CHECK_THROWS_WITH(OperatorName::parse("aten::add."), Contains("expected an overload name"));
  CHECK_THROWS_WITH(OperatorName::parse("aten::add(x)"), Contains("expected end of text"));
  CHECK_THROWS_WITH(OperatorName::parse("a::b::c"), Contains("expected end of text"));
  CHECK_THROWS_AS(OperatorName::parse("aten::add Tensor"), RuntimeError);
}

TEST_CASE("the default overload has no name, and none may take its name", "[dispatch][schema]") {
  CHECK_THROWS_WITH(OperatorName::parse("aten::mm.default"),
                    Contains("'default' is not a legal overload name"));
  CHECK_THROWS_WITH(OperatorName::parse("aten::mm.__name__"), Contains("not a legal overload"));
}

TEST_CASE("arguments are found by name", "[dispatch][schema]") {
  const FunctionSchema s = parse_schema("aten::mm(Tensor self, Tensor mat2) -> Tensor");
  CHECK(s.find_argument("mat2") == 1u);
  CHECK(s.find_argument("mat") == std::nullopt);
}

TEST_CASE("a schema that writes to an argument is mutable; an out argument is keyword-only too",
          "[dispatch][schema]") {
  const FunctionSchema in_place = parse_schema("aten::relu_(Tensor(a!) self) -> Tensor(a!)");
  CHECK(in_place.is_mutable());
  CHECK(in_place.arguments[0].is_write());
  CHECK_FALSE(in_place.arguments[0].is_out());
  const FunctionSchema out =
      parse_schema("aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)");
  CHECK(out.is_mutable());
  CHECK(out.arguments[2].is_out());
  CHECK_FALSE(parse_schema("aten::mm(Tensor self, Tensor mat2) -> Tensor").is_mutable());
}

TEST_CASE("a view aliases an argument without writing to it", "[dispatch][schema]") {
  CHECK(parse_schema("aten::t(Tensor(a) self) -> Tensor(a)").is_view());
  CHECK(parse_schema("aten::split(Tensor(a -> *) self, int n) -> Tensor(a)[]").is_view());
  CHECK_FALSE(parse_schema("aten::t_(Tensor(a!) self) -> Tensor(a!)").is_view());
  CHECK_FALSE(parse_schema("aten::relu(Tensor self) -> Tensor").is_view());
}

TEST_CASE("a schema prints as PyTorch prints it", "[dispatch][schema]") {
  const auto print = [](std::string_view text) { return parse_schema(text).to_string(); };
  // A single return loses its parentheses, named or not.
  CHECK(print("f(Tensor a)->(Tensor)") == "f(Tensor a) -> Tensor");
  CHECK(print("f(Tensor a)->(Tensor b)") == "f(Tensor a) -> Tensor b");
  CHECK(print("f( ) ->( )") == "f() -> ()");
  // A list of one repeated int shortens where its length is the schema's.
  CHECK(print("f(int[2] a=[1, 1]) -> ()") == "f(int[2] a=1) -> ()");
  CHECK(print("f(int[1] a=1) -> ()") == "f(int[1] a=[1]) -> ()");
  CHECK(print("f(int[2] a=[1, 1, 1]) -> ()") == "f(int[2] a=[1, 1, 1]) -> ()");
  CHECK(print("f(SymInt[2] a=1) -> ()") == "f(SymInt[2] a=[1, 1]) -> ()");
  CHECK(print("f(bool[3] a=True) -> ()") == "f(bool[3] a=[True, True, True]) -> ()");
  // Floats have all their digits.
  CHECK(print("f(float a=1e-5) -> ()") == "f(float a=1.0000000000000001e-05) -> ()");
  CHECK(print("f(float a=1, float b=-0.) -> ()") == "f(float a=1., float b=-0.) -> ()");
  CHECK(print("f(float a=1e20) -> ()") == "f(float a=1e+20) -> ()");
  CHECK(print("f(float[2] a=.1) -> ()") ==
        "f(float[2] a=[0.10000000000000001, 0.10000000000000001]) -> ()");
  // Names of numbers are numbers.
  CHECK(print("f(int reduction=Mean) -> ()") == "f(int reduction=1) -> ()");
  CHECK(print("f(ScalarType? d=long, Layout l=strided) -> ()") ==
        "f(ScalarType? d=4, Layout l=0) -> ()");
  CHECK(print("f(MemoryFormat m=contiguous_format) -> ()") == "f(MemoryFormat m=0) -> ()");
  // Strings are in double quotes.
  CHECK(print("f(str a='it\\'s', str? b=None) -> ()") == "f(str a=\"it\\'s\", str? b=None) -> ()");
  CHECK(print("f(Device d='cuda:1') -> ()") == "f(Device d=\"cuda:1\") -> ()");
  // Alias sets are sorted.
  CHECK(print("f(Tensor(b|a) x) -> Tensor(a! -> c|b)[]") ==
        "f(Tensor(a|b) x) -> Tensor(a! -> b|c)[]");
  // One asterisk, where the first keyword-only argument is.
  CHECK(print("f(*, int a, int b) -> ()") == "f(*, int a, int b) -> ()");
  CHECK(print("f(int a, *) -> ()") == "f(int a) -> ()");
}

TEST_CASE("a schema goes to a stream", "[dispatch][schema]") {
  std::ostringstream out;
  out << parse_schema("f() -> ()");
  CHECK(out.str() == "f() -> ()");
}

}  // namespace
}  // namespace sb
