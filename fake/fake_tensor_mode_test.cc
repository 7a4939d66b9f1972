#include "switchboard/fake/fake_tensor_mode.h"

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

const Device kCuda(DeviceType::CUDA, 0);

Tensor real(IntArrayRef sizes) { return zeros(sizes); }

std::vector<int64_t> sizes_of(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }

TEST_CASE("a fake tensor has the real one's metadata, a device of its own, and no data") {
  FakeTensorMode fake;
  const Tensor x = permute(real({2, 3}), {1, 0});
  const Tensor f = fake.from_tensor(x, kCuda);
  CHECK(is_fake(f));
  CHECK_FALSE(is_fake(x));
  CHECK(f.device() == kCuda);
  CHECK(f.sizes() == x.sizes());
  CHECK(f.strides() == x.strides());
  CHECK(f.dtype() == x.dtype());
  CHECK_THROWS_WITH(f.data_ptr(), Catch::Contains("fake") && Catch::Contains("cuda:0"));
}

TEST_CASE("a tensor has one fake on each device, with a storage of its own") {
  FakeTensorMode fake;
  const Tensor x = real({2, 3});
  const Tensor here = fake.from_tensor(x), there = fake.from_tensor(x, kCuda);
  CHECK_FALSE(here.is_alias_of(there));
  CHECK(fake.from_tensor(x).is_same(here));
  CHECK(fake.from_tensor(x, kCuda).is_same(there));
}

TEST_CASE("an active mode lives as long as its guard") {
  const FakeTensorModeGuard active{FakeTensorMode()};
  CHECK(is_fake(ones({2})));
}

TEST_CASE("its keys are those of the fake device, and Python") {
  FakeTensorMode fake;
  const Tensor f = fake.from_tensor(real({2}), kCuda);
  CHECK(f.key_set() == (tensor_key_set(DeviceType::CUDA) | DispatchKey::Python));
}

TEST_CASE("operators on fake tensors run shape rules on a device that is not here") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(real({4, 3}), kCuda), w = fake.from_tensor(real({3, 5}), kCuda);
  const Tensor y = relu(mm(x, w));
  CHECK(is_fake(y));
  CHECK(y.device() == kCuda);
  CHECK(sizes_of(y) == std::vector<int64_t>{4, 5});
  CHECK_THROWS_AS(mm(x, x), RuntimeError);
}

TEST_CASE("composite operators come back to the mode for each operator that they call") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(real({4, 3}), kCuda);
  const Tensor w = fake.from_tensor(real({5, 3}), kCuda), b = fake.from_tensor(real({5}), kCuda);
  const Tensor y = linear(x, w, b);
  CHECK(y.device() == kCuda);
  CHECK(sizes_of(y) == std::vector<int64_t>{4, 5});
  CHECK(sizes_of(reshape(y, {2, -1})) == std::vector<int64_t>{2, 10});
  CHECK(zeros_like(y).device() == kCuda);
}

TEST_CASE("in-place operators give the very tensor, and views share its fake storage") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(real({4, 3}), kCuda);
  CHECK(add_(x, x).is_same(x));
  const Tensor v = permute(x, {1, 0});
  CHECK(is_fake(v));
  CHECK(v.is_alias_of(x));
}

TEST_CASE("the same real tensor gives the same fake, and views stay views") {
  FakeTensorMode fake;
  const Tensor x = real({4, 3}), v = permute(x, {1, 0});
  const Tensor fx = fake.from_tensor(x, kCuda);
  CHECK(fake.from_tensor(x, kCuda).is_same(fx));
  CHECK(fake.from_tensor(v, kCuda).is_alias_of(fx));
  CHECK_FALSE(fake.from_tensor(real({4, 3}), kCuda).is_alias_of(fx));
  CHECK(fake.from_tensor(fx).is_same(fx));
}

TEST_CASE("the arguments' devices must agree, but for 0-dim CPU tensors") {
  FakeTensorMode fake;
  const Tensor cuda = fake.from_tensor(real({2}), kCuda), cpu = fake.from_tensor(real({2}));
  const Tensor scalar = fake.from_tensor(real({}));
  CHECK_THROWS_WITH(add(cuda, cpu), Catch::Contains("aten::add.Tensor") &&
                                        Catch::Contains("argument 0 'self' on cuda:0") &&
                                        Catch::Contains("argument 1 'other' on cpu"));
  CHECK(add(cuda, scalar).device() == kCuda);
  CHECK(add(scalar, cuda).device() == kCuda);
  CHECK(add(scalar, scalar).device() == Device(DeviceType::CPU));
  CHECK_THROWS_AS(add(cuda, fake.from_tensor(real({2}), Device("cuda:1"))), RuntimeError);
}

