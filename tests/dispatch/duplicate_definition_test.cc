// An operator, name and overload, has one schema. Defining it twice is an error even with the very
// same schema, and changes nothing; another overload is another operator.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("defining an operator twice throws, names both places and changes nothing") {
  Recorder f("f(Tensor x) -> ()");
  f.ends_at({K::CPU});
  Library fragment(f.dispatcher(), Library::Kind::Fragment, "demo");
  for (Library* library : {&f.library(), &fragment}) {
    for (const char* schema : {"f(Tensor x) -> ()", "f(Tensor x, int n) -> Tensor"}) {
      CHECK_THROWS_WITH(library->define(schema),
                        Catch::Contains("demo::f") &&
                            Catch::Contains("tests/dispatch/recording.cc") &&
                            Catch::Contains("tests/dispatch/duplicate_definition_test.cc"));
    }
  }
  CHECK(f.op().schema().to_string() == "demo::f(Tensor x) -> ()");
  CHECK(f.call({K::CPU}) == Log{"CPU"});
}

TEST_CASE("another overload and another namespace are other operators") {
  Recorder f("f(Tensor x) -> ()");
  f.ends_at({K::CPU});
  const OperatorHandle other = f.library().define("f.other(Tensor x) -> ()");
  Library elsewhere(f.dispatcher(), Library::Kind::Def, "elsewhere");
  CHECK_NOTHROW(elsewhere.define("f(Tensor x) -> ()"));
  CHECK_THROWS_AS(other.call({tensor_with(K::CPU)}), NotImplementedError);
}

TEST_CASE("a name is free again when its definition is gone") {
  Dispatcher dispatcher;
  for (int i = 0; i < 2; ++i) {
    Library m(dispatcher, Library::Kind::Def, "demo");
    CHECK_NOTHROW(m.define("f(Tensor x) -> ()"));
  }
}

}  // namespace
}  // namespace sb
