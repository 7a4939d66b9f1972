#include "switchboard/dispatch/modes/pre_dispatch.h"

#include <memory>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/schema_check_mode.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

SB_OP(twice, "predispatch::twice(Tensor x) -> Tensor");

using Notes = std::vector<std::string>;

class SlotMode : public DispatchMode {
 public:
  SlotMode(std::optional<ModeKey> key, std::string name, Notes* notes)
      : key_(key), name_(std::move(name)), notes_(notes) {}
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override {
    notes_->push_back(name_ + " " + std::string(to_string(keys.highest_key())));
    op.call_boxed(stack);
  }
  std::string name() const override { return name_; }
  std::optional<ModeKey> mode_key() const override { return key_; }

 private:
  std::optional<ModeKey> key_;
  std::string name_;
  Notes* notes_;
};

struct Fixture {
  Fixture() : library(Library::Kind::Def, "predispatch") {
    library.define(twice);
    library.impl(twice, DispatchKey::CPU, [this](const Tensor& x) {
      notes.push_back("kernel");
      return x;
    });
  }
  Notes call() {
    notes.clear();
    twice(tensor_on(DeviceType::CPU));
    return notes;
  }

  Library library;
  Notes notes;
  SlotMode proxy{ModeKey::Proxy, "proxy", &notes}, proxy2{ModeKey::Proxy, "proxy2", &notes};
  SlotMode functional{ModeKey::Functional, "functional", &notes};
  SlotMode fake{ModeKey::Fake, "fake", &notes}, user{std::nullopt, "user", &notes};
  SchemaCheckMode check;
};

bool key_is_on() { return dispatch_tls.included.has(DispatchKey::PreDispatch); }

TEST_CASE("slot 0 is for a proxy mode, slot 1 for a functional one") {
  Fixture f;
  PreDispatchModes modes;
  CHECK(modes.count() == 0);
  modes.set(1, &f.functional);
  CHECK(modes.get(0) == nullptr);
  CHECK(modes.get(1) == &f.functional);
  modes.set(0, &f.proxy);
  CHECK(modes.count() == 2);
  modes.set_schema_check(&f.check);
  CHECK(modes.schema_check() == &f.check);
  CHECK(modes.count() == 3);
  CHECK_THROWS_WITH(modes.get(2), "pre-dispatch stack: expected a slot below 2, got 2");
  CHECK_THROWS_AS(modes.set(2, nullptr), IndexError);
}

TEST_CASE("the first mode switches the key on, and the last one off") {
  Fixture f;
  CHECK_FALSE(key_is_on());
  set_pre_dispatch_mode(&f.proxy);
  CHECK(key_is_on());
  set_pre_dispatch_mode(&f.functional);
  CHECK(pre_dispatch_stack_size() == 2);
  CHECK(unset_pre_dispatch_mode(ModeKey::Proxy) == &f.proxy);
  CHECK(key_is_on());
  CHECK(unset_pre_dispatch_mode(ModeKey::Proxy) == nullptr);
  CHECK(unset_pre_dispatch_mode(ModeKey::Functional) == &f.functional);
  CHECK_FALSE(key_is_on());
  CHECK(unset_pre_dispatch_schema_check() == nullptr);
}

TEST_CASE("the functional mode is current before the proxy mode, and popped before it") {
  Fixture f;
  CHECK(current_pre_dispatch_mode() == nullptr);
  PreDispatchModeGuard a(&f.functional);
  set_pre_dispatch_mode(&f.proxy);
  CHECK(current_pre_dispatch_mode() == &f.functional);
  CHECK(get_pre_dispatch_mode(ModeKey::Proxy) == &f.proxy);
  CHECK(get_pre_dispatch_mode(ModeKey::Functional) == &f.functional);
  CHECK(pre_dispatch_modes().get(PreDispatchModes::kProxySlot) == &f.proxy);
  CHECK(pop_pre_dispatch_mode() == &f.functional);
  CHECK(current_pre_dispatch_mode() == &f.proxy);
  CHECK(pop_pre_dispatch_mode() == &f.proxy);
  CHECK_THROWS_WITH(pop_pre_dispatch_mode(),
                    "pre-dispatch stack: expected a mode to pop, got an empty stack");
}

