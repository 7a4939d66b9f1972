#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/inspect/custom_class.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/fake_object.h"
#include "switchboard/dispatch/objects/operator_base.h"

namespace sb {
namespace {

using Catch::Contains;
using Values = std::vector<IValue>;

constexpr char kFactor[] = "__torch__.torch.classes.demo.Factor";
constexpr char kCounter[] = "__torch__.torch.classes.demo.Counter";

// A value: what a call is multiplied by.
struct Factor final : ConstantObject {
  explicit Factor(int64_t f) : factor(f) {}
  std::string_view class_name() const override { return kFactor; }
  bool equals(const ConstantObject& other) const override {
    return static_cast<const Factor&>(other).factor == factor;
  }
  std::string to_string() const override { return str_cat("Factor(", factor, ")"); }
  int64_t factor;
};

// A state: how often it was asked, in steps of a width that never changes.
struct Counter final : OpaqueObject {
  explicit Counter(int64_t w) : width(w) {}
  std::string_view class_name() const override { return kCounter; }
  int64_t width;
  int64_t count = 0;
};

IValue factor(int64_t f) { return IntrusivePtr<OpaqueObject>(make_intrusive<Factor>(f)); }

Tensor number(float v) {
  const Tensor t = empty_on(DeviceType::CPU, {}, DType::Float32);
  *t.data<float>() = v;
  return t;
}
float value(const IValue& v) { return *v.to_tensor().data<float>(); }

struct Objects {
  Objects() {
    scale = m.define(str_cat("scale(Tensor x, ", kFactor, " by) -> Tensor"));
    m.impl("scale", DispatchKey::CPU, [](const OperatorHandle&, DispatchKeySet, Stack* stack) {
      const auto by = (*stack)[1].to_object();
      *stack = {number(value((*stack)[0]) * static_cast<const Factor&>(*by).factor)};
    });
    count = m.define(str_cat("count(Tensor x, ", kCounter, " counter) -> Tensor"));
    m.impl("count", DispatchKey::CPU, [](const OperatorHandle&, DispatchKeySet, Stack* stack) {
      const auto object = (*stack)[1].to_object();
      auto& counter = static_cast<Counter&>(*object);
      counter.count += counter.width;
      *stack = {number(value((*stack)[0]) + static_cast<float>(counter.count))};
    });
  }
  static IValue call(const std::optional<OperatorHandle>& op, Values arguments) {
    op->call_boxed(&arguments);
    return arguments[0];
  }
  Graph scaled(const IValue& by) {
    return trace_values(
        [&](const Values& in) {
          return Values{call(scale, {in[0], in[1]})};
        },
        {number(3), by}, {.input_names = {"x", "by"}});
  }
  Graph counted(const IntrusivePtr<Counter>& counter) {
    return trace_values(
        [&](const Values& in) {
          return Values{call(count, {in[0], in[1]})};
        },
        {number(3), IntrusivePtr<OpaqueObject>(counter)}, {.input_names = {"x", "counter"}});
  }

