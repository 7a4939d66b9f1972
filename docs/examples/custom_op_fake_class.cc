// An object with a state, and what stands for it on fake tensors.

#include <deque>
#include <iostream>
#include <string>

#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/fake/fake_class.h"
#include "switchboard/fake/register_fake.h"
#include "switchboard/ops/factories/factories.h"

using sb::Tensor;

namespace demo {

// doc: begin
constexpr char kQueue[] = "__torch__.torch.classes.demo.Queue";

struct Tensors {
  std::deque<Tensor> tensors;
};
struct Queue final : sb::OpaqueObject, Tensors {
  std::string_view class_name() const override { return kQueue; }
};
struct FakeQueue final : sb::FakeObject, Tensors {
  FakeQueue() : FakeObject(kQueue) {}
};

// Kernel and fake rule alike.
Tensor pop(const sb::IValue& queue) {
  auto& tensors = dynamic_cast<Tensors&>(*queue.to_object()).tensors;
  const Tensor first = tensors.front();
  tensors.pop_front();
  return first;
}

SB_LIBRARY(demo, m) {
  m.define(sb::str_cat("pop(", kQueue, " queue) -> Tensor"));
  m.impl("pop", sb::DispatchKey::CompositeExplicitAutograd, pop);
  register_fake("demo::pop", pop, m);
  m.own(sb::register_fake_class<Queue>(kQueue, [](sb::FakeTensorMode& mode, const Queue& real) {
    const auto fake = sb::make_intrusive<FakeQueue>();
    for (const Tensor& t : real.tensors) fake->tensors.push_back(mode.from_tensor(t));
    return fake;
  }));
}
// doc: end

}  // namespace demo

int main() {
  // doc: begin
  const auto queue = sb::make_intrusive<demo::Queue>();
  queue->tensors = {sb::ones({2}), sb::ones({3, 3})};
  const sb::OpOverload pop(*sb::default_dispatcher().find_op("demo::pop"));

  sb::FakeTensorMode mode;
  const sb::FakeTensorModeGuard active(mode);
  const sb::IValue fake(to_fake_object(mode, queue));
  for (int i = 0; i < 2; ++i) std::cout << pop(fake)[0].to_tensor().describe() << "\n";
  std::cout << queue->tensors.size() << " are left in the queue itself\n";
  // doc: end
}
