#include "switchboard/dispatch/modes/counting_mode.h"

#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

SB_OP(one, "counted::one(Tensor x) -> Tensor");
SB_OP(many, "counted::many(Tensor[] xs) -> ()");

struct Ops {
  Ops() : library(Library::Kind::Def, "counted") {
    library.define(one);
    library.impl(one, DispatchKey::CPU, [](const Tensor& x) { return x; });
    library.define(many);
    library.impl(many, DispatchKey::CPU, [](TensorList) {});
  }
  Library library;
};

using Counts = std::vector<std::pair<std::string, int64_t>>;

TEST_CASE("calls are counted by operator, also those that throw") {
  Ops ops;
  CountingMode count;
  const Tensor x = tensor_on(DeviceType::CPU);
  {
    ModeGuard guard(&count);
    one(x);
    one(x);
    many(std::vector<Tensor>{x, x});
    CHECK_THROWS_AS(one(tensor_on(DeviceType::Meta)), NotImplementedError);
  }
  one(x);
  CHECK(count.count("counted::one") == 3);
  CHECK(count.count("counted::none") == 0);
  CHECK(count.total() == 4);
  CHECK(count.counts() == Counts{{"counted::many", 1}, {"counted::one", 3}});
  CHECK(count.to_string() == "3  counted::one\n1  counted::many\n");
  count.reset();
  CHECK(count.total() == 0);
  CHECK(count.counts().empty());
}

class Owner : public DispatchMode {
 public:
  explicit Owner(std::string name) : name_(std::move(name)) {}
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    stack->resize(stack->size() - op.entry().num_arguments());
  }
  std::string name() const override { return name_; }

 private:
  std::string name_;
};
class OwnedBy : public ModeData {
 public:
  explicit OwnedBy(DispatchMode* mode) : mode_(mode) {}
  DispatchMode& mode() const override { return *mode_; }

 private:
  DispatchMode* mode_;
};
Tensor owned_by(DispatchMode* mode) {
  const Tensor t = tensor_with(tensor_key_set(DeviceType::CPU) | DispatchKey::Python);
  t.impl()->set_mode_data(make_intrusive<OwnedBy>(mode));
  return t;
}

TEST_CASE("calls are counted by the modes that own their arguments, each mode once a call") {
  Ops ops;
  Owner a("a"), b("b");
  const Tensor ta = owned_by(&a), tb = owned_by(&b), plain = tensor_on(DeviceType::CPU);
  CHECK(argument_modes(many.handle(), {std::vector<Tensor>{plain, tb, ta, tb}}) ==
        std::vector<DispatchMode*>{&b, &a});
  CHECK(argument_modes(one.handle(), {plain}).empty());
  CountingMode count;
  ModeGuard guard(&count);
  many(std::vector<Tensor>{ta, ta});
  many(std::vector<Tensor>{plain});
  CHECK_THROWS_AS(many(std::vector<Tensor>{ta, tb}), RuntimeError);
  CHECK(count.counts_by_argument_mode() == Counts{{"a", 2}, {"b", 1}});
}

TEST_CASE("one counting mode counts the calls of several threads") {
  Ops ops;
  CountingMode count;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      ModeGuard guard(&count);
      const Tensor x = tensor_on(DeviceType::CPU);
      for (int k = 0; k < 500; ++k) one(x);
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(count.total() == 2000);
}

TEST_CASE("a named counter is one object, whoever asks for it") {
  NamedCounters counters;
  NamedCounter& hits = counters["hits"];
  hits.count();
  hits.count(2);
  for (int i = 0; i < 100; ++i) counters["other" + std::to_string(i)];
  CHECK(&counters["hits"] == &hits);
  counters["misses"].count();
  CHECK(counters.values() == Counts{{"hits", 3}, {"misses", 1}});
  counters.reset();
  CHECK(hits.value() == 0);
  CHECK(&default_counters() == &default_counters());
}

}  // namespace
}  // namespace sb
