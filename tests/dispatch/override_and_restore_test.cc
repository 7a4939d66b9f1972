// Kernels at one key form a stack, newest on top. A library puts its kernel on it; closing the
// library takes that one out, wherever it lies, and uncovers what was below.

#include "catch2/catch.hpp"
#include "switchboard/dispatch/static_library.h"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

void define_with_kernel(Library& m) {
  m.define("f(int n) -> int");
  m.impl("f", K::CompositeExplicitAutograd, [](int64_t n) { return n; });
  m.impl("f", K::CPU, [](int64_t n) { return n + 1; });
}
void second_kernel(Library& m) {
  m.impl("f", K::CPU, [](int64_t n) { return n + 2; });
}
void override_kernel(Library& m) {
  m.allow_override().impl("f", K::CompositeExplicitAutograd, [](int64_t n) { return n + 2; });
}

TEST_CASE("an override runs while its library is open") {
  Recorder f;
  f.ends_at({K::CPU});
  {
    Library other(f.dispatcher(), Library::Kind::Impl, "demo");
    other.impl("f", K::CPU, f.kernel("override"));
    CHECK(f.call({K::CPU}) == Log{"override for CPU"});
  }
  CHECK(f.call({K::CPU}) == Log{"CPU"});
}

TEST_CASE("a library that may not override is refused a second kernel, with both places") {
  Recorder f;
  f.ends_at({K::CPU});
  Library other(f.dispatcher(), Library::Kind::Impl, "demo");
  other.allow_override(false);
  CHECK_THROWS_WITH(other.impl("f", K::CPU, f.kernel("second")),
                    Catch::Contains("demo::f [CPU]: a kernel is already registered;") &&
                        Catch::Contains("tests/dispatch/recording.cc") &&
                        Catch::Contains("tests/dispatch/override_and_restore_test.cc"));
  CHECK(f.call({K::CPU}) == Log{"CPU"});
}

TEST_CASE("a library may put a kernel over its own") {
  Recorder f;
  f.ends_at({K::CPU});
  Library other(f.dispatcher(), Library::Kind::Impl, "demo");
  other.impl("f", K::CPU, f.kernel("second"));
  other.impl("f", K::CPU, f.kernel("third"));
  CHECK(f.call({K::CPU}) == Log{"third for CPU"});
  other.close();
  CHECK(f.call({K::CPU}) == Log{"CPU"});
}

TEST_CASE("blocks of a program may not override, as nobody knows their order") {
  const auto fill = [](void (*second)(Library&)) {
    const auto here = SourceLocation::current();
    return internal::StaticBlocks::fill(
        {{LibraryKind::Def, "override_test", std::nullopt, define_with_kernel, here},
         {LibraryKind::Impl, "override_test", std::nullopt, second, here}});
  };
  CHECK_THROWS_WITH(fill(second_kernel),
                    Catch::Contains("override_test::f [CPU]: a kernel is already registered;"));
  const auto libraries = fill(override_kernel);
  CHECK(default_dispatcher().find_op_or_throw("override_test::f").call({1})[0].to_int() == 3);
}

TEST_CASE("removing from the middle or the bottom of the stack does not change what runs") {
  Recorder f;
  std::vector<Library> libraries;
  for (std::string label : {"first", "second", "third"}) {
    libraries.emplace_back(f.dispatcher(), Library::Kind::Impl, "demo");
    libraries.back().impl("f", K::CPU, f.kernel(label));
  }
  CHECK(f.call({K::CPU}) == Log{"third for CPU"});
  libraries[1].close();
  CHECK(f.call({K::CPU}) == Log{"third for CPU"});
  libraries[2].close();
  CHECK(f.call({K::CPU}) == Log{"first for CPU"});
  libraries[0].close();
  CHECK(f.rule(K::CPU) == "missing");
}

TEST_CASE("overriding at an alias key changes every slot that it fills") {
  Recorder f;
  f.ends_at({K::CompositeExplicitAutograd});
  Library other(f.dispatcher(), Library::Kind::Impl, "demo");
  other.impl("f", K::CompositeExplicitAutograd, f.kernel("override"));
  CHECK(f.call({K::CPU}) == Log{"override for CPU"});
  CHECK(f.call({K::SparseCUDA}) == Log{"override for SparseCUDA"});
}

TEST_CASE("an override by a fallthrough opens the way, and closing it shuts it again") {
  Recorder f;
  f.ends_at({K::AutogradCPU, K::CPU});
  {
    Library other(f.dispatcher(), Library::Kind::Impl, "demo");
    other.impl("f", K::AutogradCPU, fallthrough);
    CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"CPU"});
  }
  CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"AutogradCPU"});
}

}  // namespace
}  // namespace sb
