#include "switchboard/fake/dispatch_cache.h"

#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/fake/fake_rule.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/quantized/quantize.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

const Device kCuda(DeviceType::CUDA, 0);

// A mode that remembers everything, in a cache of its own.
struct Fixture {
  IntrusivePtr<FakeDispatchCache> cache = FakeDispatchCache::create();
  FakeTensorMode mode{{.cache_use = FakeCacheUse::All, .cache = cache}};
  Tensor make(IntArrayRef sizes, DType dtype = DType::Float32) {
    return mode.from_tensor(zeros(sizes, dtype), kCuda);
  }
  uint64_t bypasses(std::string_view reason) const {
    for (const auto& [text, count] : cache->info().bypasses)
      if (text == reason) return count;
    return 0;
  }
};

TEST_CASE("the same call on the same metadata is a hit") {
  Fixture f;
  const Tensor x = f.make({2, 3}), y = f.make({2, 3});
  const Tensor a = add(x, y);
  CHECK(f.cache->info().misses == 1);
  CHECK(f.cache->info().hits == 0);
  const Tensor b = add(y, x);
  CHECK(f.cache->info().hits == 1);
  CHECK(f.cache->info().size == 1);
  CHECK(b.sizes() == a.sizes());
  CHECK(b.device() == kCuda);
  CHECK(b.key_set() == a.key_set());
  CHECK_FALSE(b.is_alias_of(a));
}

TEST_CASE("another size, stride, dtype, device, operator or number is a miss") {
  Fixture f;
  const Tensor x = f.make({2, 3});
  add(x, x);
  add(f.make({3, 2}), f.make({3, 2}));
  add(t(f.make({3, 2})), x);
  add(f.make({2, 3}, DType::Float64), x);
  sub(x, x);
  add(x, x, 2);
  add(x, x, 2.0);
  const Tensor cpu = f.mode.from_tensor(zeros({2, 3}));
  add(cpu, cpu);
  CHECK(f.cache->info().hits == 0);
}

TEST_CASE("1 and 1.0 are two numbers") {
  Fixture f;
  const Tensor x = f.make({2}, DType::Int64);
  CHECK(add(x, x, 1).dtype() == DType::Int64);
  CHECK_THROWS_AS(add(x, x, 1.5), RuntimeError);
}

TEST_CASE("an in-place call gives the very argument, from the cache too") {
  Fixture f;
  const Tensor x = f.make({2}), y = f.make({2});
  CHECK(add_(x, y).is_same(x));
  CHECK(add_(y, x).is_same(y));
  CHECK(f.cache->info().hits == 1);
}

TEST_CASE("a view from the cache lies on its argument's storage") {
  Fixture f;
  const Tensor x = f.make({4, 3}), y = f.make({4, 3});
  select(x, 0, 2);
  const Tensor v = select(y, 0, 2);
  CHECK(f.cache->info().hits == 1);
  CHECK(v.is_alias_of(y));
  CHECK(v.storage_offset() == 6);
  CHECK(v.sizes() == IntArrayRef({3}));
}

TEST_CASE("a typed call and the same call on a stack are one") {
  Fixture f;
  const Tensor x = f.make({4, 3}), y = f.make({4, 3});
  const auto on_stack = [](std::string_view op, Stack stack) {
    default_dispatcher().find_op_or_throw(op).call_boxed(&stack);
    return stack[0].to_tensor();
  };
  add(x, y, 2);
  CHECK(on_stack("aten::add.Tensor", {x, y, 2}).sizes() == x.sizes());
  CHECK(f.cache->info().hits == 1);
  on_stack("aten::add.Tensor", {x, y, 2.5});
  CHECK(add(y, x, 2.5).device() == kCuda);
  CHECK(f.cache->info().hits == 2);
  on_stack("aten::cat", {std::vector<Tensor>{x, y}, 0});
  CHECK(cat({y, x}, 0).sizes() == IntArrayRef({8, 3}));
  CHECK(f.cache->info().hits == 3);
  on_stack("aten::select.int", {x, 0, 1});
  CHECK(select(y, 0, 1).is_alias_of(y));
  CHECK(f.cache->info().hits == 4);
}

TEST_CASE("calls whose first tensors have the same shape are told apart") {
  Fixture f;
  const Tensor x = f.make({4, 3}), row = f.make({1, 3}), many = f.make({2, 1, 1});
  for (int i = 0; i < 3; ++i) {
    CHECK(add(x, row).sizes() == IntArrayRef({4, 3}));
    CHECK(add(x, many).sizes() == IntArrayRef({2, 4, 3}));
    CHECK(add(x, wrapped_scalar_tensor(2)).sizes() == IntArrayRef({4, 3}));
  }
  CHECK(f.cache->info().misses == 2);
  CHECK(f.cache->info().hits == 4);
}

