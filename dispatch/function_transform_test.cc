#include "switchboard/dispatch/function_transform.h"

#include <memory>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/operator_base.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

SB_OP(twice, "transforms::twice(Tensor x) -> Tensor");

using Notes = std::vector<std::string>;

class Level : public FunctionTransform {
 public:
  Level(TransformType type, std::string name, Notes* notes)
      : type_(type), name_(std::move(name)), notes_(notes) {}
  TransformType type() const override { return type_; }
  std::string name() const override { return name_; }
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    notes_->push_back(name_);
    op.call_boxed(stack);
  }

 private:
  TransformType type_;
  std::string name_;
  Notes* notes_;
};

struct Fixture {
  Fixture() : library(Library::Kind::Def, "transforms") {
    library.define(twice);
    library.impl(twice, DispatchKey::CPU, [](const Tensor& x) { return x; });
  }
  Notes call() {
    notes.clear();
    twice(tensor_on(DeviceType::CPU));
    return notes;
  }
  Library library;
  Notes notes;
  Level grad{TransformType::Grad, "grad", &notes}, vmap{TransformType::Vmap, "vmap", &notes};
};

bool key_is_on() { return dispatch_tls.included.has(DispatchKey::FuncTorchDynamicLayerFrontMode); }

TEST_CASE("the transform on top sees a call first, and lowers it to the one below") {
  Fixture f;
  {
    FunctionTransformGuard a(&f.grad), b(&f.vmap);
    CHECK(current_transform() == &f.vmap);
    CHECK(f.call() == Notes{"vmap", "grad"});
    CHECK(current_transform() == &f.vmap);
  }
  CHECK(f.call().empty());
  CHECK(current_transform() == nullptr);
  CHECK_FALSE(key_is_on());
}

TEST_CASE("an operator's rule for a type of transform runs instead of it, on the level below") {
  Fixture f;
  const RegistrationHandle rule =
      operator_base(twice.handle().entry())
          .impl_transform(TransformType::Vmap,
                          [&](FunctionTransform& t, DispatchKeySet, Stack* stack) {
                            CHECK(current_transform() == &f.grad);
                            f.notes.push_back("rule for " + t.name());
                            twice.handle().call_boxed(stack);
                          });
  FunctionTransformGuard a(&f.grad), b(&f.vmap);
  CHECK(f.call() == Notes{"rule for vmap", "grad"});
}

TEST_CASE("a transform is back after it threw") {
  Fixture f;
  const RegistrationHandle rule =
      operator_base(twice.handle().entry())
          .impl_transform(TransformType::Vmap, [](FunctionTransform&, DispatchKeySet, Stack*) {
            throw ValueError("no");
          });
  FunctionTransformGuard guard(&f.vmap);
  CHECK_THROWS_AS(f.call(), ValueError);
  CHECK(current_transform() == &f.vmap);
  CHECK(key_is_on());
}

TEST_CASE("guards of transforms may end in any order, and are of one thread") {
  Fixture f;
  auto a = std::make_unique<FunctionTransformGuard>(&f.grad);
  auto b = std::make_unique<FunctionTransformGuard>(&f.vmap);
  a.reset();
  CHECK(f.call() == Notes{"vmap"});
  std::thread([] { CHECK(current_transform() == nullptr); }).join();
  b.reset();
  CHECK_FALSE(key_is_on());
}

TEST_CASE("a null transform is refused, and a call without any") {
  Fixture f;
  CHECK_THROWS_WITH(FunctionTransformGuard(nullptr),
                    "FunctionTransformGuard: expected a transform, got null");
  IncludeKeysGuard include(DispatchKey::FuncTorchDynamicLayerFrontMode);
  CHECK_THROWS_WITH(f.call(),
                    "transforms::twice: entered at FuncTorchDynamicLayerFrontMode, but no function "
                    "transform is active");
}

TEST_CASE("types of transforms have names") {
  CHECK(to_string(TransformType::Grad) == "Grad");
  CHECK(to_string(TransformType::Jvp) == "Jvp");
  CHECK(to_string(TransformType::Functionalize) == "Functionalize");
  CHECK(to_string(TransformType::Vmap) == "Vmap");
}

}  // namespace
}  // namespace sb
