#include "switchboard/dispatch/objects/kept_kernel.h"

#include <optional>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using Catch::Contains;
using K = DispatchKey;

int64_t first_of(const Arguments& results) { return results.at(0).to_int(); }

struct KeptKernelTest {
  Library m{Library::Kind::Def, "kept_test"};
  OpOverload f{m.define("f(Tensor x, int n=1) -> int")};
  const Tensor x = tensor_on(DeviceType::CPU);
  KeptKernelTest() {
    m.impl("f", K::CPU, [](const Tensor&, int64_t n) { return n + 10; });
  }
};

TEST_CASE_METHOD(KeptKernelTest, "a kept kernel is called by the one that is put over it") {
  const KeptKernel below = get_kernel("kept_test::f", K::CPU);
  CHECK(first_of(below(DispatchKeySet(K::CPU), x)) == 11);  // with defaults
  Library over(Library::Kind::Impl, "kept_test");
  over.impl("f", K::CPU, [below](DispatchKeySet keys, const Tensor& t, int64_t n) {
    return 2 * first_of(below(keys, t, n));
  });
  CHECK(first_of(f(x, 5)) == 30);
  CHECK(first_of(below.call(DispatchKeySet(K::CPU), {x}, {{"n", 2}})) == 12);
}

TEST_CASE_METHOD(KeptKernelTest, "it is what the computed table has: at an alias key, too") {
  m.impl("f", K::CompositeExplicitAutograd, [](const Tensor&, int64_t) { return int64_t{7}; });
  CHECK(first_of(get_kernel(f, "CUDA")(DispatchKeySet(K::CUDA), x)) == 7);
  CHECK(first_of(get_kernel(f, "CPU")(DispatchKeySet(K::CPU), x)) == 11);
}

TEST_CASE_METHOD(KeptKernelTest, "once it is no longer registered, a call is an error") {
  std::optional<Library> over(std::in_place, Library::Kind::Impl, "kept_test");
  over->impl("f", K::CPU, [](const Tensor&, int64_t) { return int64_t{3}; });
  const KeptKernel kept = get_kernel(f, K::CPU);
  CHECK(first_of(kept(DispatchKeySet(K::CPU), x)) == 3);
  over.reset();
  CHECK_THROWS_WITH(kept(DispatchKeySet(K::CPU), x),
                    Contains("kept_test::f: the kept kernel at CPU is no longer registered") &&
                        Contains("kept_kernel_test.cc"));
  CHECK(first_of(f(x)) == 11);
}

TEST_CASE_METHOD(KeptKernelTest, "where there is no kernel to keep, the error says so") {
  CHECK_THROWS_WITH(get_kernel(f, K::CUDA), Contains("get_kernel: kept_test::f: no kernel for CUDA "
                                                     "(missing); registered: CPU"));
  CHECK_THROWS_AS(get_kernel("kept_test::none", K::CPU), RuntimeError);
  CHECK_THROWS_AS(get_kernel(f, K::CompositeExplicitAutograd), ValueError);
  CHECK_THROWS_WITH(get_kernel(f, "GPU"), "get_kernel: kept_test::f: 'GPU' is no dispatch key");
  m.impl("f", K::AutocastCPU, fallthrough);
  CHECK_THROWS_AS(get_kernel(f, K::AutocastCPU), RuntimeError);
}

}  // namespace
}  // namespace sb
