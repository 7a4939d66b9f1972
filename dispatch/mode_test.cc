#include "switchboard/dispatch/mode.h"

#include <memory>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/operator_base.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

SB_OP(twice, "modes::twice(Tensor x) -> Tensor");
SB_OP(both, "modes::both(Tensor x, Tensor y) -> Tensor");

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

// Takes a slot, and notes each call.
class SlotMode : public NotingMode {
 public:
  SlotMode(ModeKey key, std::string name, std::vector<std::string>* notes)
      : NotingMode(std::move(name), notes), key_(key) {}
  std::optional<ModeKey> mode_key() const override { return key_; }

 private:
  ModeKey key_;
};

struct Slots : Modes {
  SlotMode fake{ModeKey::Fake, "fake", &notes}, fake2{ModeKey::Fake, "fake2", &notes};
  SlotMode proxy{ModeKey::Proxy, "proxy", &notes}, proxy2{ModeKey::Proxy, "proxy2", &notes};
  SlotMode functional{ModeKey::Functional, "functional", &notes};
  SlotMode functional2{ModeKey::Functional, "functional2", &notes};

  // Which modes see a call, in order.
  std::string order() {
    notes.clear();
    twice(tensor_on(DeviceType::CPU));
    std::string text;
    for (const std::string& note : notes) text += note.substr(0, note.find(' ')) + " ";
    return text;
  }
};

bool includes_python() { return dispatch_tls.included.has(DispatchKey::Python); }

TEST_CASE(
    "users' modes see calls first, then Functional, Proxy and Fake, however they were pushed") {
  Slots m;
  ModeGuard a(&m.outer), b(&m.fake), c(&m.functional), d(&m.inner), e(&m.proxy);
  CHECK(m.order() == "inner outer functional proxy fake ");
  CHECK(mode_stack_size() == 5);
  CHECK(current_mode() == &m.inner);
  CHECK(get_mode(ModeKey::Fake) == &m.fake);
  CHECK(get_mode(ModeKey::Proxy) == &m.proxy);
  CHECK(get_mode(ModeKey::Functional) == &m.functional);
}

TEST_CASE("an inner Fake or Proxy mode replaces the outer one for its scope") {
  Slots m;
  ModeGuard a(&m.fake), b(&m.proxy);
  {
    ModeGuard c(&m.fake2), d(&m.proxy2);
    CHECK(m.order() == "proxy2 fake2 ");
    CHECK(mode_stack_size() == 2);
    {
      ModeGuard again(&m.fake2);
      CHECK(m.order() == "proxy2 fake2 ");
    }
    CHECK(m.order() == "proxy2 fake2 ");
  }
  CHECK(m.order() == "proxy fake ");
}

TEST_CASE("a second Functional mode is refused, and the one that is there stays") {
  Slots m;
  {
    ModeGuard a(&m.functional);
    CHECK_THROWS_WITH(ModeGuard(&m.functional2),
                      "ModeGuard: the FUNCTIONAL slot holds functional already; got functional2");
    CHECK_THROWS_AS(ModeGuard(&m.functional), RuntimeError);
    CHECK(m.order() == "functional ");
  }
  ModeGuard b(&m.functional2);
  CHECK(m.order() == "functional2 ");
}

TEST_CASE("while a mode of a slot runs, its slot is free") {
  Slots m;
  class Replacing : public SlotMode {
   public:
    Replacing(Slots* m) : SlotMode(ModeKey::Functional, "replacing", &m->notes), m_(m) {}
    void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
      CHECK(get_mode(ModeKey::Functional) == nullptr);
      ModeGuard guard(&m_->functional2);
      op.call_boxed(stack);
    }

   private:
    Slots* m_;
  } replacing(&m);
  ModeGuard guard(&replacing);
  CHECK(m.order() == "functional2 ");
  CHECK(get_mode(ModeKey::Functional) == &replacing);
}

TEST_CASE("slots can be set and emptied without a scope") {
  Slots m;
  CHECK(get_mode(ModeKey::Fake) == nullptr);
  CHECK(unset_mode(ModeKey::Fake) == nullptr);
  set_mode(&m.fake);
  CHECK(includes_python());
  CHECK(m.order() == "fake ");
  CHECK_THROWS_WITH(set_mode(&m.fake2), "set_mode: the FAKE slot holds fake already; got fake2");
  CHECK_THROWS_WITH(set_mode(&m.outer), "set_mode: outer has no slot; push it with a ModeGuard");
  CHECK_THROWS_WITH(set_mode(nullptr), "set_mode: expected a mode, got null");
  CHECK(unset_mode(ModeKey::Fake) == &m.fake);
  CHECK_FALSE(includes_python());
  CHECK(m.order() == "");
}

