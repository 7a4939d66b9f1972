#include "switchboard/dispatch/mode.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

SB_OP(twice, "modes::twice(Tensor x) -> Tensor");

// Notes each call, then lets it go on below.
class NotingMode : public DispatchMode {
 public:
  NotingMode(std::string name, std::vector<std::string>* notes)
      : name_(std::move(name)), notes_(notes) {}
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    notes_->push_back(name_ + " " + op.name().to_string());
    op.call_boxed(stack);
  }
  std::string name() const override { return name_; }

 private:
  std::string name_;
  std::vector<std::string>* notes_;
};

class OwnedBy : public ModeData {
 public:
  explicit OwnedBy(DispatchMode* mode) : mode_(mode) {}
  DispatchMode& mode() const override { return *mode_; }

 private:
  DispatchMode* mode_;
};

struct Modes {
  Modes() : library(Library::Kind::Def, "modes") {
    library.define(twice);
    library.impl(twice, DispatchKey::CPU, [](const Tensor& x) { return x; });
  }
  Library library;
  std::vector<std::string> notes;
  NotingMode outer{"outer", &notes}, inner{"inner", &notes};
};

TEST_CASE("the mode on top sees a call first, and what it calls goes to the mode below") {
  Modes m;
  const Tensor x = tensor_on(DeviceType::CPU);
  {
    ModeGuard a(&m.outer), b(&m.inner);
    CHECK(twice(x).is_same(x));
    CHECK(current_mode() == &m.inner);
  }
  twice(x);
  CHECK(m.notes == std::vector<std::string>{"inner modes::twice", "outer modes::twice"});
  CHECK(mode_stack_size() == 0);
}

TEST_CASE("a mode is back on the stack after its handler threw") {
  Modes m;
  class Thrower : public DispatchMode {
   public:
    void call(const OperatorHandle&, DispatchKeySet, Stack*) override {
      CHECK(mode_stack_size() == 0);
      throw ValueError("no");
    }
    std::string name() const override { return "Thrower"; }
  } thrower;
  ModeGuard guard(&thrower);
  CHECK_THROWS_AS(twice(tensor_on(DeviceType::CPU)), ValueError);
  CHECK(current_mode() == &thrower);
  CHECK_THROWS_AS(twice(tensor_on(DeviceType::CPU)), ValueError);
}

TEST_CASE("modes do not run inside a NoModesGuard") {
  Modes m;
  ModeGuard guard(&m.outer);
  {
    NoModesGuard none;
    twice(tensor_on(DeviceType::CPU));
    CHECK(m.notes.empty());
  }
  twice(tensor_on(DeviceType::CPU));
  CHECK(m.notes.size() == 1);
}

TEST_CASE("a tensor that belongs to a mode reaches it when none is active") {
  Modes m;
  const Tensor x = tensor_with(tensor_key_set(DeviceType::CPU) | DispatchKey::Python);
  CHECK_THROWS_WITH(twice(x), Catch::Contains("no mode is active"));
  class Taker : public DispatchMode {
   public:
    void call(const OperatorHandle&, DispatchKeySet, Stack* stack) override {
      stack->back() = IValue(Tensor());
    }
    std::string name() const override { return "Taker"; }
  } taker;
  x.impl()->set_mode_data(make_intrusive<OwnedBy>(&taker));
  CHECK_FALSE(twice(x).defined());
}

}  // namespace
}  // namespace sb