TEST_CASE("looking a call up settles no symbol, and mixes no modes") {
  const auto cache = FakeDispatchCache::create();
  const IntrusivePtr<ShapeEnv> env = ShapeEnv::create();
  FakeTensorMode one{{.shape_env = env, .cache_use = FakeCacheUse::All, .cache = cache}};
  FakeTensorMode other{{.cache_use = FakeCacheUse::All, .cache = cache}};
  const Tensor x = one.from_tensor(zeros({4, 3}), {.device = kCuda, .source = "x"});
  CHECK(add(x, x).is_symbolic());
  CHECK(add(x, x).is_symbolic());
  CHECK(x.is_symbolic());
  CHECK(env->guards().empty());
  const Tensor y = other.from_tensor(zeros({4, 3}), kCuda), real = zeros({4, 3});
  add(y, y);
  CHECK(add(y, y).impl()->mode_data() == y.impl()->mode_data());
  CHECK_THROWS_AS(add(y, real), RuntimeError);
  CHECK_THROWS_AS(add(y, x), RuntimeError);
}

// A mode with symbols and a cache of its own.
struct Symbolic {
  IntrusivePtr<ShapeEnv> env = ShapeEnv::create();
  IntrusivePtr<FakeDispatchCache> cache = FakeDispatchCache::create();
  FakeTensorMode mode{{.shape_env = env, .cache = cache}};
  Tensor make(std::string source, IntArrayRef sizes) {
    return mode.from_tensor(zeros(sizes), {.device = kCuda, .source = std::move(source)});
  }
  uint64_t hits() const { return cache->info().hits; }
  uint64_t misses() const { return cache->info().misses; }
};

TEST_CASE("the same call on the same symbols is a hit, whatever the operator costs") {
  Symbolic f;
  const Tensor x = f.make("x", {4, 3}), y = f.make("y", {4, 3});
  const Tensor first = add(x, y), second = add(y, x);
  CHECK(f.misses() == 1);
  CHECK(f.hits() == 1);
  CHECK(f.cache->info().size == 0);  // the mode remembers it, for its ShapeEnv
  CHECK(second.sym_size(0).to_string() == x.sym_size(0).to_string());
  CHECK(second.sym_stride(0).to_string() == first.sym_stride(0).to_string());
  CHECK(second.device() == kCuda);
  CHECK_FALSE(second.is_alias_of(first));
  CHECK(f.env->guards().empty());
}

TEST_CASE("other symbols of the same hints are another call") {
  Symbolic f;
  const Tensor x = f.make("x", {4, 3});
  const Tensor y = f.mode.from_tensor(
      zeros({4, 3}),
      {.device = kCuda, .source = "y", .dims = {{DimDynamic::Dynamic}, {DimDynamic::Dynamic}}});
  neg(x);
  CHECK(neg(y).sym_size(0).to_string() == y.sym_size(0).to_string());
  CHECK(f.hits() == 0);
}

TEST_CASE("symbols among the numbers of a call are part of it") {
  Symbolic f;
  const Tensor x = f.make("x", {6, 4});
  const SymInt n = x.sym_size(0), m = x.sym_size(1);
  for (int i = 0; i < 2; ++i) {
    CHECK(view(x, {m, n}).sym_size(0).to_string() == m.to_string());
    CHECK(view(x, {n * m, 1}).sym_size(0).to_string() == (n * m).to_string());
    mul_Scalar(x, Scalar(n));
    mul_Scalar(x, Scalar(m));
  }
  CHECK(f.hits() == 4);
}

TEST_CASE("a view with symbols lies on its argument's storage") {
  Symbolic f;
  const Tensor x = f.make("x", {4, 3}), y = f.make("y", {4, 3});
  select(x, 0, 1);
  const Tensor v = select(y, 0, 1);
  CHECK(f.hits() == 1);
  CHECK(v.is_alias_of(y));
  CHECK(v.sym_storage_offset().to_string() == y.sym_stride(0).to_string());
  CHECK(v.sym_size(0).to_string() == y.sym_size(1).to_string());
}

TEST_CASE("a call that asks something of symbols is remembered once that is known") {
  Symbolic f;
  const Tensor x = f.make("x", {4, 3});
  const Tensor y = f.make("y", {3, 5});
  const Tensor z = f.mode.from_tensor(
      zeros({3, 2}),
      {.device = kCuda, .source = "z", .dims = {{DimDynamic::Dynamic}, {DimDynamic::Dynamic}}});
  mm(x, y);  // y has the width of x: there is nothing to ask
  CHECK(f.env->guards().empty());
  CHECK(f.misses() == 1);
  mm(x, z);
  CHECK(f.env->guards().size() == 1);
  CHECK(f.misses() == 1);
  mm(x, z);
  CHECK(f.misses() == 2);
  mm(x, z);
  CHECK(f.hits() == 1);
  CHECK(f.env->guards().size() == 1);
}

