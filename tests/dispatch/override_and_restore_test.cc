// Kernels at one key form a stack, newest on top. A library that may override puts its kernel on
// it; closing the library takes that one out, wherever it lies, and uncovers what was below.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("an override runs while its library is open") {
  Recorder f;
  f.ends_at({K::CPU});
  {
    Library other(f.dispatcher(), Library::Kind::Impl, "demo");
    other.allow_override().impl("f", K::CPU, f.kernel("override"));
    CHECK(f.call({K::CPU}) == Log{"override for CPU"});
  }
  CHECK(f.call({K::CPU}) == Log{"CPU"});
}

TEST_CASE("without allow_override a second kernel is refused, and names both places") {
  Recorder f;
  f.ends_at({K::CPU});
  Library other(f.dispatcher(), Library::Kind::Impl, "demo");
  CHECK_THROWS_WITH(other.impl("f", K::CPU, f.kernel("second")),
                    Catch::Contains("demo::f [CPU]: a kernel is already registered;") &&
                        Catch::Contains("tests/dispatch/recording.cc") &&
                        Catch::Contains("tests/dispatch/override_and_restore_test.cc"));
  CHECK(f.call({K::CPU}) == Log{"CPU"});
}

TEST_CASE("removing from the middle or the bottom of the stack does not change what runs") {
  Recorder f;
  std::vector<Library> libraries;
  for (std::string label : {"first", "second", "third"}) {
    libraries.emplace_back(f.dispatcher(), Library::Kind::Impl, "demo");
    libraries.back().allow_override().impl("f", K::CPU, f.kernel(label));
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
  other.allow_override().impl("f", K::CompositeExplicitAutograd, f.kernel("override"));
  CHECK(f.call({K::CPU}) == Log{"override for CPU"});
  CHECK(f.call({K::SparseCUDA}) == Log{"override for SparseCUDA"});
}

TEST_CASE("an override by a fallthrough opens the way, and closing it shuts it again") {
  Recorder f;
  f.ends_at({K::AutogradCPU, K::CPU});
  {
    Library other(f.dispatcher(), Library::Kind::Impl, "demo");
    other.allow_override().impl("f", K::AutogradCPU, fallthrough);
    CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"CPU"});
  }
  CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"AutogradCPU"});
}

}  // namespace
}  // namespace sb
