#include "switchboard/devices/cpu_fallback.h"

#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/devices/device_hooks.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/devices/dummy/test_support.h"
#include "switchboard/devices/fallback_policy.h"
#include "switchboard/devices/fallback_stats.h"
#include "switchboard/dispatch/library.h"

// The operators here have CPU kernels only; the device leaves them to the CPU.
namespace sb::dummy {
namespace {

using Floats = std::vector<float>;

Tensor doubled(const Tensor& x) {
  const Tensor out = empty_strided_on(DeviceType::CPU, x.sizes(), x.strides(), x.dtype());
  const float* from = x.data<float>();
  for (size_t i = 0; i < out.storage()->nbytes() / 4; ++i) out.data<float>()[i] = 2 * from[i];
  return out;
}

struct Operators {
  Operators() {
    m.define("double(Tensor x) -> Tensor");
    m.impl("double", DispatchKey::CPU, doubled);
    m.define("add_one_(Tensor(a!) self, Tensor other) -> Tensor(a!)");
    m.impl("add_one_", DispatchKey::CPU, [](const Tensor& self, const Tensor& other) {
      saw_same = self.is_same(other);
      saw_alias = self.is_alias_of(other);
      for (int64_t i = 0; i < self.size(0); ++i) self.data<float>()[i * self.stride(0)] += 1;
      self.impl()->bump_version();
      return self;
    });
    m.define("tail(Tensor(a) self) -> Tensor(a)");
    m.impl("tail", DispatchKey::CPU, [](const Tensor& self) {
      return alias_with(self, {self.size(0) - 1}, self.strides(), self.storage_offset() + 1);
    });
    m.define("halves(Tensor self) -> Tensor[]");
    m.impl("halves", DispatchKey::CPU, [](const Tensor& self) {
      const Tensor all = doubled(self);
      const int64_t half = self.size(0) / 2;
      return std::vector<Tensor>{alias_with(all, {half}, {1}, 0),
                                 alias_with(all, {half}, {1}, half)};
    });
    m.define("sum(Tensor[] xs, Tensor?[] maybe) -> float");
    m.impl("sum", DispatchKey::CPU, [](TensorList xs, OptionalTensorList maybe) {
      double sum = 0;
      for (const Tensor& x : xs) sum += *x.data<float>();
      for (const std::optional<Tensor>& x : maybe) sum += x ? *x->data<float>() : 100;
      return sum;
    });
    m.define("make(int n, *, Device? device=None) -> Tensor");
    m.impl("make", DispatchKey::CPU, [](int64_t n, std::optional<Device> device) {
      saw_device = device;
      return tensor_of<float>(DeviceType::CPU, {n}, Floats(static_cast<size_t>(n), 3));
    });
    m.define("to(Tensor x, *, Device? device=None) -> Tensor");
    m.impl("to", DispatchKey::CPU,
           [](const Tensor& x, std::optional<Device>) { return doubled(x); });
    m.define("grow_(Tensor(a!) self) -> Tensor(a!)");
    m.impl("grow_", DispatchKey::CPU, [](const Tensor& self) {
      self.storage()->resize(16);
      self.impl()->set_sizes_contiguous({4});
      self.data<float>()[3] = 42;
      return self;
    });
    m.define("fail_(Tensor(a!) self) -> Tensor(a!)");
    m.impl("fail_", DispatchKey::CPU, [](const Tensor& self) -> Tensor {
      self.data<float>()[0] = -1;
      throw ValueError("test::fail_: failed");
    });
    m.define("adopt_(Tensor(a!) self, Storage source) -> Tensor(a!)");
    m.impl("adopt_", DispatchKey::CPU, [](const Tensor& self, const Storage& source) {
      self.impl()->set_storage(source);
      return self;
    });
    m.define("draw(Generator? generator) -> int");
    m.impl("draw", DispatchKey::CPU, [](const std::optional<Generator>& g) {
      return static_cast<int64_t>((*g)->device().is_cpu() ? (*g)->next() >> 1 : 0);
    });
    m.define("draw_like(Tensor x, *, Generator? generator=None) -> int",
             Tag::nondeterministic_seeded);
    m.impl("draw_like", DispatchKey::CPU, [](const Tensor&, const std::optional<Generator>& g) {
      return g && *g && (*g)->device().is_cpu() ? static_cast<int64_t>((*g)->next() >> 1) : -1;
    });
    m.define("noise(Tensor x) -> Tensor", Tag::nondeterministic_seeded);
    m.impl("noise", DispatchKey::CPU, doubled);
    m.define("nowhere(Tensor x) -> Tensor");
  }