TEST_CASE("a null mode is refused") {
  CHECK_THROWS_WITH(ModeGuard(nullptr), "ModeGuard: expected a mode, got null");
  CHECK_FALSE(includes_python());
}

TEST_CASE("a scope without the fake mode says which one it took away, and brings it back") {
  Slots m;
  {
    UnsetFakeTemporarily none;
    CHECK(none.mode() == nullptr);
  }
  ModeGuard a(&m.fake), b(&m.outer);
  try {
    UnsetFakeTemporarily unset;
    CHECK(unset.mode() == &m.fake);
    CHECK(m.order() == "outer ");
    ModeGuard c(&m.fake2);
    CHECK(m.order() == "outer fake2 ");
    throw ValueError("out");
  } catch (const ValueError&) {
  }
  CHECK(m.order() == "outer fake ");
}

TEST_CASE("modes that are pushed where no mode runs do run") {
  Slots m;
  ModeGuard a(&m.outer), b(&m.fake);
  {
    NoModesGuard none;
    CHECK(mode_stack_size() == 0);
    CHECK(get_mode(ModeKey::Fake) == nullptr);
    CHECK_FALSE(includes_python());
    {
      ModeGuard c(&m.fake2);
      CHECK(m.order() == "fake2 ");
      NoModesGuard again;
      CHECK(m.order() == "");
    }
    CHECK(m.order() == "");
  }
  CHECK(m.order() == "outer fake ");
}

TEST_CASE("guards may end in any order") {
  Slots m;
  auto a = std::make_unique<ModeGuard>(&m.outer);
  auto b = std::make_unique<ModeGuard>(&m.fake);
  auto c = std::make_unique<ModeGuard>(&m.inner);
  auto d = std::make_unique<ModeGuard>(&m.fake2);
  a.reset();
  CHECK(m.order() == "inner fake2 ");
  b.reset();
  CHECK(m.order() == "inner fake2 ");
  d.reset();  // what it replaced is gone
  CHECK(m.order() == "inner ");
  c.reset();
  CHECK(m.order() == "");
  CHECK_FALSE(includes_python());
}

TEST_CASE("a mode whose guard ends while it runs does not come back") {
  Modes m;
  std::unique_ptr<ModeGuard> guard;
  class Ender : public DispatchMode {
   public:
    explicit Ender(std::unique_ptr<ModeGuard>* guard) : guard_(guard) {}
    void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
      guard_->reset();
      op.call_boxed(stack);
    }
    std::string name() const override { return "Ender"; }

   private:
    std::unique_ptr<ModeGuard>* guard_;
  } ender(&guard);
  ModeGuard below(&m.outer);
  guard = std::make_unique<ModeGuard>(&ender);
  twice(tensor_on(DeviceType::CPU));
  CHECK(current_mode() == &m.outer);
  CHECK(m.notes.size() == 1);
  CHECK(includes_python());
}

TEST_CASE("a mode that a handler leaves on the stack stays there, above it or not") {
  Modes m;
  std::unique_ptr<ModeGuard> left;
  class Leaver : public NotingMode {
   public:
    Leaver(Modes* m, std::unique_ptr<ModeGuard>* left)
        : NotingMode("leaver", &m->notes), m_(m), left_(left) {}
    void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override {
      if (!*left_) *left_ = std::make_unique<ModeGuard>(&m_->inner);
      NotingMode::call(op, keys, stack);
    }

   private:
    Modes* m_;
    std::unique_ptr<ModeGuard>* left_;
  } leaver(&m, &left);
  ModeGuard guard(&leaver);
  twice(tensor_on(DeviceType::CPU));
  CHECK(m.notes == std::vector<std::string>{"leaver modes::twice", "inner modes::twice"});
  CHECK(mode_stack_size() == 2);
  CHECK(current_mode() == &m.inner);
}

TEST_CASE("modes are of one thread") {
  Modes m;
  ModeGuard guard(&m.outer);
  std::thread([] {
    CHECK(current_mode() == nullptr);
    CHECK_FALSE(includes_python());
    twice(tensor_on(DeviceType::CPU));
  }).join();
  CHECK(m.notes.empty());
}

// Declines every call.
class Decliner : public DispatchMode {
 public:
  explicit Decliner(std::string name = "Decliner") : name_(std::move(name)) {}
  void call(const OperatorHandle&, DispatchKeySet, Stack*) override { throw ModeDeclined(); }
  std::string name() const override { return name_; }

 private:
  std::string name_;
};