TEST_CASE("what is learnt of symbols makes what was remembered worthless") {
  Symbolic f;
  const Tensor x = f.make("x", {4, 3});
  neg(x);
  neg(x);
  CHECK(f.hits() == 1);
  CHECK(x.sym_size(0).guard_int() == 4);
  CHECK(neg(x).sym_size(0).maybe_int() == 4);
  CHECK(f.hits() == 1);
}

TEST_CASE("a call under suppressed guards is not remembered for others") {
  Symbolic f;
  const Tensor x = f.make("x", {4, 3});
  const Tensor z = f.mode.from_tensor(
      zeros({4, 3}),
      {.device = kCuda, .source = "z", .dims = {{DimDynamic::Dynamic}, {DimDynamic::Dynamic}}});
  {
    const ShapeEnv::SuppressGuards quiet(*f.env);
    add(x, z);
    add(x, z);
  }
  CHECK(f.misses() + f.hits() == 0);
  add(x, z);
  CHECK_FALSE(f.env->guards().empty());
}

TEST_CASE("symbols of another environment have no place in a mode's cache") {
  Symbolic f, g;
  const Tensor x = f.make("x", {4, 3});
  const SymInt other = g.make("y", {8, 2}).sym_size(0);
  CHECK_THROWS_WITH(view(x, {other, x.sym_size(0)}), Catch::Contains("two ShapeEnvs"));
  CHECK(f.misses() == 0);
}

TEST_CASE("a cross-checking mode compares symbols") {
  const auto env = ShapeEnv::create();
  FakeTensorMode mode{{.shape_env = env,
                       .cache_use = FakeCacheUse::CrossCheck,
                       .cache = FakeDispatchCache::create()}};
  const Tensor x = mode.from_tensor(zeros({4, 3}), {.device = kCuda, .source = "x"});
  static int64_t calls = 0;
  Library m(Library::Kind::Fragment, "aten");
  const OperatorHandle fickle = m.define("_cache_test_fickle_rows(Tensor self) -> Tensor");
  m.impl("_cache_test_fickle_rows", DispatchKey::Meta, [](const Tensor& self) {
    return new_empty(self, std::vector<SymInt>{self.sym_size(0) * ++calls});
  });
  fickle.call({x});
  CHECK_THROWS_WITH(fickle.call({x}), Catch::Contains("remembered float32[s0]") &&
                                          Catch::Contains("gave float32[2*s0]"));
  CHECK(env->guards().empty());
}

TEST_CASE("whether two arguments share a storage is part of the key") {
  Fixture f;
  const Tensor x = f.make({2}), y = f.make({2});
  mul(x, y);
  mul(x, x);
  CHECK(f.cache->info().hits == 0);
}

TEST_CASE("an error is not remembered") {
  Fixture f;
  const Tensor x = f.make({2}), y = f.make({3});
  for (int i = 0; i < 2; ++i) CHECK_THROWS_AS(add(x, y), RuntimeError);
  CHECK(f.cache->info().size == 0);
}

TEST_CASE("what cannot be remembered is counted by its reason") {
  Fixture f;
  const Tensor x = f.make({2, 3});
  squeeze_(x);
  CHECK(f.bypasses("inplace view") == 1);
  _unsafe_view(x, {6});
  CHECK(f.bypasses("unsafe view") == 1);
  add_out(x, x, 1, f.make({2, 3}));
  CHECK(f.bypasses("kwarg aliases output") == 1);
  split(x, 1, 0);
  CHECK(f.bypasses("non-FakeTensor output") == 1);

  Library m(Library::Kind::Def, "cache_test");
  const OperatorHandle op = m.define("twice(Tensor x) -> Tensor");
  m.impl("twice", DispatchKey::Meta, [](const Tensor& t) { return add(t, t); });
  op.call({x});
  op.call({x});
  CHECK(f.bypasses("non-builtin") == 2);
  CHECK(f.cache->info().bypasses[0].second == 2);
}

TEST_CASE("a constant among the arguments is not remembered") {
  Fixture f;
  add_Scalar(f.make({2}), 1);
  const uint64_t before = f.cache->info().size;
  add(f.make({2}), wrapped_scalar_tensor(2.0));
  CHECK(f.bypasses("constant attribute") == 1);
  CHECK(f.cache->info().size == before);
}

