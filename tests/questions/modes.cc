// Modes that throw, leave, or call themselves.

#include <optional>
#include <thread>

#include "switchboard/dispatch/modes/logging_mode.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/objects/register_torch_dispatch.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"
#include "switchboard/transforms/control_flow/cond.h"

namespace sb::questions {
namespace {

// Counts calls, and does with them what it is told.
class Mode : public DispatchMode {
 public:
  using Handler = std::function<void(const OperatorHandle&, sb::Stack*)>;
  explicit Mode(Handler handler = [](const OperatorHandle& op, sb::Stack* s) { op.call_boxed(s); })
      : handler_(std::move(handler)) {}
  void call(const OperatorHandle& op, DispatchKeySet, sb::Stack* stack) override {
    ++calls;
    handler_(op, stack);
  }
  std::string name() const override { return "questions::Mode"; }
  int calls = 0;

 private:
  Handler handler_;
};

SB_QUESTION("A mode throws. Is it still on the stack?",
            .both = "Yes, until its scope ends; then calls go on as before.") {
  Mode mode([](const OperatorHandle&, sb::Stack*) { SB_THROW(ValueError, "no"); });
  const Tensor x = numbers({1});
  {
    const ModeGuard on(&mode);
    for (int i = 0; i < 2; ++i) CHECK(error_of([&] { x + 1; }) == "ValueError: no");
    CHECK(mode_stack_size() == 1);
  }
  CHECK(values_of(x + 1) == Values{2});
}

SB_QUESTION(
    "A handler pushes a mode and leaves it there, and the scope of its own mode ends. Which "
    "one is left?",
    .pytorch =
        "Leaving pops the mode on top, which is the other one: the mode whose scope "
        "has ended stays for good.",
    .here = "The one that was pushed: a guard takes away its own mode.",
    .better = "A scope ends what it began.") {
  Mode inner;
  std::optional<ModeGuard> pushed;
  Mode outer([&](const OperatorHandle& op, sb::Stack* stack) {
    if (!pushed) pushed.emplace(&inner);
    op.call_boxed(stack);
  });
  const Tensor x = numbers({1});
  {
    const ModeGuard on(&outer);
    x + 1;
    CHECK(mode_stack_size() == 2);
  }
  CHECK(current_mode() == &inner);
  pushed.reset();
  CHECK(mode_stack_size() == 0);
}

SB_QUESTION("Two scopes of modes end in the wrong order?",
            .pytorch = "The first to end takes the other one's mode away.",
            .here = "Each takes its own.", .better = "The mode that is left is the one in scope.") {
  Mode first, second;
  std::optional<ModeGuard> a(std::in_place, &first), b(std::in_place, &second);
  a.reset();
  CHECK(current_mode() == &second);
  b.reset();
  CHECK(mode_stack_size() == 0);
}

SB_QUESTION("A handler takes its own mode off the stack while it runs?",
            .pytorch = "The call ends; leaving the scope is an IndexError.",
            .here = "The call ends, and so does the scope.",
            .better = "Nothing is popped that is not there.") {
  std::optional<ModeGuard> guard;
  Mode mode([&](const OperatorHandle& op, sb::Stack* stack) {
    guard.reset();
    op.call_boxed(stack);
  });
  guard.emplace(&mode);
  const Tensor x = numbers({1});
  CHECK(values_of(x + 1) == Values{2});
  CHECK(mode_stack_size() == 0);
  CHECK(values_of(x + 1) == Values{2});
  CHECK(mode.calls == 1);
}

SB_QUESTION("A mode is pushed twice. How often does it see a call?", .both = "Twice.") {
  Mode mode;
  const ModeGuard a(&mode), b(&mode);
  numbers({1}) + 1;
  CHECK(mode.calls == 2);
}

SB_QUESTION("A mode declines a call that no argument's mode takes, with another mode below it?",
            .pytorch =
                "TypeError, which for x + 1 is Python's, about operands; the mode below is "
                "not asked.",
            .here = "TypeError that names the operator and the mode.",
            .better = "The error tells who declined.") {
  Mode below;
  Mode declines([](const OperatorHandle&, sb::Stack*) { throw ModeDeclined(); });
  const Tensor x = numbers({1});
  const ModeGuard a(&below), b(&declines);
  CHECK_THAT(error_of([&] { x + 1; }),
             StartsWith("TypeError: aten::add") && Contains("questions::Mode"));
  CHECK(below.calls == 0);
}

SB_QUESTION("A mode gives a number where the schema says Tensor?",
            .pytorch =
                "RuntimeError in a call by C++ types; a call of the overload object gives "
                "the number.",
            .here = "TypeError that says what was expected and what came.",
            .better = "What a call gives is what its schema says.") {
  Mode mode([](const OperatorHandle&, sb::Stack* stack) {
    stack->clear();
    stack->push_back(3);
  });
  const Tensor x = numbers({1});
  const ModeGuard on(&mode);
  CHECK_THAT(error_of([&] { add_Scalar(x, 1, 1); }), Contains("expected Tensor, got Int"));
}

SB_QUESTION("A mode gives another tensor for an in-place operator. What is the result?",
            .pytorch = "Of x.add_(1), x; of a call of the overload object, what the mode gave.",
            .here = "What the mode gave.",
            .better = "It does not matter by which route the call came. Both leave x as it was.") {
  Mode mode([](const OperatorHandle&, sb::Stack* stack) {
    stack->clear();
    stack->push_back(numbers({9}));
  });
  const Tensor x = numbers({1});
  const ModeGuard on(&mode);
  CHECK(values_of(add_Scalar_(x, 1)) == Values{9});
  CHECK(values_of(x) == Values{1});
}

SB_QUESTION("Does another thread see this thread's modes?", .both = "No.") {
  Mode mode;
  const ModeGuard on(&mode);
  const Tensor x = numbers({1});
  mode.calls = 0;
  std::thread([&] { x + 1; }).join();
  CHECK(mode.calls == 0);
}

SB_QUESTION("Does a mode see the backward of what it saw?",
            .both = "If it is on while backward runs, not if it was.") {
  Mode mode;
  const Tensor x = leaf({1});
  Tensor y;
  {
    const ModeGuard on(&mode);
    y = x * 2;
  }
  const int forward = mode.calls;
  const Tensor z = sum_all(y);
  backward(z);
  CHECK(mode.calls == forward);
  const Tensor again = sum_all(x * 2);
  const ModeGuard on(&mode);
  backward(again);
  CHECK(mode.calls > forward);
}

SB_QUESTION("A rule of an operator for a type of mode calls the operator again. Does it loop?",
            .both = "No: the mode is off while the rule runs.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f(Tensor x) -> Tensor"));
  m.impl("f", K::CPU, giving(3));
  register_torch_dispatch<Mode>(
      op,
      [&](Mode&, DispatchKeySet, sb::Stack* stack) { stack->back() = call(op, numbers({0})) + 1; },
      m);
  Mode mode;
  const ModeGuard on(&mode);
  CHECK(values_of(call(op, numbers({0}))) == Values{4});
  CHECK(mode.calls == 0);
}

