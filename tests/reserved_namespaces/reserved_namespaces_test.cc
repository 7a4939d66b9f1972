// BUILD.bazel compiles this together with dispatch/library.cc, for which it reserves two
// namespaces.

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"

namespace sb {
namespace {

TEST_CASE("a build may reserve namespaces of its own") {
  Dispatcher d;
  using Kind = Library::Kind;
  for (const char* reserved : {"mine", "yours"}) {
    for (Kind kind : {Kind::Def, Kind::Fragment}) {
      CHECK_THROWS_WITH(Library(d, kind, reserved),
                        Catch::Contains(reserved) && Catch::Contains("reserved"));
    }
    CHECK_NOTHROW(Library(d, Kind::Impl, reserved));
  }
  CHECK_NOTHROW(Library(d, Kind::Def, "prim"));
}

}  // namespace
}  // namespace sb