TEST_CASE("when a mode declines, the modes that own arguments are asked in order") {
  Modes m;
  m.library.define(both);
  m.library.impl(both, DispatchKey::CPU, [](const Tensor& x, const Tensor&) { return x; });
  Decliner top, owner("owner"), second("second");
  const DispatchKeySet keys = tensor_key_set(DeviceType::CPU) | DispatchKey::Python;
  const Tensor x = tensor_with(keys), y = tensor_with(keys);
  x.impl()->set_mode_data(make_intrusive<OwnedBy>(&owner));
  y.impl()->set_mode_data(make_intrusive<OwnedBy>(&second));
  ModeGuard guard(&top);
  CHECK_THROWS_WITH(both(x, y),
                    "modes::both: all modes that were asked declined: Decliner, owner, second");
  CHECK(current_mode() == &top);

  class Taker : public DispatchMode {
   public:
    void call(const OperatorHandle&, DispatchKeySet, Stack* stack) override {
      CHECK(mode_stack_size() == 0);
      stack->pop_back();
    }
    std::string name() const override { return "Taker"; }
  } taker;
  y.impl()->set_mode_data(make_intrusive<OwnedBy>(&taker));
  CHECK(both(x, y).is_same(x));
}

TEST_CASE("an operator's rule for a type of mode runs instead of the mode, which is popped") {
  Modes m;
  OperatorBase& base = operator_base(twice.handle().entry());
  const RegistrationHandle rule =
      base.impl_mode<NotingMode>([&](NotingMode& mode, DispatchKeySet keys, Stack* stack) {
        CHECK(keys.highest_key() == DispatchKey::Python);
        m.notes.push_back("rule for " + mode.name());
        twice.handle().call_boxed(stack);
      });
  {
    Decliner other;
    ModeGuard a(&m.outer), b(&m.inner);
    const Tensor x = tensor_on(DeviceType::CPU);
    CHECK(twice(x).is_same(x));
    CHECK(m.notes == std::vector<std::string>{"rule for inner", "rule for outer"});
    ModeGuard c(&other);
    CHECK_THROWS_AS(twice(x), TypeError);  // another type has no rule
  }
  // A rule is for the type itself, not for what derives from it.
  SlotMode derived(ModeKey::Fake, "derived", &m.notes);
  ModeGuard guard(&derived);
  m.notes.clear();
  twice(tensor_on(DeviceType::CPU));
  CHECK(m.notes == std::vector<std::string>{"derived modes::twice"});
}

TEST_CASE("a rule serves the mode that owns an argument, too, and goes with its handle") {
  Modes m;
  const Tensor x = tensor_with(tensor_key_set(DeviceType::CPU) | DispatchKey::Python);
  Decliner owner;
  x.impl()->set_mode_data(make_intrusive<OwnedBy>(&owner));
  RegistrationHandle rule = operator_base(twice.handle().entry())
                                .impl_mode<Decliner>([](Decliner&, DispatchKeySet, Stack* stack) {
                                  stack->back() = IValue(Tensor());
                                });
  CHECK_FALSE(twice(x).defined());
  rule.destroy();
  CHECK_THROWS_WITH(twice(x), "modes::twice: all modes that were asked declined: Decliner");
}

TEST_CASE("a mode that declines after it took arguments off the stack breaks the call") {
  Modes m;
  class Taker : public DispatchMode {
   public:
    void call(const OperatorHandle&, DispatchKeySet, Stack* stack) override {
      stack->pop_back();
      throw ModeDeclined();
    }
    std::string name() const override { return "Taker"; }
  } taker;
  const char* const message =
      "modes::twice: the mode Taker declined the call, but changed the stack; expected 2 values on "
      "it, got 1";
  const Tensor x = tensor_on(DeviceType::CPU);
  {
    ModeGuard guard(&taker);
    Stack stack = {IValue(7), IValue(x)};  // a value of the caller's lies below
    CHECK_THROWS_WITH(twice.handle().call_boxed(&stack), message);
    CHECK_THROWS_AS(twice(x), RuntimeError);
    CHECK(current_mode() == &taker);
  }
  // The same for a mode that is asked because it owns an argument.
  const Tensor owned = tensor_with(tensor_key_set(DeviceType::CPU) | DispatchKey::Python);
  owned.impl()->set_mode_data(make_intrusive<OwnedBy>(&taker));
  Decliner top;
  ModeGuard guard(&top);
  Stack stack = {IValue(7), IValue(owned)};
  CHECK_THROWS_WITH(twice.handle().call_boxed(&stack), message);
}

TEST_CASE("that all modes declined an inner call is not taken for the outer mode's declining") {
  Modes m;
  m.library.define(both);
  m.library.impl(both, DispatchKey::CPU, [](const Tensor& x, const Tensor&) { return x; });
  Decliner below;
  ModeGuard guard(&below);
  ModeGuard outer(&m.outer);
  const Tensor x = tensor_on(DeviceType::CPU);
  CHECK_THROWS_WITH(both(x, x), "modes::both: all modes that were asked declined: Decliner");
  CHECK(m.notes.size() == 1);
}

}  // namespace
}  // namespace sb
