#include "switchboard/dispatch/values/check_tags.h"

#include <string>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/schema/schema_parser.h"

namespace sb {
namespace {

// What is wrong with a schema of that tag: "expected ..., got ...", or nothing.
std::string wrong(Tag tag, const char* schema, bool built_in = false) {
  try {
    internal::check_tags(parse_schema(std::string("demo::") + schema), tag, built_in);
  } catch (const ValueError& error) {
    const std::string text = error.what();
    const size_t from = text.find("expected"), to = text.rfind(": demo::");
    CHECK(text.find("demo::f: tagged ") == 0);
    return text.substr(from, to - from);
  }
  return "";
}

TEST_CASE("an operator that is tagged inplace writes to its first argument and returns it") {
  const auto inplace = [](const char* schema) { return wrong(Tag::inplace, schema); };
  CHECK(inplace("f(Tensor(a!) x, float v=1) -> Tensor(a!)") == "");
  CHECK(inplace("f() -> ()") == "expected a positional argument, got none");
  CHECK(inplace("f(*, Tensor(a!) x) -> Tensor(a!)") == "expected a positional argument, got none");
  CHECK(inplace("f(Tensor x, Tensor(a!) y) -> Tensor(a!)") ==
        "expected the first argument to be written to, got 'x', which is not");
  CHECK(inplace("f(Tensor(a!)[] x) -> Tensor(a!)[]") ==
        "expected the first argument to be a Tensor, got 'x', a Tensor[]");
  CHECK(inplace("f(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)") ==
        "expected the first argument to be the only one that is written to, got 'y', which is, "
        "too");
  CHECK(inplace("f(Tensor(a!) x) -> ()") ==
        "expected one result, which is the first argument, got 0 results");
  CHECK(inplace("f(Tensor(a!) x) -> (Tensor(a!), int)") ==
        "expected one result, which is the first argument, got 2 results");
  CHECK(inplace("f(Tensor(a!) x) -> int") == "expected result 0 to be the argument 'x', got a int");
  CHECK(inplace("f(Tensor(a!) x) -> Tensor") ==
        "expected result 0 to be the argument 'x', got a new tensor");
  CHECK(inplace("f(Tensor(a!) x) -> Tensor(a)") ==
        "expected result 0 to be the argument 'x', got a view, of which nothing is written to");
  CHECK(inplace("f(Tensor(a!) x, Tensor(b) y) -> Tensor(b!)") ==
        "expected result 0 to be the argument 'x', got another alias set");
}

TEST_CASE("an operator that is tagged out writes to keyword-only arguments and returns them") {
  const auto out = [](const char* schema) { return wrong(Tag::out, schema); };
  CHECK(out("f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)") == "");
  CHECK(out("f(Tensor x, *, Tensor(a!) p, Tensor(b!) q) -> (Tensor(a!), Tensor(b!))") == "");
  CHECK(out("f(*, Tensor(a!) x) -> Tensor(a!)") == "");
  CHECK(out("f(Tensor x) -> Tensor") == "expected an argument that is written to, got none");
  CHECK(out("f(Tensor(a!) x, *, Tensor(b!) out) -> (Tensor(a!), Tensor(b!))") ==
        "expected all arguments that are written to to be keyword-only, got 'x', which is "
        "positional");
  CHECK(out("f(Tensor x, *, Tensor(a!)[] out) -> ()") ==
        "expected all arguments that are written to to be Tensors, got 'out', a Tensor[]");
  CHECK(out("f(Tensor x, *, Tensor(a!) p, Tensor(b!) q) -> Tensor(a!)") ==
        "expected all arguments that are written to as results, got 2 of these and 1 results");
  CHECK(out("f(Tensor x, *, Tensor(a!) p, Tensor(b!) q) -> (Tensor(b!), Tensor(a!))") ==
        "expected result 0 to be the argument 'p', got another alias set");
  CHECK(out("f(Tensor x, *, Tensor(a!) out) -> Tensor") ==
        "expected result 0 to be the argument 'out', got a new tensor");
  CHECK(out("f(Tensor x, *, Tensor(a!) out) -> Tensor(a)") ==
        "expected result 0 to be the argument 'out', got a view, of which nothing is written to");
}

TEST_CASE("one that is built in may take lists, write to more and return nothing") {
  CHECK(wrong(Tag::inplace, "f(Tensor(a!)[] x, Tensor(b!)[] y) -> ()", true) == "");
  CHECK(wrong(Tag::inplace, "f(Tensor x) -> ()", true) ==
        "expected the first argument to be written to, got 'x', which is not");
  CHECK(wrong(Tag::out, "f(Tensor(a!) x, *, Tensor(b!)[] out) -> ()", true) == "");
  CHECK(wrong(Tag::out, "f(Tensor(a!) x) -> ()", true) ==
        "expected an argument that is written to to be keyword-only, got none");
}

TEST_CASE("other tags ask nothing of a schema") { CHECK(wrong(Tag::reduction, "f() -> ()") == ""); }

}  // namespace
}  // namespace sb