SB_QUESTION("Does such a rule serve types that derive from that of the mode?",
            .both = "No: exactly that type.") {
  class Derived : public Mode {};
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f(Tensor x) -> Tensor"));
  m.impl("f", K::CPU, giving(3));
  register_torch_dispatch<Mode>(
      op, [](Mode&, DispatchKeySet, sb::Stack* stack) { stack->back() = numbers({42}); }, m);
  Derived mode;
  const ModeGuard on(&mode);
  CHECK(values_of(call(op, numbers({0}))) == Values{3});
}

SB_QUESTION("A mode closes the library of the operator that it handles, and calls it?",
            .pytorch = "An internal assertion.", .here = "NotImplementedError that names it.",
            .better = "It is the error of any call after the library.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload f(m.define("f(Tensor x) -> Tensor"));
  m.impl("f", K::CPU, giving(3));
  Mode mode([&](const OperatorHandle& op, sb::Stack* stack) {
    m.close();
    op.call_boxed(stack);
  });
  const ModeGuard on(&mode);
  CHECK_THAT(error_of([&] { f(numbers({1})); }), StartsWith("NotImplementedError: q::f"));
}

SB_QUESTION("A mode has no rule for a higher-order operator. What does a call do?",
            .pytorch =
                "NotImplementedError, unless the mode's class says that it supports them: "
                "then the mode gets the call as an operator.",
            .here =
                "The same, by supports_higher_order_operators(). One that only watches needs say "
                "nothing: it sees the call, and what the functions call.",
            .better = "A log or a count is of all calls, those in branches, too.") {
  const auto run = [] {
    return cond(
        truth(true), [](const Tensor& x) { return x + 1; }, [](const Tensor& x) { return x - 1; },
        {numbers({1})});
  };
  Mode mode;
  {
    const ModeGuard on(&mode);
    CHECK_THAT(error_of([&] { run(); }), StartsWith("NotImplementedError: higher_order::cond"));
  }
  struct Supports : Mode {
    bool supports_higher_order_operators() const override { return true; }
    void call_higher_order(const HigherOrderOperator& op, DispatchKeySet, Stack* stack) override {
      got += op.opname();
      op.call_boxed(stack);
    }
    std::string got;
  } supports;
  {
    const ModeGuard on(&supports);
    CHECK(values_of(run()[0]) == Values{2});
    CHECK(supports.got == "cond");
  }
  LoggingMode log;
  const ModeGuard on(&log);
  CHECK(values_of(run()[0]) == Values{2});
  CHECK_THAT(log.to_string(), Contains("cond") && Contains("aten::add"));
}

SB_QUESTION("Inside of a scope without modes a new mode is pushed. Does it see calls?",
            .both = "Yes, and those outside do not.") {
  Mode outer, inner;
  const Tensor x = numbers({1});
  const ModeGuard a(&outer);
  {
    const NoModesGuard none;
    const ModeGuard b(&inner);
    x + 1;
  }
  CHECK(outer.calls == 0);
  CHECK(inner.calls == 1);
}

}  // namespace
}  // namespace sb::questions
