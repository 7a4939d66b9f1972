// Custom operators are opaque: whatever layers a call passes, it does what its kernel does, or an
// error names the operator. Nothing is derived from what a kernel happens to call.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb {
namespace {

using Catch::Contains;
using Catch::StartsWith;
using test::tensor_of;
using test::values_of;
using Tensors = std::vector<Tensor>;
using Values = std::vector<double>;

// By pointer: no operator is called with the elements.
void triple_into(const Tensor& from, const Tensor& to) {
  for (int64_t i = 0; i < from.numel(); ++i) to.data<double>()[i] = 3 * from.data<double>()[i];
}
Tensor triple(const Tensor& x) {
  const Tensor y = empty_like(x);
  triple_into(x, y);
  return y;
}
// Partly by operators, which autograd could record.
Tensor triple_in_parts(const Tensor& x) { return add(x, triple(x)); }
void triple_in_place(const Tensor& x) { triple_into(x, x); }

// The ways to register a custom operator that say nothing about gradients.
struct Style {
  std::string name;
  std::function<std::shared_ptr<void>()> define;  // until the result goes
};

std::shared_ptr<void> define_at(DispatchKey key) {
  auto m = std::make_shared<Library>(Library::Kind::Def, "opaque");
  m->impl(m->define("triple(Tensor x) -> Tensor"), key, triple);
  m->impl(m->define("parts(Tensor x) -> Tensor"), key, triple_in_parts);
  m->impl(m->define("write_triple(Tensor(a!) x) -> ()"), key, triple_in_place);
  return m;
}
std::shared_ptr<void> define_custom(const CustomOpOptions& options) {
  auto all = std::make_shared<std::vector<CustomOp>>();
  all->push_back(custom_op("opaque::triple", "(Tensor x) -> Tensor", triple, options));
  all->push_back(custom_op("opaque::parts", "(Tensor x) -> Tensor", triple_in_parts, options));
  all->push_back(
      custom_op("opaque::write_triple", "(Tensor(a!) x) -> ()", triple_in_place, options));
  return all;
}
Style any_style() {
  return GENERATE(
      Style{"at CPU", [] { return define_at(DispatchKey::CPU); }},
      Style{"at CompositeExplicitAutograd",
            [] { return define_at(DispatchKey::CompositeExplicitAutograd); }},
      Style{"a CustomOp for all devices", [] { return define_custom({}); }},
      Style{"a CustomOp for one device", [] { return define_custom({.device_types = "cpu"}); }});
}

Tensor leaf() {
  const Tensor x = tensor_of({2}, {1, 2}, DType::Float64);
  set_requires_grad(x);
  return x;
}
Tensor call(const char* name, const Tensor& x) { return lookup_op(name)(x)[0].to_tensor(); }
void write(const Tensor& x) { lookup_op("opaque::write_triple")(x); }

// A program on the operators, and the one of them that backward comes to.
struct Program {
  TensorFunction run;
  std::string op;
  Values result;  // of [1, 2]
};
std::vector<Program> programs() {
  return {
      {[](const Tensors& in) { return Tensors{call("opaque::triple", in[0]) + in[0]}; },
       "opaque::triple",
       {4, 8}},
      {[](const Tensors& in) { return Tensors{call("opaque::parts", in[0]) + in[0]}; },
       "opaque::parts",
       {5, 10}},
      {[](const Tensors& in) {
         const Tensor y = in[0] * 1.0;
         write(y);
         return Tensors{y + in[0]};
       },
       "opaque::write_triple",
       {4, 8}},
  };
}

void check_error_of(const std::string& op, const Tensor& result) {
  REQUIRE(requires_grad(result));
  CHECK_THROWS_WITH(backward(sum_all(result)), Contains(op + ": no derivative is registered"));
}

TEST_CASE("backward through an opaque operator is an error that names it") {
  const Style style = any_style();
  INFO(style.name);
  const auto operators = style.define();
  for (const Program& p : programs()) {
    const Tensor x = leaf();
    const Tensor y = p.run({x})[0];
    CHECK(values_of(y) == p.result);
    check_error_of(p.op, y);
    CHECK_FALSE(grad_of(x).defined());
  }
}

TEST_CASE("where nothing asks for a gradient, opaque operators do what their kernels do") {
  const Style style = any_style();
  INFO(style.name);
  const auto operators = style.define();
  for (const Program& p : programs()) {
    CHECK(values_of(p.run({tensor_of({2}, {1, 2}, DType::Float64)})[0]) == p.result);
    const NoGradGuard off;
    const Tensor y = p.run({leaf()})[0];
    CHECK(values_of(y) == p.result);
    CHECK_FALSE(requires_grad(y));
  }
}

TEST_CASE("functionalised, opaque operators compute the same, and backward names them") {
  const Style style = any_style();
  INFO(style.name);
  const auto operators = style.define();
  for (const Program& p : programs()) {
    const TensorFunction f = functionalize(p.run);
    CHECK(values_of(f({tensor_of({2}, {1, 2}, DType::Float64)})[0]) == p.result);
    const Tensor y = f({leaf()})[0];
    CHECK(values_of(y) == p.result);
    check_error_of(p.op, y);
  }
}

TEST_CASE("traced, opaque operators are calls of the graph, and backward through it names them") {
  const Style style = any_style();
  INFO(style.name);
  const auto operators = style.define();
  for (const Program& p : programs()) {
    const Graph graph = trace(p.run, {tensor_of({2}, {7, 7}, DType::Float64)});
    CHECK_THAT(graph.to_string(), Contains(p.op));
    CHECK(values_of(graph.run({tensor_of({2}, {1, 2}, DType::Float64)})[0]) == p.result);
    check_error_of(p.op, graph.run({leaf()})[0]);
    const Graph functional = trace(functionalize(p.run), {tensor_of({2}, {7, 7}, DType::Float64)});
    CHECK(values_of(functional.run({tensor_of({2}, {1, 2}, DType::Float64)})[0]) == p.result);
  }
}

TEST_CASE("in a branch of a cond, opaque operators compute the same, and backward names them") {
  const Style style = any_style();
  INFO(style.name);
  const auto operators = style.define();
  const Program p = programs()[0];
  const auto branch = [&](const Tensors& in) {
    return cond(
        tensor_of({}, {1}, DType::Bool), p.run,
        [](const Tensors& other) { return Tensors{other[0] * 2.0}; }, in);
  };
  CHECK(values_of(branch({tensor_of({2}, {1, 2}, DType::Float64)})[0]) == p.result);
  check_error_of(p.op, branch({leaf()})[0]);
}

TEST_CASE("on fake tensors an opaque operator without a fake rule is refused by name") {
  const Style style = any_style();
  INFO(style.name);
  const auto operators = style.define();
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(leaf());
  CHECK_THROWS_WITH(call("opaque::triple", x), StartsWith("opaque::triple: "));
  CHECK_THROWS_WITH(call("opaque::parts", x), StartsWith("opaque::parts: "));
  // One that returns nothing has nothing to give: what it writes keeps its shape.
  const Tensor z = x * 1.0;
  if (style.name == "at CompositeExplicitAutograd") {  // whose kernel is there for Meta, too
    CHECK_THROWS_WITH(write(z), StartsWith("opaque::write_triple: "));
  } else {
    write(z);
    CHECK(z.describe() == x.describe());
  }
}

SB_OP(declared, "opaque_declared::triple(Tensor x) -> Tensor");
SB_LIBRARY(opaque_declared, m) {
  m.define(declared);
  m.impl(declared, DispatchKey::CompositeExplicitAutograd, triple);
}

TEST_CASE("a typed call on fake tensors names the operator too") {
  FakeTensorMode fake;
  CHECK_THROWS_WITH(
      declared(fake.from_tensor(tensor_of({2}, {1, 2}, DType::Float64))),
      StartsWith("opaque_declared::triple: its kernel for all devices refuses tensors "
                 "without data; register one at Meta, or a fake rule by "
                 "register_fake: "));
  check_error_of("opaque_declared::triple", declared(leaf()));
}

TEST_CASE("with a fake rule the result is fake, and backward names the operator") {
  const auto all = define_custom({});
  auto& ops = *std::static_pointer_cast<std::vector<CustomOp>>(all);
  ops[0].register_fake([](const Tensor& x) { return empty_like(x); });
  ops[2].register_fake([](const Tensor&) {});
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(leaf());
  const Tensor y = call("opaque::triple", x);
  CHECK(y.describe() == x.describe());
  check_error_of("opaque::triple", y);
  const Tensor z = x * 1.0;
  write(z);
  check_error_of("opaque::write_triple", z);
}

TEST_CASE("an operator that says that it is derived through has the derivatives of its parts") {
  const Tensor x = leaf();
  const auto define_with = [](TagSet tags) {
    return custom_op("opaque::square", "(Tensor x) -> Tensor",
                     [](const Tensor& t) { return mul(t, t); }, {.tags = tags});
  };
  {
    const CustomOp silent = define_with({});
    check_error_of("opaque::square", silent(x));
  }
  const CustomOp through = define_with(Tag::derived_through);
  backward(sum_all(through(x)));
  CHECK(values_of(grad_of(x)) == Values{2, 4});
}

TEST_CASE("a result that is an argument itself has the argument's history") {
  Library m(Library::Kind::Def, "opaque");
  m.impl(m.define("same(Tensor x) -> Tensor"), DispatchKey::CPU, [](const Tensor& x) { return x; });
  const Tensor x = leaf();
  CHECK(call("opaque::same", x).is_same(x));
  CHECK(is_leaf(x));
  backward(sum_all(call("opaque::same", x) * 2.0));
  CHECK(values_of(grad_of(x)) == Values{2, 2});
}

}  // namespace
}  // namespace sb