TEST_CASE("a kernel that comes or goes is noticed") {
  Fixture f;
  const Tensor x = f.make({2, 3});
  Library m(Library::Kind::Fragment, "aten");
  m.define("_test_cache_row(Tensor x) -> Tensor");
  const auto columns = [&] {
    Stack stack = {x};
    default_dispatcher().find_op_or_throw("aten::_test_cache_row").call_boxed(&stack);
    return stack[0].to_tensor().size(1);
  };
  {
    Library narrow(Library::Kind::Impl, "aten", DispatchKey::Meta);
    narrow.impl("_test_cache_row", [](const Tensor& t) { return new_empty(t, {1, 3}); });
    CHECK(columns() == 3);
    CHECK(columns() == 3);
    CHECK(f.cache->info().hits == 1);
  }
  Library wide(Library::Kind::Impl, "aten", DispatchKey::Meta);
  wide.impl("_test_cache_row", [](const Tensor& t) { return new_empty(t, {1, 4}); });
  CHECK(columns() == 4);
  CHECK(f.cache->info().hits == 1);
}

TEST_CASE("the cache is cleared, and its numbers with it") {
  Fixture f;
  const Tensor x = f.make({2});
  add(x, x);
  add(x, x);
  f.cache->clear();
  const FakeCacheInfo info = f.cache->info();
  CHECK(info.hits == 0);
  CHECK(info.misses == 0);
  CHECK(info.size == 0);
  add(x, x);
  CHECK(f.cache->info().misses == 1);
}

TEST_CASE("a cross-checking mode finds a rule that gives another result the second time") {
  const auto cache = FakeDispatchCache::create();
  FakeTensorMode mode{{.cache_use = FakeCacheUse::CrossCheck, .cache = cache}};
  const Tensor x = mode.from_tensor(zeros({2, 2}), kCuda);
  add(x, x);
  CHECK_NOTHROW(add(x, x));

  static int calls = 0;
  Library m(Library::Kind::Fragment, "aten");
  const OperatorHandle fickle = m.define("_cache_test_fickle(Tensor self) -> Tensor");
  m.impl("_cache_test_fickle", DispatchKey::Meta, [](const Tensor&) {
    return empty({++calls}, DType::Float32, std::nullopt, Device(DeviceType::Meta));
  });
  fickle.call({x});
  CHECK_THROWS_WITH(fickle.call({x}), Catch::Contains("_cache_test_fickle") &&
                                          Catch::Contains("remembered float32[1]") &&
                                          Catch::Contains("gave float32[2]"));
}

TEST_CASE("by default only what is costly is remembered") {
  const auto cache = FakeDispatchCache::create();
  FakeTensorMode mode{{.cache = cache}};
  const Tensor x = mode.from_tensor(zeros({2, 2}), kCuda);
  add(x, x);
  add(x, x);
  CHECK(cache->info().hits + cache->info().misses == 0);
}

TEST_CASE("an operator that is defined anew, or gets a rule, is another one") {
  Fixture f;
  const Tensor x = f.make({2});
  relu(x);
  const RegistrationHandle rule = register_fake_rule("aten::relu", [](FakeCall& call) {
    call.give({call.empty({7}, DType::Float32, kCuda)});
    return true;
  });
  CHECK(relu(x).sizes() == IntArrayRef({7}));
}

TEST_CASE("modes on two threads share a cache") {
  const auto cache = FakeDispatchCache::create();
  const auto work = [&] {
    FakeTensorMode mode{{.cache_use = FakeCacheUse::All, .cache = cache}};
    for (int64_t i = 0; i < 200; ++i) {
      const Tensor x = mode.from_tensor(zeros({i % 50 + 1}), kCuda);
      if (add(x, x).sizes() != x.sizes()) throw std::logic_error("wrong entry");
    }
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(cache->info().size == 50);
  CHECK(cache->info().hits + cache->info().misses >= 350);
}

TEST_CASE("a quantized result has its scale each time") {
  Fixture f;
  const Tensor x = f.make({2});
  for (int i = 0; i < 2; ++i) CHECK(q_scale(quantize_per_tensor(x, 0.5, 3, DType::QUInt8)) == 0.5);
}

TEST_CASE("a full cache remembers nothing more") {
  Fixture f;
  FakeTensorModeGuard active(f.mode);
  const Tensor base = empty({1, 1 << 20}, kCuda);
  for (int64_t i = 0; i < static_cast<int64_t>(FakeDispatchCache::kMostEntries) + 5; ++i)
    narrow(base, 1, 0, i + 1);
  CHECK(f.cache->info().size == FakeDispatchCache::kMostEntries);
  CHECK(f.bypasses("cache is full") > 0);
  // Once a kernel has come or gone, nothing in it is worth anything.
  Library m(Library::Kind::Def, "_cache_test_full");
  m.define("f(Tensor x) -> Tensor");
  m.impl("f", DispatchKey::CPU, [](const Tensor& t) { return t; });
  narrow(base, 1, 0, 7);
  CHECK(f.cache->info().size == 1);
}

}  // namespace
}  // namespace sb