TEST_CASE("only proxy, functional and schema-check modes are taken") {
  Fixture f;
  CHECK_THROWS_WITH(
      set_pre_dispatch_mode(&f.fake),
      "pre-dispatch stack: expected a PROXY, FUNCTIONAL or schema-check mode, got fake");
  CHECK_THROWS_AS(set_pre_dispatch_mode(&f.user), ValueError);
  CHECK_THROWS_WITH(PreDispatchModeGuard(nullptr), "pre-dispatch stack: expected a mode, got null");
  CHECK_THROWS_WITH(get_pre_dispatch_mode(ModeKey::Fake),
                    "get_pre_dispatch_mode: the pre-dispatch stack has no slot for FAKE; it has "
                    "PROXY and FUNCTIONAL");
  CHECK_THROWS_AS(unset_pre_dispatch_mode(ModeKey::Fake), ValueError);
  CHECK_FALSE(key_is_on());
}

TEST_CASE("a slot takes one mode") {
  Fixture f;
  PreDispatchModeGuard a(&f.proxy);
  CHECK_THROWS_WITH(PreDispatchModeGuard(&f.proxy2),
                    "pre-dispatch stack: the PROXY slot holds proxy already; got proxy2");
  CHECK(current_pre_dispatch_mode() == &f.proxy);
}

TEST_CASE("a schema check is alone") {
  Fixture f;
  {
    PreDispatchModeGuard a(&f.proxy);
    CHECK_THROWS_WITH(set_pre_dispatch_mode(&f.check),
                      "pre-dispatch stack: SchemaCheckMode must be alone; proxy is there already");
  }
  PreDispatchModeGuard b(&f.check);
  CHECK(current_pre_dispatch_mode() == &f.check);
  CHECK_THROWS_WITH(set_pre_dispatch_mode(&f.proxy),
                    "pre-dispatch stack: SchemaCheckMode must be alone; proxy cannot be added");
  SchemaCheckMode other;
  CHECK_THROWS_AS(set_pre_dispatch_mode(&other), RuntimeError);
  CHECK_THROWS_WITH(f.call(),
                    Catch::StartsWith("predispatch::twice: result 0"));  // is its argument
  CHECK(current_pre_dispatch_mode() == &f.check);
  CHECK(pop_pre_dispatch_mode() == &f.check);
  CHECK_FALSE(key_is_on());
}

TEST_CASE("calls go to the pre-dispatch modes before all other modes, each popped meanwhile") {
  Fixture f;
  PreDispatchModeGuard a(&f.proxy), b(&f.functional);
  ModeGuard c(&f.user);
  CHECK(f.call() == Notes{"functional PreDispatch", "proxy PreDispatch", "user Python", "kernel"});
  CHECK(pre_dispatch_stack_size() == 2);
  Stack stack = {IValue(tensor_on(DeviceType::CPU))};
  f.notes.clear();
  twice.handle().call_boxed(&stack);
  CHECK(f.notes.size() == 4);
}

TEST_CASE("a pre-dispatch mode is back after its handler threw") {
  Fixture f;
  class Thrower : public SlotMode {
   public:
    explicit Thrower(Notes* notes) : SlotMode(ModeKey::Proxy, "thrower", notes) {}
    void call(const OperatorHandle&, DispatchKeySet, Stack*) override {
      CHECK(pre_dispatch_stack_size() == 0);
      CHECK_FALSE(key_is_on());
      throw ValueError("no");
    }
  } thrower(&f.notes);
  PreDispatchModeGuard guard(&thrower);
  CHECK_THROWS_AS(f.call(), ValueError);
  CHECK(current_pre_dispatch_mode() == &thrower);
  CHECK(key_is_on());
}

TEST_CASE("pre-dispatch modes do not run where no mode may run, and the call passes on") {
  Fixture f;
  PreDispatchModeGuard a(&f.proxy);
  {
    NoModesGuard none;
    CHECK(f.call() == Notes{"kernel"});
    PreDispatchModeGuard b(&f.functional);
    CHECK(f.call() == Notes{"kernel"});
  }
  {
    ExcludeKeysGuard exclude(DispatchKey::Python);
    CHECK(f.call() == Notes{"kernel"});
  }
  {
    ExcludeKeysGuard exclude(DispatchKey::PreDispatch);
    CHECK(f.call() == Notes{"kernel"});
  }
  CHECK(f.call() == Notes{"proxy PreDispatch", "kernel"});
}

