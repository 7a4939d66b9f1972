#include "switchboard/fake/fake_class.h"

#include <deque>
#include <memory>
#include <string>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/graph.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/inspect/custom_class.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/fake/register_fake.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

using Catch::Contains;

constexpr std::string_view kQueue = "__torch__.torch.classes.fake_class_test.Queue";

// Real objects and their stand-ins hold tensors alike, so that one rule serves both.
struct Tensors {
  std::deque<Tensor> tensors;
};
struct Queue final : OpaqueObject, Tensors {
  std::string_view class_name() const override { return kQueue; }
};
struct FakeQueue final : FakeObject, Tensors {
  FakeQueue() : FakeObject(std::string(kQueue)) {}
};

std::deque<Tensor>& tensors_of(const IValue& queue) {
  return dynamic_cast<Tensors&>(*queue.to_object()).tensors;
}
void push(const IValue& queue, const Tensor& x) { tensors_of(queue).push_back(x); }
Tensor pop(const IValue& queue) {
  const Tensor x = tensors_of(queue).front();
  tensors_of(queue).pop_front();
  return x;
}

IntrusivePtr<FakeObject> from_real(FakeTensorMode& mode, const Queue& real) {
  const auto fake = make_intrusive<FakeQueue>();
  for (const Tensor& t : real.tensors) fake->tensors.push_back(mode.from_tensor(t));
  return fake;
}

struct QueueOps {
  QueueOps() {
    m.impl("push", DispatchKey::CompositeExplicitAutograd, push);
    m.impl("pop", DispatchKey::CompositeExplicitAutograd, pop);
    register_fake("fake_class_test::push", push, m);
    register_fake("fake_class_test::pop", pop, m);
  }
  Library m{Library::Kind::Def, "fake_class_test"};
  OpOverload push_op{m.define(str_cat("push(", kQueue, " queue, Tensor x) -> ()"))};
  OpOverload pop_op{m.define(str_cat("pop(", kQueue, " queue) -> Tensor"))};
};

TEST_CASE("the stand-in of an object has its state, and the object stays as it was") {
  QueueOps ops;
  const RegistrationHandle handle = register_fake_class<Queue>(kQueue, from_real);
  const auto real = make_intrusive<Queue>();
  real->tensors.push_back(ones({2}));

  FakeTensorMode mode;
  const IValue fake(to_fake_object(mode, real));
  FakeTensorModeGuard active(mode);
  ops.push_op(fake, full({3}, 2.0));
  CHECK(tensors_of(fake).size() == 2);
  const Tensor first = ops.pop_op(fake)[0].to_tensor();
  CHECK(is_fake(first));
  CHECK(first.describe() == "float32[2] on cpu");
  CHECK(ops.pop_op(fake)[0].to_tensor().describe() == "float32[3] on cpu");
  CHECK(real->tensors.size() == 1);
  CHECK_FALSE(is_fake(real->tensors[0]));
}

TEST_CASE("each call gives another stand-in, and one has none itself") {
  const RegistrationHandle handle = register_fake_class<Queue>(kQueue, from_real);
  FakeTensorMode mode;
  const IntrusivePtr<OpaqueObject> real = make_intrusive<Queue>();
  const auto a = to_fake_object(mode, real), b = to_fake_object(mode, real);
  CHECK(a != b);
  CHECK(to_fake_object(mode, a) == a);
}

TEST_CASE("a kernel for real objects does not get a stand-in") {
  QueueOps ops;
  const RegistrationHandle handle = register_fake_class<Queue>(kQueue, from_real);
  FakeTensorMode mode;
  const IValue fake(to_fake_object(mode, make_intrusive<Queue>()));
  CHECK_THROWS_WITH(
      ops.push_op(fake, ones({2})),
      Contains("fake_class_test::push: argument 0 'queue' is the fake stand-in of a"));
}

TEST_CASE("a class without a stand-in, and what stands for another class, are refused") {
  FakeTensorMode mode;
  const IntrusivePtr<OpaqueObject> real = make_intrusive<Queue>();
  CHECK_THROWS_WITH(to_fake_object(mode, nullptr), "to_fake_object: expected an object, got null");
  CHECK_THROWS_WITH(to_fake_object(mode, real),
                    Contains("fake_class_test.Queue: nobody said what stands for its objects; "
                             "register_fake_class() it"));
  CHECK_FALSE(has_fake_class(kQueue));
  CHECK_THROWS_AS(register_fake_class<Queue>(kQueue, nullptr), ValueError);
  {
    const RegistrationHandle handle =
        register_fake_class<Queue>(kQueue, [](FakeTensorMode&, const Queue&) {
          return make_intrusive<FakeObject>("__torch__.torch.classes.fake_class_test.Other");
        });
    CHECK(has_fake_class(kQueue));
    CHECK_THROWS_WITH(to_fake_object(mode, real),
                      Contains("expected a stand-in of that class, got one of __torch__.torch."
                               "classes.fake_class_test.Other; registered at"));
    CHECK_THROWS_WITH(register_fake_class<Queue>(kQueue, from_real),
                      Contains("register_fake_class: fake_class_test::Queue: ") &&
                          Contains("registered at: fake/fake_class_test.cc:") &&
                          Contains("and again at: fake/fake_class_test.cc:"));
  }
  const RegistrationHandle handle = register_fake_class<Queue>(
      kQueue, [](FakeTensorMode&, const Queue&) { return IntrusivePtr<FakeObject>(); });
  CHECK_THROWS_WITH(to_fake_object(mode, real), Contains("expected a stand-in, got null"));
}

TEST_CASE("an object that holds itself is refused") {
  const RegistrationHandle handle = register_fake_class<Queue>(
      kQueue, [](FakeTensorMode& mode, const Queue& real) -> IntrusivePtr<FakeObject> {
        to_fake_object(mode, IntrusivePtr<OpaqueObject>::share(const_cast<Queue*>(&real)));
        return make_intrusive<FakeQueue>();
      });
  FakeTensorMode mode;
  CHECK_THROWS_WITH(to_fake_object(mode, make_intrusive<Queue>()),
                    Contains("an object must not hold itself"));
}

TEST_CASE("the function of a class may hold the handle of another one") {
  auto inner = std::make_shared<RegistrationHandle>(
      register_fake_class<Queue>("__torch__.torch.classes.fake_class_test.Inner", from_real));
  RegistrationHandle outer = register_fake_class<Queue>(
      kQueue,
      [keep = inner](FakeTensorMode& mode, const Queue& real) { return from_real(mode, real); });
  inner.reset();
  outer = RegistrationHandle();
  CHECK_FALSE(has_fake_class("__torch__.torch.classes.fake_class_test.Inner"));
}

TEST_CASE("a constant object stands for itself") {
  struct Pad final : ConstantObject {
    std::string_view class_name() const override {
      return "__torch__.torch.classes.fake_class_test.Pad";
    }
    bool equals(const ConstantObject&) const override { return true; }
    std::string to_string() const override { return "Pad()"; }
  };
  const IntrusivePtr<OpaqueObject> pad = make_intrusive<Pad>();
  const RegistrationHandle handle = register_custom_class<Pad>(pad->class_name());
  FakeTensorMode mode;
  CHECK(to_fake_object(mode, pad) == pad);
}

}  // namespace
}  // namespace sb
