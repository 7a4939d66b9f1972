// An operator with kernels and no schema is dangling: it has no handle and cannot be called. It
// vanishes with its last schema or kernel, whichever goes last.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("by name only an operator with a schema is found") {
  Dispatcher d;
  Log log;
  Library kernels(d, Library::Kind::Impl, "demo");
  kernels.impl("f", K::CPU, RecordingKernel{&log, "CPU"});
  CHECK_FALSE(d.find_op("demo::f"));
  CHECK(d.dangling_ops("demo") == std::vector<std::string>{"demo::f"});
  CHECK_THROWS_AS(d.find_op_or_throw("demo::f"), RuntimeError);
  Library schema(d, Library::Kind::Def, "demo");
  schema.define("f(Tensor x) -> ()");
  CHECK(d.find_op("demo::f"));
  CHECK(d.dangling_ops("demo").empty());
}

TEST_CASE("a schema that goes leaves the kernels, which serve the next one") {
  Dispatcher d;
  Log log;
  Library kernels(d, Library::Kind::Impl, "demo");
  kernels.impl("f", K::CPU, RecordingKernel{&log, "CPU"});
  for (const char* schema : {"f(Tensor x) -> ()", "f(Tensor x, Tensor y) -> ()"}) {
    Library m(d, Library::Kind::Def, "demo");
    const OperatorHandle f = m.define(schema);
    f.call(std::vector<IValue>(f.schema().arguments.size(), tensor_with(K::CPU)));
    m.close();
    CHECK_THROWS_AS(f.schema(), NotImplementedError);
    CHECK(d.dangling_ops("demo") == std::vector<std::string>{"demo::f"});
  }
  CHECK(log == Log{"CPU", "CPU"});
}

TEST_CASE("an operator vanishes with its last schema or kernel") {
  Dispatcher d;
  Log log;
  auto exists = [&] { return d.find_entry(OperatorName::parse("demo::f")) != nullptr; };
  for (bool schema_first : {true, false}) {
    Library schema(d, Library::Kind::Def, "demo"), kernels(d, Library::Kind::Impl, "demo");
    schema.define("f(Tensor x) -> ()");
    kernels.impl("f", K::CPU, RecordingKernel{&log, "CPU"});
    (schema_first ? schema : kernels).close();
    CHECK(exists());
    CHECK(d.find_op("demo::f").has_value() == !schema_first);
    (schema_first ? kernels : schema).close();
    CHECK_FALSE(exists());
  }
}

}  // namespace
}  // namespace sb
