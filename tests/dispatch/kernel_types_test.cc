// A typed kernel must agree with the schema, whichever of the two comes first; typed kernels that
// wait for a schema must agree with one another. Boxed kernels are never checked.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

Tensor identity(const Tensor& x) { return x; }
int64_t count(const Tensor&) { return 1; }

TEST_CASE("a kernel that does not agree with the schema is refused, and changes nothing") {
  Recorder f("f(Tensor x) -> ()");
  CHECK_THROWS_WITH(f.library().impl("f", K::CPU, identity),
                    Catch::Contains("demo::f [CPU]: the kernel's type") &&
                        Catch::Contains("demo::f(Tensor x) -> ()"));
  CHECK(f.rule(K::CPU) == "missing");
}

TEST_CASE("a schema that does not agree with a kernel is refused, and the kernel waits on") {
  Dispatcher d;
  Library kernels(d, Library::Kind::Impl, "demo"), m(d, Library::Kind::Def, "demo");
  kernels.impl("f", K::CPU, identity);
  CHECK_THROWS_WITH(m.define("f(Tensor x, int n) -> Tensor"), Catch::Contains("(Tensor)"));
  CHECK_FALSE(d.find_op("demo::f"));
  const OperatorHandle f = m.define("f(Tensor x) -> Tensor");
  const Tensor x = tensor_with(K::CPU);
  CHECK(f.call({x})[0].to_tensor().is_same(x));
}

TEST_CASE("without a schema, typed kernels are checked against one another") {
  Dispatcher d;
  Library kernels(d, Library::Kind::Impl, "demo");
  kernels.impl("f", K::CPU, identity);
  CHECK_THROWS_WITH(kernels.impl("f", K::Meta, count), Catch::Contains("different types"));
  CHECK_NOTHROW(kernels.impl("f", K::CUDA, identity));
}

TEST_CASE("a boxed kernel fits any schema") {
  Recorder f("f(str s, int[] n, Tensor? x) -> ()");
  f.ends_at({K::CPU});
  CHECK(f.call({"s", std::vector<int64_t>{1}, tensor_with(K::CPU)}) == Log{"CPU"});
}

}  // namespace
}  // namespace sb
