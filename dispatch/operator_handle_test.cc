#include "switchboard/dispatch/operator_handle.h"

#include <type_traits>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_overload.h"

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

}  // namespace
}  // namespace sb