TEST_CASE("copies go from any fake device to any other, and follow the destination") {
  FakeTensorMode fake;
  const Tensor cuda = fake.from_tensor(real({2}), kCuda), cpu = fake.from_tensor(real({2}));
  CHECK(copy_(cuda, cpu).device() == kCuda);
  CHECK(to(cpu, kCuda).device() == kCuda);
}

TEST_CASE("factories make fake tensors while the mode is active, and real ones afterwards") {
  FakeTensorMode fake;
  {
    FakeTensorModeGuard active(fake);
    const Tensor z = zeros({2, 2}, Device("cuda"));
    CHECK(is_fake(z));
    CHECK(z.device() == kCuda);
    CHECK(ones({2}).device() == Device(DeviceType::CPU));
    CHECK(is_fake(ones({2})));
  }
  CHECK_FALSE(is_fake(ones({2})));
}

TEST_CASE("real tensors among the arguments are refused, unless the mode allows them") {
  const Tensor x = real({2});
  FakeTensorMode strict;
  const Tensor f = strict.from_tensor(real({2}));
  CHECK_THROWS_WITH(add(f, x), Catch::Contains("argument 1 'other'") &&
                                   Catch::Contains("expected a fake tensor, got a real one"));
  FakeTensorMode lenient({.allow_non_fake_inputs = true});
  CHECK(is_fake(add(lenient.from_tensor(real({2})), x)));
}

TEST_CASE("tensors of two modes do not mix") {
  FakeTensorMode a, b;
  CHECK_THROWS_AS(add(a.from_tensor(real({2})), b.from_tensor(real({2}))), RuntimeError);
  CHECK_THROWS_AS(a.from_tensor(b.from_tensor(real({2}))), RuntimeError);
}

TEST_CASE("an operator that reads its result out of the data is refused") {
  FakeTensorMode fake;
  CHECK_THROWS_AS(item(fake.from_tensor(real({}))), DataDependentOutputError);
}

TEST_CASE("an operator without a shape rule is refused, and the error says what to register") {
  Library m(Library::Kind::Def, "fake_test");
  const OperatorHandle op = m.define("cpu_only(Tensor x) -> Tensor");
  m.impl("cpu_only", DispatchKey::CPU, [](const Tensor& x) { return x; });
  FakeTensorMode fake;
  CHECK_THROWS_WITH(op.call({fake.from_tensor(real({2}))}),
                    Catch::Contains("fake_test::cpu_only") && Catch::Contains("Meta"));
}

TEST_CASE("kernels above the backend run as they would on the real device") {
  Library m(Library::Kind::Def, "fake_test");
  const OperatorHandle op = m.define("layered(Tensor x) -> Tensor");
  m.impl("layered", DispatchKey::Meta,
         [](const Tensor& x) { return empty_on(DeviceType::Meta, x.sizes(), x.dtype()); });
  static int cuda_calls = 0;
  m.impl("layered", DispatchKey::AutogradCUDA,
         [](const OperatorHandle& self, DispatchKeySet keys, Stack* stack) {
           ++cuda_calls;
           self.redispatch_boxed(keys & DispatchKeySet::below(DispatchKey::ADInplaceOrView), stack);
         });
  FakeTensorMode fake;
  op.call({fake.from_tensor(real({2}), kCuda)});
  op.call({fake.from_tensor(real({2}))});
  CHECK(cuda_calls == 1);
}

TEST_CASE("memory counts what the storages would take, now and at most") {
  FakeTensorMode fake;
  {
    const Tensor x = fake.from_tensor(real({100}), kCuda);
    CHECK(fake.memory().current_bytes() == 400);
    const Tensor v = permute(x, {0});
    CHECK(fake.memory().current_bytes() == 400);
    add(x, x);
    CHECK(fake.memory().current_bytes() == 400);
    CHECK(fake.memory().peak_bytes() == 800);
  }
  fake.from_tensor(real({1}));
  CHECK(fake.memory().peak_bytes() == 800);
}

TEST_CASE("remembering a tensor keeps neither its memory nor its fake alive") {
  FakeTensorMode fake;
  AllocationStats& cpu = get_allocator(DeviceType::CPU)->stats();
  const int64_t before = cpu.current_bytes();
  fake.from_tensor(real({1000}));
  CHECK(cpu.current_bytes() == before);
  CHECK(fake.memory().current_bytes() == 0);
}

TEST_CASE("fake tensors outlive the handle of their mode") {
  Tensor f;
  {
    FakeTensorMode fake;
    f = fake.from_tensor(real({3}), kCuda);
  }
  CHECK(relu(f).device() == kCuda);
}

TEST_CASE("a huge tensor costs nothing") {
  FakeTensorMode fake;
  FakeTensorModeGuard active(fake);
  const Tensor x = empty({1 << 20, 1 << 20}, kCuda);
  CHECK(add(x, x).nbytes() == (size_t{1} << 42));
}

}  // namespace
}  // namespace sb