  Library m{LibraryKind::Def, "demo"};
  std::optional<OperatorHandle> scale, count;
};

TEST_CASE_METHOD(Objects, "an object of a constant class is a value of the graph") {
  const RegistrationHandle constant = register_custom_class<Factor>(kFactor);
  const Graph g = scaled(factor(2));
  CHECK(g.to_string() ==
        "graph(x: float32[], by: __torch__.torch.classes.demo.Factor):\n"
        "  scale = demo::scale(x, Factor(2))\n"
        "  return (scale,)\n");
  CHECK(g.num_tokens() == 0);
  CHECK(value(g.run_values({number(5), factor(2)})[0]) == 10);
}

TEST_CASE_METHOD(Objects, "a graph takes only an equal object of a constant class") {
  const RegistrationHandle constant = register_custom_class<Factor>(kFactor);
  const Graph g = scaled(factor(2));
  CHECK_THROWS_AS(g.run_values({number(5), factor(4)}), ValueError);
  CHECK_THROWS_WITH(g.run_values({number(5), factor(4)}),
                    "graph: input 1 'by': expected Factor(2), for which the graph was made, got "
                    "Factor(4)");
  CHECK_THROWS_WITH(g.run_values({number(5), 4}),
                    Contains("expected an object of __torch__.torch.classes.demo.Factor, got 4"));
}

TEST_CASE_METHOD(Objects, "a call that takes constants alone is dead code where nobody uses it") {
  const auto trace_unused = [&] {
    return trace_values(
        [&](const Values& in) {
          call(scale, {in[0], factor(7)});
          return Values{in[0]};
        },
        {number(3)});
  };
  Graph stateful = trace_unused();
  CHECK(stateful.num_tokens() == 1);
  CHECK(stateful.eliminate_dead_code() == 0);
  const RegistrationHandle constant = register_custom_class<Factor>(kFactor);
  Graph pure = trace_unused();
  CHECK(pure.num_tokens() == 0);
  CHECK(pure.eliminate_dead_code() == 1);
}

TEST_CASE_METHOD(Objects, "an object of a symbolic class is an input, which may be another one") {
  const RegistrationHandle symbolic = register_custom_class<Counter>(kCounter);
  const auto first = make_intrusive<Counter>(1), second = make_intrusive<Counter>(10);
  const Graph g = counted(first);
  CHECK(first->count == 1);
  CHECK(g.to_string() ==
        "graph(x: float32[], counter: __torch__.torch.classes.demo.Counter):\n"
        "  count = demo::count(x, counter)  # token 1\n"
        "  return (count,)\n");
  CHECK(value(g.run_values({number(5), IntrusivePtr<OpaqueObject>(second)})[0]) == 15);
  CHECK(first->count == 1);
  CHECK(second->count == 10);
}

TEST_CASE_METHOD(Objects, "a graph takes objects of a symbolic class with the values it rests on") {
  const RegistrationHandle symbolic =
      register_custom_class<Counter>(kCounter, [](const Counter& c) { return Values{c.width}; });
  const Graph g = counted(make_intrusive<Counter>(1));
  const auto same = make_intrusive<Counter>(1);
  same->count = 6;  // which nobody guards
  CHECK(value(g.run_values({number(5), IntrusivePtr<OpaqueObject>(same)})[0]) == 12);
  const IValue wider{IntrusivePtr<OpaqueObject>(make_intrusive<Counter>(2))};
  CHECK_THROWS_AS(g.run_values({number(5), wider}), ValueError);
  CHECK_THROWS_WITH(g.run_values({number(5), wider}),
                    "graph: input 1 'counter': expected an object of __torch__.torch.classes.demo."
                    "Counter with the values [1], for which the graph was made, got [2]");
}

TEST_CASE_METHOD(Objects, "inputs of a trace are tensors and objects, and numbers are burnt in") {
  const auto f = [](const Values& in) { return in; };
  CHECK_THROWS_AS(trace_values(f, {number(1), 2}), TypeError);
  CHECK_THROWS_WITH(trace_values(f, {number(1), 2}),
                    "trace: input 1 'arg1': expected a tensor or an object of a class, got Int; "
                    "numbers are burnt in");
  const Graph g = trace_values([](const Values& in) { return Values{in[0], 2.5}; }, {number(1)});
  CHECK(g.run_values({number(1)})[1].to_double() == 2.5);
}

TEST_CASE_METHOD(Objects, "a stand-in goes to rules where a program is traced, and a graph runs") {
  const Values fake{number(3), IntrusivePtr<OpaqueObject>(make_intrusive<FakeObject>(kCounter))};
  const auto counted_by = [&](const Values& in) { return Values{call(count, {in[0], in[1]})}; };
  const Graph g = counted(make_intrusive<Counter>(2));
  CHECK_THROWS_WITH(trace_values(counted_by, fake), Contains("demo::count: argument 1 'counter' is "
                                                             "the fake stand-in"));
  CHECK_THROWS_WITH(g.run_values(fake), Contains("demo::count: argument 1 'counter' is the fake"));
  const RegistrationHandle rule =
      operator_base(count->entry()).impl(DispatchKey::CPU, [](DispatchKeySet, Stack* stack) {
        *stack = {number(7)};
      });
  CHECK(value(g.run_values(fake)[0]) == 7);
  const Graph of_fake = trace_values(counted_by, fake, {.input_names = {"x", "counter"}});
  CHECK(of_fake.to_string() == g.to_string());
}

}  // namespace
}  // namespace sb
