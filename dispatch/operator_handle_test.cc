#include "switchboard/dispatch/operator_handle.h"

#include <type_traits>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

TEST_CASE("a copy of a handle is one word, and the same operator") {
  STATIC_REQUIRE(sizeof(OperatorHandle) == sizeof(void*));
  STATIC_REQUIRE(std::is_trivially_copyable_v<OperatorHandle>);
  STATIC_REQUIRE(std::is_trivially_copyable_v<OpOverload>);
  Dispatcher d;
  Library m(d, Library::Kind::Def, "demo");
  const OperatorHandle f = m.define("f(int n) -> int"), g = m.define("g(int n) -> int");
  OperatorHandle copy = f;
  CHECK(copy == f);
  CHECK(&copy.entry() == &f.entry());
  m.impl("f", DispatchKey::CompositeExplicitAutograd, [](int64_t n) { return n + 1; });
  CHECK(copy.call({1})[0].to_int() == 2);
  copy = g;
  CHECK(copy != f);
}

TEST_CASE("an argument of type Any takes every value as it is, and a list of any type every list") {
  Dispatcher d;
  Library m(d, Library::Kind::Def, "demo");
  const OperatorHandle same = m.define("same(Any x) -> Any");
  m.impl(same, DispatchKey::CompositeExplicitAutograd, [](const IValue& x) { return x; });
  CHECK(same.call({3})[0].to_int() == 3);
  CHECK(same.call({"text"})[0].to_string_view() == "text");
  CHECK(same.call({IValue()})[0].is_None());
  CHECK(same.call({std::vector<int64_t>{1, 2}})[0].is_IntList());
  const Tensor x = tensor_on(DeviceType::CPU);
  CHECK(same.call({x})[0].to_tensor().is_same(x));

  const OperatorHandle append = m.define("append(t[] list, t el) -> t[]");
  m.impl(append, DispatchKey::CompositeExplicitAutograd,
         [](const OperatorHandle&, DispatchKeySet, Stack* stack) {
           std::vector<IValue> list = (*stack)[0].to_list();
           list.push_back((*stack)[1]);
           *stack = {IValue(std::move(list))};
         });
  CHECK(append.call({std::vector<int64_t>{1, 2}, 3})[0].to_list()[2].to_int() == 3);
  CHECK(append.call({std::vector<Tensor>{x}, x})[0].to_list()[1].to_tensor().is_same(x));
  CHECK_THROWS_AS(append.call({3, 3}), TypeError);
}

}  // namespace
}  // namespace sb
