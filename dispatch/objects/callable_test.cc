#include "switchboard/dispatch/objects/callable.h"

#include "catch2/catch.hpp"

namespace sb {
namespace {

TEST_CASE("a function travels in a value") {
  int calls = 0;
  const IValue value = Callable::make([&](std::vector<IValue> arguments) {
    ++calls;
    return std::vector<IValue>{IValue(arguments[0].to_int() + 1)};
  });
  const IValue copy = value;
  CHECK((*Callable::from(copy))({IValue(2)})[0].to_int() == 3);
  CHECK(Callable::find(copy)->function()({IValue(3)})[0].to_int() == 4);
  CHECK(calls == 2);
  CHECK(Callable::from(value)->class_name() == "sb.Callable");
}

TEST_CASE("what holds no function is told apart") {
  class Other : public OpaqueObject {
    std::string_view class_name() const override { return "Other"; }
  };
  CHECK_FALSE(Callable::find(IValue(1)));
  CHECK_FALSE(Callable::find(IValue(IntrusivePtr<OpaqueObject>(make_intrusive<Other>()))));
  CHECK_THROWS_WITH(Callable::from(IValue(1)), "expected a Callable, got 1");
  CHECK_THROWS_AS(Callable::from(IValue(1)), TypeError);
  CHECK_THROWS_WITH(Callable::make(nullptr), "Callable: expected a function, got an empty one");
}

}  // namespace
}  // namespace sb