  static inline bool saw_same, saw_alias;
  static inline std::optional<Device> saw_device;
  Library m{Library::Kind::Def, "test"};
};

Stack call(std::string_view op, std::vector<IValue> arguments,
           std::vector<std::pair<std::string, IValue>> keywords = {}) {
  return default_dispatcher()
      .find_op_or_throw(std::string("test::") + std::string(op))
      .call(std::move(arguments), std::move(keywords));
}

TEST_CASE("an operator without a device kernel runs on the CPU, and is counted",
          "[dummy][fallback]") {
  const Operators operators;
  reset_counts();
  const Tensor x = tensor_of<float>(kSecond, {3}, {1, 2, 3});
  const Tensor y = call("double", {x})[0].to_tensor();
  CHECK(y.device() == kSecond);
  CHECK(y.storage()->device() == kSecond);
  CHECK(y.key_set() == x.key_set());
  CHECK(storage_of<float>(y) == Floats{2, 4, 6});
  CHECK(is_sealed(x));
  CHECK(is_sealed(y));
  call("double", {x});
  CHECK(fallback_counts() == CallCounts{{"test::double", 2}});
  reset_counts();
  CHECK(fallback_counts().empty());
}

TEST_CASE("strides and offsets stay in both directions", "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kFirst, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor t = alias_with(x, {3, 2}, {1, 3}, 0);
  const Tensor y = call("double", {t})[0].to_tensor();
  CHECK(y.sizes() == IntArrayRef{3, 2});
  CHECK(y.strides() == IntArrayRef{1, 3});
  CHECK(storage_of<float>(y) == Floats{2, 4, 6, 8, 10, 12});
}

TEST_CASE("a mutated argument is written back and returned itself", "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kFirst, {6}, {0, 0, 0, 0, 0, 0});
  const Tensor view = alias_with(x, {2}, {3}, 1);
  const uint32_t version = x.version();
  const Tensor result = call("add_one_", {view, x})[0].to_tensor();
  CHECK(result.is_same(view));
  CHECK(Operators::saw_alias);
  CHECK_FALSE(Operators::saw_same);
  CHECK(storage_of<float>(x) == Floats{0, 1, 0, 0, 1, 0});
  CHECK(x.version() == version + 1);
}

TEST_CASE("one tensor given twice is one tensor on the CPU", "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kFirst, {2}, {5, 6});
  call("add_one_", {x, x});
  CHECK(Operators::saw_same);
  CHECK(storage_of<float>(x) == Floats{6, 7});
}

TEST_CASE("a result that views an argument views it on the device", "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kFirst, {3}, {1, 2, 3});
  const Tensor tail = call("tail", {x})[0].to_tensor();
  CHECK(tail.is_alias_of(x));
  CHECK(tail.storage_offset() == 1);
  CHECK(tail.sizes() == IntArrayRef{2});
  call("add_one_", {tail, tail});
  CHECK(storage_of<float>(x) == Floats{1, 3, 4});
  CHECK(x.version() == tail.version());
}

TEST_CASE("results that share memory share it on the device", "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kFirst, {4}, {1, 2, 3, 4});
  const Stack results = call("halves", {x});
  const TensorList halves = results[0].to_tensor_list();
  REQUIRE(halves.size() == 2);
  CHECK(halves[0].is_alias_of(halves[1]));
  CHECK_FALSE(halves[0].is_alias_of(x));
  CHECK(storage_of<float>(halves[1]) == Floats{2, 4, 6, 8});
}

TEST_CASE("lists and optional lists of tensors move", "[dummy][fallback]") {
  const Operators operators;
  const Tensor one = tensor_of<float>(kFirst, {1}, {1});
  const Tensor two = tensor_of<float>(kFirst, {1}, {2});
  const std::vector<std::optional<Tensor>> maybe = {one, std::nullopt};
  CHECK(call("sum", {std::vector<Tensor>{one, two}, maybe})[0].to_double() == 104);
}

TEST_CASE("a factory's device argument becomes the CPU and its result the device's",
          "[dummy][fallback]") {
  const Operators operators;
  Library select(Library::Kind::Impl, "test");
  select.impl("make", DispatchKey::BackendSelect,
              [](const OperatorHandle& op, DispatchKeySet, Stack* stack) {
                const DeviceType type = stack->back().to_device().type;
                op.redispatch_boxed(DispatchKeySet(dispatch_key_of(type)), stack);
              });
  const Tensor x = call("make", {2}, {{"device", kSecond}})[0].to_tensor();
  CHECK(Operators::saw_device == Device(DeviceType::CPU));
  CHECK(x.device() == kSecond);
  CHECK(storage_of<float>(x) == Floats{3, 3});
  DeviceGuard guard(kSecond);
  const Tensor y = call("make", {2}, {{"device", Device("dummy")}})[0].to_tensor();
  CHECK(y.device() == kSecond);
  CHECK_THROWS_WITH(call("make", {2}, {{"device", Device("dummy:2")}}),
                    Catch::Contains("test::make") && Catch::Contains("dummy:2"));
}

TEST_CASE("a device argument beside tensors says where the result goes", "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kFirst, {1}, {4});
  CHECK(call("to", {x})[0].to_tensor().device() == kFirst);
  CHECK(call("to", {x}, {{"device", kSecond}})[0].to_tensor().device() == kSecond);
  const Tensor cpu = call("to", {x}, {{"device", Device("cpu")}})[0].to_tensor();
  CHECK(cpu.device() == Device(DeviceType::CPU));
  CHECK(storage_of<float>(cpu) == Floats{8});
}

TEST_CASE("an argument that grows on the CPU grows on the device", "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kSecond, {2}, {1, 2});
  CHECK(call("grow_", {x})[0].to_tensor().is_same(x));
  CHECK(x.sizes() == IntArrayRef{4});
  CHECK(x.storage()->device() == kSecond);
  const Floats grown = storage_of<float>(x);
  CHECK(grown[1] == 2);
  CHECK(grown[3] == 42);
}

TEST_CASE("an argument that takes another's storage takes it on the device", "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kFirst, {2}, {1, 2});
  const Tensor y = tensor_of<float>(kFirst, {2}, {3, 4});
  call("adopt_", {x, y.storage()});
  CHECK(x.is_alias_of(y));
  CHECK(storage_of<float>(x) == Floats{3, 4});
}

TEST_CASE("a call that fails changes no argument", "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kFirst, {2}, {1, 2});
  CHECK_THROWS_AS(call("fail_", {x}), ValueError);
  CHECK(storage_of<float>(x) == Floats{1, 2});
  CHECK(is_sealed(x));
}

TEST_CASE("a generator of the device draws on the CPU", "[dummy][fallback]") {
  const Operators operators;
  const OperatorHandle draw = default_dispatcher().find_op_or_throw("test::draw");
  Stack stack{make_generator(kFirst, 7)};
  draw.redispatch_boxed(DispatchKeySet(DispatchKey::PrivateUse1), &stack);
  const uint64_t expected = make_generator(DeviceType::CPU, 7)->next() >> 1;
  CHECK(stack[0].to_int() == static_cast<int64_t>(expected));
}

TEST_CASE("a random operator without a generator draws from the device's default one",
          "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kSecond, {1}, {1});
  const Generator generator = default_generator(kSecond);
  const std::vector<uint8_t> state = generator->state();
  const std::vector<uint8_t> cpu_state = default_cpu_generator()->state();
  const int64_t expected = static_cast<int64_t>(generator->next() >> 1);
  generator->set_state(state);
  CHECK(call("draw_like", {x})[0].to_int() == expected);
  CHECK(generator->state() != state);
  CHECK(default_cpu_generator()->state() == cpu_state);
}

TEST_CASE("a random operator that takes no generator is refused, not run with the CPU's",
          "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kFirst, {1}, {1});
  CHECK_THROWS_AS(call("noise", {x}), NotImplementedError);
  CHECK_THROWS_WITH(call("noise", {x}),
                    Catch::Contains("test::noise on dummy:0") && Catch::Contains("generator"));
}

TEST_CASE("the fallback counts calls, bytes in both directions, and time", "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kFirst, {6}, {0, 0, 0, 0, 0, 0});
  reset_counts();
  call("double", {x});
  call("double", {x});
  const Tensor view = alias_with(x, {2}, {3}, 1);
  call("add_one_", {view, x});
  CHECK_THROWS_AS(call("fail_", {x}), ValueError);
  const FallbackStatsByOp stats = fallback_stats(DeviceType::PrivateUse1);
  REQUIRE(stats.size() == 3);
  CHECK(stats.at("test::double").calls == 2);
  CHECK(stats.at("test::double").bytes_to_cpu == 2 * 24);
  CHECK(stats.at("test::double").bytes_from_cpu == 2 * 24);
  CHECK(stats.at("test::double").time.count() > 0);
  CHECK(stats.at("test::add_one_").bytes_to_cpu == 24);   // one storage
  CHECK(stats.at("test::add_one_").bytes_from_cpu == 8);  // two elements
  CHECK(stats.at("test::fail_").calls == 1);
  CHECK(stats.at("test::fail_").bytes_from_cpu == 0);
}

TEST_CASE("threads that fall back at once count every call", "[dummy][fallback]") {
  const Operators operators;
  reset_counts();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      const Tensor x = tensor_of<float>(kFirst, {2}, {1, 2});
      for (int k = 0; k < 50; ++k) call("double", {x});
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(fallback_stats(DeviceType::PrivateUse1).at("test::double").calls == 200);
  CHECK(fallback_stats(DeviceType::PrivateUse1).at("test::double").bytes_to_cpu == 200 * 8);
}

TEST_CASE("a fallback that is forbidden names the operator and the device, and does nothing",
          "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kFirst, {2}, {1, 2});
  reset_counts();
  {
    ForbidCpuFallback forbidden;
    CHECK_THROWS_AS(call("double", {x}), NotImplementedError);
    CHECK_THROWS_WITH(call("add_one_", {x, x}),
                      Catch::Contains("test::add_one_ on dummy:0") && Catch::Contains("forbidden"));
    set_cpu_fallback_allowed_for("test::double", true);
    CHECK(storage_of<float>(call("double", {x})[0].to_tensor()) == Floats{2, 4});
  }
  set_cpu_fallback_allowed_for("test::double", false);
  CHECK_THROWS_WITH(call("double", {x}), Catch::Contains("forbidden for this operator"));
  set_cpu_fallback_allowed_for("test::double", std::nullopt);
  call("double", {x});
  CHECK(storage_of<float>(x) == Floats{1, 2});
  CHECK(fallback_counts() == CallCounts{{"test::double", 2}});
}

TEST_CASE("tensors of two devices are refused by argument and device", "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kFirst, {1}, {1});
  const Tensor elsewhere = tensor_of<float>(kSecond, {1}, {1});
  const Tensor cpu = tensor_of<float>(DeviceType::CPU, {1}, {1});
  const Tensor number = tensor_of<float>(DeviceType::CPU, {}, {1});
  const Tensor meta = empty_on(DeviceType::Meta, {}, DType::Float32);
  CHECK_THROWS_WITH(call("add_one_", {x, elsewhere}),
                    Catch::Contains("test::add_one_: argument 1 'other'") &&
                        Catch::Contains("dummy:0") && Catch::Contains("dummy:1"));
  CHECK_THROWS_WITH(call("add_one_", {x, cpu}), Catch::Contains("on cpu"));
  // Meta is the highest backend.
  CHECK_THROWS_WITH(call("add_one_", {x, meta}), Catch::Contains("no kernel for Meta"));
  CHECK_THROWS_WITH(call("add_one_", {number, x}), Catch::Contains("argument 0 'self'"));
  CHECK(storage_of<float>(x) == Floats{1});
  CHECK(call("add_one_", {x, number})[0].to_tensor().is_same(x));
  // Indices may be on the CPU.
  const std::vector<std::optional<Tensor>> maybe = {cpu};
  CHECK(call("sum", {std::vector<Tensor>{x}, maybe})[0].to_double() == 2 + 1);
}

TEST_CASE("an operator that the CPU lacks too names both places", "[dummy][fallback]") {
  const Operators operators;
  const Tensor x = tensor_of<float>(kFirst, {1}, {1});
  CHECK_THROWS_AS(call("nowhere", {x}), NotImplementedError);
  CHECK_THROWS_WITH(call("nowhere", {x}),
                    Catch::Contains("test::nowhere on dummy:0") && Catch::Contains("CPU"));
}

}  // namespace
}  // namespace sb::dummy
