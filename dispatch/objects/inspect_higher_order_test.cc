#include "switchboard/dispatch/objects/inspect_higher_order.h"

#include <regex>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/inspect/trace.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/dispatch/objects/callable.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using K = DispatchKey;
using Catch::Contains;

// An operator with a rule for backends, and one at autograd.
struct Twice {
  Twice() : op("twice", {"f", "x"}) {
    computing = op.impl(K::CompositeExplicitAutograd, [](DispatchKeySet, Stack*) {});
    recording = op.impl(K::Autograd, [](DispatchKeySet, Stack*) {});
  }
  Stack arguments() const {
    return {Callable::make([](std::vector<IValue> v) { return v; }), tensor_on(DeviceType::CPU)};
  }

  HigherOrderOperator op;
  RegistrationHandle computing, recording;
};

std::vector<std::string> steps(const HigherOrderExplanation& e) {
  std::vector<std::string> steps;
  for (const PathStep& step : e.path)
    steps.push_back(step.kind == PathStep::Kind::Other ? step.what
                                                       : std::string(to_string(step.row.key)));
  return steps;
}

TEST_CASE("a higher-order operator has a signature and a table of its own rules") {
  const Twice twice;
  CHECK(signature_text(twice.op) == "higher_order::twice(f, x)");
  const std::string table = table_to_string(twice.op);
  CHECK_THAT(table, Contains("CPU  ") && Contains("inspect_higher_order_test.cc:"));
  CHECK_THAT(table, Contains("[default backend kernel, from CompositeExplicitAutograd]"));
  CHECK_THAT(table, Contains("[autograd kernel, from Autograd]"));
  CHECK_THAT(table, !Contains("BackendSelect"));
  CHECK_THAT(table_to_string(twice.op, true), Contains("falls through"));
}

TEST_CASE("rules for modes are in the table of a higher-order operator") {
  const Twice twice;
  const RegistrationHandle rule =
      const_cast<HigherOrderOperator&>(twice.op).impl_mode<CountingMode>(
          [](CountingMode&, DispatchKeySet, Stack*) {});
  CHECK_THAT(table_to_string(twice.op), Contains("mode sb::CountingMode"));
}

TEST_CASE("a call of a higher-order operator is explained to its rule and the functions given") {
  const Twice twice;
  const HigherOrderExplanation e = explain(twice.op, twice.arguments());
  CHECK(e.runs());
  CHECK(steps(e) == std::vector<std::string>{"AutogradCPU", "CPU", "function f"});
  CHECK_THAT(to_string(e), Contains("left for the call   {AutogradCPU, CPU}") &&
                               Contains("runs, and decides") && Contains("may run"));
}

TEST_CASE("a higher-order operator is explained in the words of other operators") {
  const Twice twice;
  const std::string text = to_string(explain(twice.op, twice.arguments()));
  size_t at = 0;
  for (const char* words : {"  keys\n", "    op falls through    {",
                            "  looked at\n    AutogradCPU ", "  below it\n    CPU "}) {
    CAPTURE(words, text);
    at = text.find(words, at);
    REQUIRE(at != std::string::npos);
  }
}

TEST_CASE("arguments of a higher-order operator are explained by name too") {
  const Twice twice;
  const Stack given = twice.arguments();
  CHECK(to_string(explain(twice.op, {given[0]}, {{"x", given[1]}})) ==
        to_string(explain(twice.op, given)));
  CHECK_THROWS_AS(explain(twice.op, {given[0]}, {{"y", given[1]}}), TypeError);
}

TEST_CASE("a mode that watches is passed, and one without a rule fails") {
  const Twice twice;
  CountingMode counting;
  {
    const ModeGuard guard(&counting);
    CHECK(steps(explain(twice.op, twice.arguments()))[1] == "mode CountingMode");
  }
  struct Strict : DispatchMode {
    void call(const OperatorHandle&, DispatchKeySet, Stack*) override {}
    std::string name() const override { return "Strict"; }
  } strict;
  const ModeGuard guard(&strict);
  const ExcludeKeysGuard no_autograd(kAutogradFunctionalities);
  const HigherOrderExplanation e = explain(twice.op, twice.arguments());
  CHECK_FALSE(e.runs());
  CHECK(steps(e) == std::vector<std::string>{"mode Strict: no rule for the mode"});
}

TEST_CASE("a mode that handles higher-order operators decides") {
  const Twice twice;
  struct Handles : DispatchMode {
    void call(const OperatorHandle&, DispatchKeySet, Stack*) override {}
    std::string name() const override { return "Handles"; }
    bool supports_higher_order_operators() const override { return true; }
  } handles;
  const ModeGuard guard(&handles);
  const ExcludeKeysGuard no_autograd(kAutogradFunctionalities);
  const HigherOrderExplanation e = explain(twice.op, twice.arguments());
  CHECK(e.runs());
  CHECK(steps(e) == std::vector<std::string>{"mode Handles", "function f"});
}