TEST_CASE("a call that has the key without any mode passes on") {
  Fixture f;
  IncludeKeysGuard include(DispatchKey::PreDispatch);
  CHECK(f.call() == Notes{"kernel"});
}

TEST_CASE("pre-dispatch guards may end in any order, also while their mode runs") {
  Fixture f;
  auto a = std::make_unique<PreDispatchModeGuard>(&f.proxy);
  auto b = std::make_unique<PreDispatchModeGuard>(&f.functional);
  a.reset();
  CHECK(f.call() == Notes{"functional PreDispatch", "kernel"});
  b.reset();
  CHECK_FALSE(key_is_on());

  std::unique_ptr<PreDispatchModeGuard> guard;
  class Ender : public SlotMode {
   public:
    Ender(Notes* notes, std::unique_ptr<PreDispatchModeGuard>* guard)
        : SlotMode(ModeKey::Proxy, "ender", notes), guard_(guard) {}
    void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override {
      guard_->reset();
      SlotMode::call(op, keys, stack);
    }

   private:
    std::unique_ptr<PreDispatchModeGuard>* guard_;
  } ender(&f.notes, &guard);
  guard = std::make_unique<PreDispatchModeGuard>(&ender);
  CHECK(f.call() == Notes{"ender PreDispatch", "kernel"});
  CHECK(f.call() == Notes{"kernel"});
  CHECK_FALSE(key_is_on());
}

TEST_CASE("pre-dispatch modes are of one thread") {
  Fixture f;
  PreDispatchModeGuard guard(&f.proxy);
  std::thread([&] {
    CHECK(pre_dispatch_stack_size() == 0);
    CHECK_FALSE(key_is_on());
    CHECK(f.call() == Notes{"kernel"});
  }).join();
}

// Declines every call.
class Decliner : public SlotMode {
 public:
  using SlotMode::SlotMode;
  void call(const OperatorHandle&, DispatchKeySet, Stack*) override { throw ModeDeclined(); }
};

class OwnedBy : public ModeData {
 public:
  explicit OwnedBy(DispatchMode* mode) : mode_(mode) {}
  DispatchMode& mode() const override { return *mode_; }

 private:
  DispatchMode* mode_;
};

TEST_CASE("when a pre-dispatch mode declines, the modes that own arguments are asked") {
  Fixture f;
  Decliner proxy(ModeKey::Proxy, "decliner", &f.notes);
  PreDispatchModeGuard guard(&proxy);
  CHECK_THROWS_AS(f.call(), TypeError);
  CHECK_THROWS_WITH(f.call(), "predispatch::twice: all modes that were asked declined: decliner");
  CHECK(current_pre_dispatch_mode() == &proxy);

  class Taker : public SlotMode {
   public:
    using SlotMode::SlotMode;
    void call(const OperatorHandle&, DispatchKeySet, Stack* stack) override {
      CHECK(pre_dispatch_stack_size() == 0);
      stack->back() = IValue(Tensor());
    }
  } owner(std::nullopt, "owner", &f.notes);
  const Tensor x = tensor_with(tensor_key_set(DeviceType::CPU) | DispatchKey::Python);
  x.impl()->set_mode_data(make_intrusive<OwnedBy>(&owner));
  CHECK_FALSE(twice(x).defined());
}

TEST_CASE("an outer mode does not take a pre-dispatch mode's declining for its own") {
  Fixture f;
  Decliner proxy(ModeKey::Proxy, "decliner", &f.notes);
  // Calls on, and then again with a pre-dispatch mode, when its own arguments are gone.
  class Outer : public DispatchMode {
   public:
    explicit Outer(DispatchMode* inner) : inner_(inner) {}
    void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
      ++calls;
      op.call_boxed(stack);
      stack->clear();
      const PreDispatchModeGuard guard(inner_);
      twice(tensor_on(DeviceType::CPU));
    }
    std::string name() const override { return "outer"; }
    int calls = 0;

   private:
    DispatchMode* inner_;
  } outer(&proxy);
  ModeGuard guard(&outer);
  CHECK_THROWS_WITH(f.call(), "predispatch::twice: all modes that were asked declined: decliner");
  CHECK(outer.calls == 1);
  CHECK(pre_dispatch_stack_size() == 0);
}

}  // namespace
}  // namespace sb
