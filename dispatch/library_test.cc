#include "switchboard/dispatch/library.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

Tensor first(const Tensor& x) { return x; }

using Kind = Library::Kind;

TEST_CASE("a namespace has one DEF library and any number of others") {
  Dispatcher d;
  Library def(d, Kind::Def, "demo");
  Library fragment(d, Kind::Fragment, "demo"), impl(d, Kind::Impl, "demo");
  CHECK_THROWS_WITH(Library(d, Kind::Def, "demo"),
                    Catch::Contains("library_test.cc") && Catch::Contains("FRAGMENT"));
  def.close();
  CHECK_NOTHROW(Library(d, Kind::Def, "demo"));
}

TEST_CASE("reserved, empty and fallback-only namespaces are refused where they do not fit") {
  Dispatcher d;
  CHECK_THROWS_AS(Library(d, Kind::Def, "prim"), RuntimeError);
  CHECK_THROWS_AS(Library(d, Kind::Def, ""), ValueError);
  CHECK_THROWS_AS(Library(d, Kind::Def, "_"), RuntimeError);
  Library fallbacks(d, Kind::Impl, "_");
  CHECK_THROWS_AS(fallbacks.impl("op", DispatchKey::CPU, first), RuntimeError);
}

TEST_CASE("a namespace is an identifier") {
  Dispatcher d;
  for (const char* ns : {"a b", "9a", "a.b", "a::b", "a-b", " a", "a ", "\xc3\xa9"}) {
    for (const Kind kind : {Kind::Def, Kind::Fragment, Kind::Impl}) {
      CHECK_THROWS_AS(Library(d, kind, ns), ValueError);
      CHECK_THROWS_WITH(
          Library(d, kind, ns),
          Catch::Contains(std::string("expected an identifier as namespace, got '") + ns));
    }
  }
  for (const char* ns : {"a", "A9", "_a", "a_b9"}) CHECK_NOTHROW(Library(d, Kind::Def, ns));
}

TEST_CASE("an IMPL library defines nothing, and names of other namespaces are refused") {
  Dispatcher d;
  Library impl(d, Kind::Impl, "demo");
  CHECK_THROWS_AS(impl.define("f(Tensor x) -> Tensor"), RuntimeError);
  Library def(d, Kind::Def, "demo");
  CHECK_THROWS_AS(def.define("other::f(Tensor x) -> Tensor"), RuntimeError);
  CHECK(d.all_ops().empty());
}

TEST_CASE("closing a library undoes what it registered, and closing it again does nothing") {
  Dispatcher d;
  std::optional<OperatorHandle> f;
  {
    Library m(d, Kind::Def, "demo");
    f = m.define("f(Tensor x) -> Tensor");
    m.impl("f", DispatchKey::CPU, first);
    CHECK_NOTHROW(f->call({tensor_on(DeviceType::CPU)}));
    m.close();
    m.close();
    CHECK_THROWS_AS(m.define("g(Tensor x) -> Tensor"), RuntimeError);
  }
  CHECK_FALSE(d.find_op("demo::f"));
  CHECK(d.find_entry(OperatorName::parse("demo::f")) == nullptr);
  SECTION("a handle that is left throws, and never crashes") {
    CHECK_THROWS_AS(f->call({tensor_on(DeviceType::CPU)}), NotImplementedError);
    Stack stack = {tensor_on(DeviceType::CPU)};
    CHECK_THROWS_AS(f->call_boxed(&stack), NotImplementedError);
    CHECK_THROWS_AS(f->redispatch_boxed(DispatchKey::CPU, &stack), NotImplementedError);
    CHECK(f->name().to_string() == "demo::f");
  }
  SECTION("the operator may be defined anew, otherwise, and the old handle stays dead") {
    Library m(d, Kind::Def, "demo");
    m.define("f(int n) -> int");
    CHECK_THROWS_AS(f->schema(), NotImplementedError);
  }
}

TEST_CASE("impl without a key takes the library's, else CompositeImplicitAutograd") {
  Dispatcher d;
  Library def(d, Kind::Def, "demo");
  def.define("f(Tensor x) -> Tensor");
  def.impl("f", first);
  Library cuda(d, Kind::Impl, "demo", DispatchKey::CUDA);
  cuda.impl("f", first);
  const OperatorEntry* f = d.find_entry(OperatorName::parse("demo::f"));
  CHECK(f->keys_with_kernels() ==
        std::vector<DispatchKey>{DispatchKey::CUDA, DispatchKey::CompositeImplicitAutograd});
}

TEST_CASE("a bare name takes its schema from a typed kernel") {
  Dispatcher d;
  Library m(d, Kind::Def, "demo");
  const OperatorHandle f =
      m.define("f", [](const Tensor& x, int64_t n) { return std::tuple<Tensor, int64_t>(x, n); });
  CHECK(f.schema().to_string() == "demo::f(Tensor _0, int _1) -> (Tensor, int)");
  CHECK(f.call({Tensor(), 3})[1].to_int() == 3);
  CHECK_THROWS_AS(m.define("g", [](const OperatorHandle&, DispatchKeySet, Stack*) {}),
                  RuntimeError);
  SECTION("and a schema stays when its kernel is refused") {
    CHECK_THROWS_AS(m.define("h(int n) -> int", first), RuntimeError);
    CHECK(d.find_op("demo::h"));
  }
}

TEST_CASE("a library prints its kind, namespace and key") {
  Dispatcher d;
  CHECK_THAT(Library(d, Kind::Impl, "demo", DispatchKey::CPU).to_string(),
             Catch::StartsWith("Library(IMPL, ns=demo, dispatch_key=CPU"));
}

TEST_CASE("a kernel may own a library, which closes with it") {
  Dispatcher d;
  Library m(d, Kind::Def, "demo");
  m.define("f(Tensor x) -> Tensor");
  auto inner = std::make_shared<Library>(d, Kind::Def, "inner");
  inner->define("g(Tensor x) -> Tensor");
  m.impl("f", DispatchKey::CPU, [inner](const Tensor& x) { return x; });
  inner.reset();
  CHECK(d.find_op("inner::g"));
  m.close();
  CHECK_FALSE(d.find_op("inner::g"));
}

TEST_CASE("kernels keep their state") {
  Dispatcher d;
  Library m(d, Kind::Def, "demo");
  const OperatorHandle f = m.define("f(int n) -> int");
  int64_t calls = 0;
  m.impl("f", DispatchKey::CompositeExplicitAutograd, [&calls](int64_t n) { return n + ++calls; });
  CHECK(f.call({10})[0].to_int() == 11);
  CHECK(f.call({10})[0].to_int() == 12);
}

}  // namespace
}  // namespace sb
