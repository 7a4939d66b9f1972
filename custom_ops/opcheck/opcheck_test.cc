#include "switchboard/custom_ops/opcheck/opcheck.h"

#include <algorithm>

#include "catch2/catch.hpp"
#include "switchboard/autograd/function.h"
#include "switchboard/autograd/register_autograd.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/register_fake.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Outcome = OpCheckResult::Outcome;
using Catch::Contains;
using test::values_of;

Tensor x() { return tensor_with({2, 3}, DType::Float32, {1, 2, 3, 4, 5, 6}); }
Tensor leaf() { return requiring_grad(x()); }

// The results as lines.
std::string text_of(const std::vector<OpCheckResult>& results) {
  std::string text;
  for (const OpCheckResult& result : results) text += result.to_string() + "\n";
  return text;
}

TEST_CASE("every check of an operator that is right passes, or says why it was not made") {
  CHECK(text_of(opcheck_results("aten::add.Tensor", {leaf(), leaf()})) ==
        "test_schema: passed\n"
        "test_deterministic: passed\n"
        "test_strides: skipped: all tensors are contiguous\n"
        "test_autograd_registration: passed\n"
        "test_faketensor: passed\n"
        "test_aot_dispatch_dynamic: passed\n"
        "test_gradients: passed\n");
  CHECK(text_of(opcheck_results(
            add, {transpose(x(), 0, 1), transpose(x(), 0, 1)}, {{"alpha", 2}},
            {.checks = {"test_gradients", "test_strides", "test_autograd_registration"}})) ==
        "test_strides: passed\n"
        "test_autograd_registration: skipped: no argument requires a gradient\n"
        "test_gradients: skipped: no argument requires a gradient\n");
}

TEST_CASE("operators of all kinds pass: views, in-place, lists, several results, integers") {
  const Tensor index = tensor_with({2}, DType::Int64, {1, 0});
  opcheck("aten::view", {leaf(), std::vector<int64_t>{3, 2}});
  opcheck("aten::add_.Tensor", {x(), leaf()});
  opcheck("aten::transpose_", {x(), 0, 1});
  opcheck("aten::cat", {std::vector<Tensor>{leaf(), x()}, 1});
  opcheck("aten::split.Tensor", {leaf(), 1});
  opcheck("aten::max.dim", {leaf(), 1});
  opcheck("aten::exp", {leaf()});
  opcheck("aten::argmax", {leaf()});
  opcheck("aten::index.Tensor", {leaf(), std::vector<std::optional<Tensor>>{std::nullopt, index}});
  opcheck("aten::zeros", {std::vector<int64_t>{2, 3}});
  opcheck("aten::matmul", {leaf(), transpose(x(), 0, 1)});
  opcheck("aten::mul.Scalar", {requiring_grad(tensor_with({1}, DType::Complex64, {{1, 2}})), 2.5});
}

TEST_CASE("operators are named in any way, and arguments are bound as in a call") {
  opcheck("aten::mm", {x(), transpose(x(), 0, 1)});
  opcheck(add, {x(), x()});
  opcheck(lookup_op("aten::mm"), {x(), transpose(x(), 0, 1)});
  opcheck("aten::add.Tensor", {x()}, {{"other", x()}, {"alpha", 3}});
  CHECK_THROWS_AS(opcheck("aten::no_such", {x()}), RuntimeError);
  CHECK_THROWS_AS(opcheck("aten::mm", {x()}), TypeError);
  CHECK_THROWS_WITH(opcheck("aten::mm", {x(), x()}), Contains("mm"));
  CHECK_THROWS_AS(opcheck("aten::mm", {x(), x()}), RuntimeError);
}