TEST_CASE("a key without a rule fails") {
  const HigherOrderOperator bare("bare", {"x"});
  const HigherOrderExplanation e = explain(bare, DispatchKeySet(K::CPU));
  CHECK_FALSE(e.runs());
  CHECK_THAT(to_string(e), Contains("fails: no kernel"));
}

TEST_CASE("a dump of tables has the higher-order operators, and can be read back") {
  const Twice twice;
  TableDump dump;
  dump_higher_order_ops(&dump);
  REQUIRE(dump.contains("higher_order::twice"));
  CHECK(dump["higher_order::twice"].slots.contains(K::AutogradCPU));
  CHECK(parse_table_dump(to_string(dump), "a dump") == dump);
}

// An operator whose rule at autograd goes on below it, and whose other rule calls its function.
struct Applies {
  Applies() : op("applies", {"f", "x"}) {
    computing = op.impl(K::CompositeExplicitAutograd, [](DispatchKeySet, Stack* stack) {
      const IntrusivePtr<Callable> f = Callable::find((*stack)[0]);
      *stack = (*f)({(*stack)[1]});
    });
    recording = op.impl(K::Autograd, [this](DispatchKeySet keys, Stack* stack) {
      op.redispatch_boxed(keys & DispatchKeySet::below(K::AutogradCPU), stack);
    });
  }
  HigherOrderOperator op;
  RegistrationHandle computing, recording;
};

Stack negation_of_a_tensor(const OperatorHandle& neg) {
  return {Callable::make([neg](std::vector<IValue> v) {
            neg.call_boxed(&v);
            return v;
          }),
          tensor_on(DeviceType::CPU)};
}

TEST_CASE("a trace has a line for each rule of a higher-order call, and its functions' below") {
  Library lib(Library::Kind::Def, "traced_rules");
  lib.define("neg(Tensor x) -> Tensor");
  lib.impl("neg", K::CPU, [](const Tensor& x) { return x; });
  const OperatorHandle neg = default_dispatcher().find_op_or_throw("traced_rules::neg");
  const Applies applies;

  std::vector<std::string> lines, outer_lines;
  const auto names = [](std::vector<std::string>& to) {
    return [&to](const std::string& line) { to.push_back(line.substr(0, line.rfind("  "))); };
  };
  const std::vector<std::string> expected{"higher_order::applies  AutogradCPU",
                                          "  higher_order::applies  CPU",
                                          "    traced_rules::neg  CPU"};
  {
    const TraceCalls outer(names(outer_lines));
    const TraceCalls trace(names(lines));
    applies.op(negation_of_a_tensor(neg));
  }
  CHECK(lines == expected);
  CHECK(outer_lines == expected);

  std::vector<std::string> of_all;
  TextTrace sink(names(of_all), TextTrace::When::Start);
  {
    const TraceAllThreads all(sink);
    applies.op(negation_of_a_tensor(neg));
  }
  CHECK(of_all == expected);
}

TEST_CASE("a trace tells where the rule for a mode is, and the name of a mode without one") {
  Applies applies;
  std::vector<std::string> lines;
  const auto call = [&] {
    lines.clear();
    CountingMode counting;
    const TraceCalls trace([&](const std::string& line) { lines.push_back(line); });
    const ModeGuard active(&counting);
    applies.op(
        {Callable::make([](std::vector<IValue> v) { return v; }), tensor_on(DeviceType::CPU)});
  };
  call();
  REQUIRE(lines.size() > 1);
  CHECK_THAT(lines[0], Contains("AutogradCPU"));
  CHECK(lines[1] == "  higher_order::applies  Python  (CountingMode)");
  const RegistrationHandle rule =
      applies.op.impl_mode<CountingMode>([](CountingMode&, DispatchKeySet, Stack*) {});
  call();
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[1], Contains("Python  dispatch/objects/inspect_higher_order_test.cc:"));
}

TEST_CASE("a rule that throws is traced as one that threw") {
  HigherOrderOperator op("throws", {"x"});
  const RegistrationHandle rule = op.impl(K::Autograd, [](DispatchKeySet, Stack*) {
    SB_THROW(ValueError, "higher_order::throws: no");
  });
  std::vector<TraceEvent> events;
  TraceCallback sink([&](const TraceEvent& event) { events.push_back(event); });
  {
    const TraceCalls trace(sink);
    CHECK_THROWS_AS(op({tensor_on(DeviceType::CPU)}), ValueError);
  }
  REQUIRE(events.size() == 1);
  CHECK(events[0].threw);
  CHECK(events[0].op == "higher_order::throws");
}

}  // namespace
}  // namespace sb