TEST_CASE("arguments stay as they are") {
  const Tensor self = x(), other = leaf();
  const uint32_t version = self.version();
  opcheck("aten::add_.Tensor", {self, other});
  opcheck_variations("aten::add_.Tensor", {self, other}, {}, {.count = 40});
  CHECK(values_of(self) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(self.version() == version);
  CHECK_FALSE(requires_grad(self));
  CHECK_FALSE(grad_of(other).defined());
}

TEST_CASE("the checks that PyTorch has are named as in torch.library.opcheck, and chosen by name") {
  CHECK(opcheck_names() == std::vector<std::string>{"test_schema", "test_deterministic",
                                                    "test_strides", "test_autograd_registration",
                                                    "test_faketensor", "test_aot_dispatch_static",
                                                    "test_aot_dispatch_dynamic", "test_gradients"});
  for (const std::string& name : opcheck_names()) {
    const auto results = opcheck_results("aten::mul.Tensor", {leaf(), x()}, {}, {.checks = {name}});
    REQUIRE(results.size() == 1);
    CHECK(results[0].check == name);
    CHECK(results[0].outcome == (name == "test_strides" ? Outcome::Skipped : Outcome::Passed));
  }
  const auto all = opcheck_results("aten::neg", {x()}, {}, {.checks = {"ALL"}});
  CHECK(all.size() == opcheck_names().size());
  CHECK_THROWS_AS(opcheck("aten::neg", {x()}, {}, {.checks = {"ALL", "test_schema"}}), ValueError);
  CHECK_THROWS_AS(opcheck("aten::neg", {x()}, {}, {.checks = {"fakes"}}), ValueError);
  CHECK_THROWS_WITH(opcheck("aten::neg", {x()}, {}, {.checks = {"fakes"}}),
                    "opcheck: no check is called 'fakes'; there are: test_schema, "
                    "test_deterministic, test_strides, test_autograd_registration, "
                    "test_faketensor, test_aot_dispatch_static, test_aot_dispatch_dynamic, "
                    "test_gradients");
}

TEST_CASE("a packet is checked by the overload that takes the arguments") {
  const OpOverloadPacket packet(default_dispatcher(), "aten::add");
  opcheck(packet, {leaf(), x()});
  opcheck_variations(packet, {x(), 2}, {}, {.count = 5});
  CHECK_THROWS_WITH(opcheck(packet, {2}), Contains("aten::add: no overload takes these"));
  ScopedLibrary library(Library::Kind::Def, "opcheck_test");
  library.impl(library.define("wrong(Tensor x, int n) -> Tensor"), DispatchKey::CPU,
               [](const Tensor& x, int64_t) { return x; });
  CHECK_THROWS_WITH(
      opcheck(OpOverloadPacket(default_dispatcher(), "opcheck_test::wrong"), {x(), 2}),
      Contains("opcheck: test_schema: opcheck_test::wrong: result 0"));
}

// y *= w, recorded by hand, as register_autograd() is for operators that write to nothing.
struct Scale : Function<Scale> {
  static Tensor forward(FunctionContext& ctx, const Tensor& y, const Tensor& w) {
    ctx.save_for_backward({clone(y), w});
    mul_(y, w);
    ctx.mark_dirty({y});
    return y;
  }
  static std::vector<Tensor> backward(FunctionContext& ctx, const Tensor& grad) {
    const std::vector<Tensor> saved = ctx.saved_tensors();
    return {mul(grad, saved[1]), mul(grad, saved[0])};
  }
};

TEST_CASE("an operator that writes to what requires a gradient is checked as a program calls it") {
  ScopedLibrary library(Library::Kind::Def, "opcheck_test");
  const OperatorHandle op = library.define("scale_(Tensor(a!) y, Tensor w) -> ()");
  library.impl(op, DispatchKey::CPU, [](const Tensor& y, const Tensor& w) { mul_(y, w); });
  library.impl(op, DispatchKey::Meta, [](const Tensor& y, const Tensor& w) { mul_(y, w); });
  const Arguments both{leaf(), leaf()};
  const auto autograd_of = [&](const Arguments& arguments) {
    return opcheck_results("opcheck_test::scale_", arguments, {},
                           {.checks = {"test_autograd_registration"}})[0]
        .to_string();
  };
  SECTION("a gradient that nothing stands for fails, and nothing else does") {
    CHECK_THAT(autograd_of(both),
               Contains("opcheck_test::scale_: an argument requires a gradient, and there is no "
                        "kernel at an autograd key: register a kernel at Autograd, or the gradient "
                        "of an operator that writes to nothing"));
    CHECK(autograd_of({x(), x()}) ==
          "test_autograd_registration: skipped: no argument requires a gradient");
    opcheck("opcheck_test::scale_", both, {},
            {.checks = {"test_schema", "test_deterministic", "test_faketensor"}});
    // The error of a backward pass through it.
    CHECK_THROWS_WITH(
        opcheck("opcheck_test::scale_", both, {}, {.checks = {"test_aot_dispatch_dynamic"}}),
        Contains("opcheck_test::scale_: no derivative is registered"));
  }
  SECTION("a kernel at Autograd that records passes") {
    library.impl(op, DispatchKey::Autograd,
                 [](const Tensor& y, const Tensor& w) { Scale::apply(y, w); });
    opcheck("opcheck_test::scale_", both);
    opcheck("opcheck_test::scale_", {x(), leaf()});
  }
  SECTION("one that forgets to record is found, although what it writes to has a history") {
    library.impl(op, DispatchKey::Autograd,
                 [op](DispatchKeySet keys, const Tensor& y, const Tensor& w) {
                   const BelowAutogradGuard below;
                   Stack stack{y, w};
                   op.redispatch_boxed(keys - kAutogradFunctionalities, &stack);
                 });
    CHECK_THAT(autograd_of(both), Contains("the kernel at Autograd records nothing"));
    CHECK_THAT(autograd_of({x(), leaf()}), Contains("the kernel at Autograd records nothing"));
  }
  CHECK(is_leaf(both[0].to_tensor()));
  CHECK(values_of(both[0].to_tensor()) == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a composite operator that reads by pointer is found by its gradient") {
  ScopedLibrary library(Library::Kind::Def, "opcheck_test");
  const auto triple = [](const Tensor& x) {
    const Tensor y = empty_like(x);
    for (int64_t i = 0; i < x.numel(); ++i)
      if (x.dtype() == DType::Float64)
        y.data<double>()[i] = 3 * x.data<double>()[i];
      else
        y.data<float>()[i] = 3 * x.data<float>()[i];
    return y;
  };
  const TagSet through = Tag::derived_through;
  library.impl(library.define("implicit(Tensor x) -> Tensor"),
               DispatchKey::CompositeImplicitAutograd, triple);
  library.impl(library.define("explicit(Tensor x) -> Tensor", through),
               DispatchKey::CompositeExplicitAutograd, triple);
  library.impl(library.define("partly(Tensor x) -> Tensor", through),
               DispatchKey::CompositeExplicitAutograd,
               [triple](const Tensor& x) { return add(triple(x), x); });
  const auto failures_of = [](const char* name) {
    std::vector<std::string> failed;
    for (const OpCheckResult& r : opcheck_results(
             name, {leaf()}, {}, {.checks = {"test_autograd_registration", "test_gradients"}}))
      if (r.outcome == Outcome::Failed) failed.push_back(r.check);
    return failed;
  };
  CHECK(failures_of("opcheck_test::implicit") ==
        std::vector<std::string>{"test_autograd_registration", "test_gradients"});
  CHECK(failures_of("opcheck_test::explicit") == std::vector<std::string>{"test_gradients"});
  CHECK(failures_of("opcheck_test::partly") == std::vector<std::string>{"test_gradients"});
  CHECK_THROWS_WITH(
      opcheck("opcheck_test::implicit", {leaf()}, {}, {.checks = {"test_autograd_registration"}}),
      Contains("what reads memory itself is no composite"));
}

TEST_CASE("tensors without data are refused") {
  FakeTensorMode fake;
  CHECK_THROWS_AS(opcheck("aten::neg", {fake.from_tensor(x())}), ValueError);
  CHECK_THROWS_WITH(opcheck("aten::neg", {zeros({2}, Device(DeviceType::Meta))}),
                    "opcheck: aten::neg: argument 0 'self': expected a tensor with data, got "
                    "float32[2] on meta");
  CHECK_THROWS_AS(opcheck_variations("aten::neg", {fake.from_tensor(x())}), ValueError);
}

TEST_CASE("operators that draw random numbers are checked as far as that goes") {
  const std::string text = text_of(opcheck_results(
      "aten::bernoulli", {requiring_grad(tensor_with({2}, DType::Float32, {0.25, 0.75}))}));
  INFO(text);
  CHECK_THAT(text, Contains("test_deterministic: skipped: it is tagged as not deterministic\n"));
  CHECK_THAT(text, Contains("test_faketensor: passed\n"));
  CHECK_THAT(text, !Contains("failed"));
}

TEST_CASE("a shape that depends on data is compared where symbols stand for it") {
  opcheck("aten::nonzero", {x()});
  opcheck("aten::masked_select", {x(), tensor_with({2, 3}, DType::Bool, {1, 0, 1, 1, 0, 0})});
}

TEST_CASE("how near is near can be said") {
  ScopedLibrary library(Library::Kind::Def, "opcheck_test");
  const OperatorHandle op = library.define("f(Tensor x) -> Tensor");
  library.impl(op, DispatchKey::CPU, [](const Tensor& x) {
    return x.is_contiguous() ? mul_Scalar(x, 2) : mul_Scalar(x, 2.001);
  });
  library.impl(op, DispatchKey::Meta, [](const Tensor& x) { return mul_Scalar(x, 2); });
  const Arguments arguments{transpose(x(), 0, 1)};
  CHECK_THROWS_WITH(
      opcheck("opcheck_test::f", arguments),
      "opcheck: test_strides: opcheck_test::f: result 0, element [0, 0] is 2.001, not 2 as "
      "with contiguous arguments; argument 0 'x' has strides [1, 3]");
  opcheck("opcheck_test::f", arguments, {}, {.rtol = 0.01});
  opcheck("opcheck_test::f", arguments, {}, {.atol = 0.1});
}

TEST_CASE("second derivatives are checked where they are asked for") {
  // Right at first; in the second derivative the saved tensor is a constant.
  ScopedLibrary library(Library::Kind::Def, "opcheck_test");
  const OperatorHandle op = library.define("square(Tensor x) -> Tensor");
  library.impl(op, DispatchKey::CPU, [](const Tensor& x) { return mul(x, x); });
  library.impl(op, DispatchKey::Meta, [](const Tensor& x) { return mul(x, x); });
  register_autograd(
      "opcheck_test::square",
      [](FunctionContext& ctx, const Tensor& grad) {
        return std::vector<Tensor>{mul(grad, mul_Scalar(detach(ctx.saved_tensors()[0]), 2))};
      },
      [](FunctionContext& ctx, const CallValues& inputs, const CallValues&) {
        ctx.save_for_backward({inputs.tensor("x")});
      },
      library);
  const Arguments arguments{requiring_grad(tensor_with({1}, DType::Float32, {3}))};
  opcheck("opcheck_test::square", arguments);
  CHECK_THROWS_WITH(
      opcheck("opcheck_test::square", arguments, {}, {.second_derivatives = true}),
      Catch::StartsWith("opcheck: test_gradients: opcheck_test::square: gradgradcheck: "));
}

TEST_CASE("what the checks throw is a failure, and names what was thrown") {
  ScopedLibrary library(Library::Kind::Def, "opcheck_test");
  const OperatorHandle op = library.define("f(Tensor x) -> Tensor");
  library.impl(op, DispatchKey::CPU, [](const Tensor& x) { return mul_Scalar(x, 2); });
  library.impl(op, DispatchKey::Meta,
               [](const Tensor&) -> Tensor { SB_THROW(IndexError, "no such shape"); });
  CHECK_THROWS_WITH(
      opcheck("opcheck_test::f", {x()}),
      "opcheck: test_faketensor: opcheck_test::f: on fake tensors, the call throws IndexError: no "
      "such shape");
}

TEST_CASE("what is thrown may be of any type") {
  ScopedLibrary library(Library::Kind::Def, "opcheck_test");
  const OperatorHandle op = library.define("f(Tensor x, int refuse) -> Tensor");
  library.impl(op, DispatchKey::CPU, [](const Tensor& x, int64_t refuse) {
    if (refuse == 0) throw 3;
    return mul_Scalar(x, 2);
  });
  library.impl(op, DispatchKey::Meta, [](const Tensor&, int64_t) -> Tensor { throw 3; });
  CHECK_THROWS_WITH(
      opcheck("opcheck_test::f", {x(), 1}, {}, {.checks = {"test_schema", "test_faketensor"}}),
      "opcheck: test_faketensor: opcheck_test::f: throws what is no sb::Error, and no "
      "std::exception");
  const auto failed = find_failing_variation("opcheck_test::f", {x(), 1}, {},
                                             {.opcheck = {.checks = {"test_schema"}}});
  REQUIRE(failed);
  CHECK(failed->result.check == "refusal");
}

TEST_CASE("an operator may take objects, with a state or without") {
  constexpr std::string_view kCounter = "__torch__.torch.classes.opcheck_test.Counter";
  struct Counter final : OpaqueObject {
    std::string_view class_name() const override { return kCounter; }
    int calls = 0;
  };
  ScopedLibrary library(Library::Kind::Def, "opcheck_test");
  library.define(str_cat("numbered(Tensor x, ", kCounter, " counter) -> Tensor"));
  library.define(str_cat("count(Tensor x, ", kCounter, " counter) -> Tensor"));
  const auto counter_of = [](const IValue& v) {
    return static_cast<Counter*>(v.to_object().get());
  };
  library.impl("numbered", DispatchKey::CompositeExplicitAutograd,
               [&](const Tensor& x, const IValue& counter) {
                 return add_Scalar(x, counter_of(counter)->calls);
               });
  library.impl("count", DispatchKey::CompositeExplicitAutograd,
               [&](const Tensor& x, const IValue& counter) {
                 return add_Scalar(x, ++counter_of(counter)->calls);
               });
  for (const char* const op : {"opcheck_test::numbered", "opcheck_test::count"})
    register_fake(
        op, [](const Tensor& x, const IValue&) { return empty_like(x); }, library);
  const auto counter = make_intrusive<Counter>();
  const IValue object{IntrusivePtr<OpaqueObject>(counter)};
  const auto check = [&](const char* op) {
    return text_of(opcheck_results(op, {x(), object}, {}, {.checks = {"ALL"}}));
  };
  CHECK(check("opcheck_test::numbered") ==
        "test_schema: passed\n"
        "test_deterministic: passed\n"
        "test_strides: skipped: all tensors are contiguous\n"
        "test_autograd_registration: skipped: no argument requires a gradient\n"
        "test_faketensor: passed\n"
        "test_aot_dispatch_static: passed\n"
        "test_aot_dispatch_dynamic: passed\n"
        "test_gradients: skipped: no argument requires a gradient\n");
  CHECK(counter->calls == 0);
  CHECK_THAT(check("opcheck_test::count"), Contains("test_deterministic: failed"));
}

}  // namespace
}  // namespace sb
