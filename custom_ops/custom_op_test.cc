#include "switchboard/custom_ops/custom_op.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/print/warning.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;
using Floats = std::vector<float>;

const Device kCuda(DeviceType::CUDA, 0);

Tensor leaf() {
  Tensor t = ones({2});
  set_requires_grad(t);
  return t;
}
Tensor times(const Tensor& x, double factor) { return mul_Scalar(x, factor); }
Floats values(const Tensor& t) {
  const Tensor dense = contiguous(reshape(t, {-1}));
  return {dense.data<float>(), dense.data<float>() + dense.numel()};
}

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Twice x, element by element: no operator is called.
Tensor twice_cpu(const Tensor& x) {
  const Tensor dense = contiguous(x);
  const Tensor y = empty_like(dense);
  const float* const from = dense.data<float>();
  std::transform(from, from + dense.numel(), y.data<float>(), [](float v) { return 2 * v; });
  return y;
}
Tensor fake_twice(const Tensor& x) { return empty_like(x); }
Tensor twice_backward(FunctionContext&, const Tensor& grad) { return times(grad, 2); }

bool exists(const char* op) { return default_dispatcher().find_op(op).has_value(); }

TEST_CASE("one object has the schema, the kernels, the fake rule and the gradient") {
  {
    const CustomOp twice = custom_op("custom_test::twice", twice_cpu)
                               .register_kernel("cuda", [](const Tensor& x) { return clone(x); })
                               .register_fake(fake_twice)
                               .register_autograd(twice_backward);
    CHECK(twice.qualified_name() == "custom_test::twice");
    CHECK(twice.schema().to_string() == "custom_test::twice(Tensor _0) -> Tensor");
    const Tensor x = leaf();
    const Tensor y = twice(x);
    CHECK(values(y) == Floats{2, 2});
    backward(sum(y));
    CHECK(values(grad_of(x)) == Floats{2, 2});
    FakeTensorMode fake;
    CHECK(twice(fake.from_tensor(ones({3}), kCuda)).describe() == "float32[3] on cuda:0");
    CHECK(twice.op().has_kernel_for_dispatch_key(DispatchKey::CUDA));
  }
  CHECK_FALSE(exists("custom_test::twice"));
  CHECK(custom_op("custom_test::twice", twice_cpu).op().name() == "custom_test::twice");  // again
}

TEST_CASE("everything goes with the object, after it was moved too, and stays if it is kept") {
  {
    CustomOp a = custom_op("custom_test::moved", twice_cpu);
    CustomOp b = std::move(a);
    CHECK(values(b(ones({1}))) == Floats{2});
    CHECK_THAT(error_of([&] { a.register_fake(fake_twice); }), Contains("was moved from"));
    b = custom_op("custom_test::other", twice_cpu);
    CHECK_FALSE(exists("custom_test::moved"));
    CHECK(exists("custom_test::other"));
  }
  CHECK_FALSE(exists("custom_test::other"));
  const OpOverload kept =
      custom_op("custom_test::kept", twice_cpu).register_autograd(twice_backward).keep();
  CHECK(exists("custom_test::kept"));
  CHECK(values(kept(ones({1}))[0].to_tensor()) == Floats{2});
}

TEST_CASE("free functions take the object, and what they register goes with it") {
  const Tensor x = leaf();
  {
    CustomOp op("custom_test::free", "(Tensor x) -> Tensor");
    register_kernel(op, "cpu", twice_cpu);
    register_fake(op, fake_twice);
    register_autograd(op, twice_backward);
    impl(op, DispatchKey::AutocastCPU, fallthrough);
    backward(sum(op(x)));
    CHECK(values(grad_of(x)) == Floats{2, 2});
    CHECK(op.op().kernel_for_dispatch_key_is_fallthrough(DispatchKey::AutocastCPU));
  }
  // Nothing was left that a new one would meet.
  CustomOp op("custom_test::free", "(Tensor x) -> Tensor");
  CHECK_THROWS_AS(op(x), NotImplementedError);
  register_kernel(op, "cpu", twice_cpu);
  register_fake(op, fake_twice);
  register_autograd(op, twice_backward);
}

TEST_CASE("rules and gradients by name find the operator of an object") {
  const CustomOp op = custom_op("custom_test::named", twice_cpu);
  const RegistrationHandle rule = register_fake("custom_test::named", fake_twice);
  const RegistrationHandle gradient = register_autograd("custom_test::named", twice_backward);
  FakeTensorMode fake;
  CHECK(op(fake.from_tensor(ones({3}))).dim() == 1);
  CHECK(requires_grad(op(leaf())));
}

TEST_CASE("arguments have names, and schemas may be given") {
  const CustomOp named =
      custom_op("custom_test::scale", [](const Tensor& x, double f) { return times(x, f); },
                {.arguments = {"x", "factor"}});
  CHECK(named.schema().to_string() == "custom_test::scale(Tensor x, float factor) -> Tensor");
  CHECK(values(named(ones({1}), 3.0)) == Floats{3});
  const CustomOp given =
      custom_op("custom_test::scale.defaults", "(Tensor x, float factor=4) -> Tensor",
                [](const Tensor& x, double f) { return times(x, f); });
  CHECK(values(given(ones({1}))) == Floats{4});
}

TEST_CASE("results are of any number and type") {
  const CustomOp op = custom_op("custom_test::several", [](const Tensor& x) {
    return std::tuple<Tensor, int64_t>(clone(x), 5);
  });
  CHECK(std::get<1>(op.call<std::tuple<Tensor, int64_t>>(ones({1}))) == 5);
  CHECK(error_of([&] { op(ones({1})); }) ==
        "custom_test::several: the call was to give 1 results, and gives 2: "
        "custom_test::several(Tensor _0) -> (Tensor, int)");
}

TEST_CASE("what is written to counts as written to, and must not be derived") {
  CustomOp fill =
      custom_op("custom_test::fill", [](const Tensor& x, double v) { *x.data<float>() = float(v); },
                {.arguments = {"x", "value"}, .mutates_args = {"x"}});
  CHECK(fill.schema().to_string() == "custom_test::fill(Tensor(a0!) x, float value) -> ()");
  const Tensor x = ones({1});
  const uint32_t version = x.version();
  fill.call<void>(x, 7.0);
  CHECK(values(x) == Floats{7});
  CHECK(x.version() == version + 1);
  CHECK_THAT(error_of([&] { fill.register_autograd(twice_backward); }),
             Contains("writes to no argument") &&
                 Contains("custom_test::fill(Tensor(a0!) x, float value) -> ()"));
  FakeTensorMode fake;
  CHECK_NOTHROW(fill.call<void>(fake.from_tensor(x), 7.0));  // needs no rule
}

TEST_CASE("an operator that may write to anything counts as writing to every tensor") {
  const CustomOp op = custom_op("custom_test::any", [](const Tensor&, int64_t, const Tensor&) {},
                                {.mutates_unknown = true});
  CHECK(op.schema().to_string() ==
        "custom_test::any(Tensor(a0!) _0, int _1, Tensor(a1!) _2) -> ()");
  CHECK_THAT(error_of([] {
               custom_op("custom_test::both", twice_cpu,
                         {.mutates_args = {"_0"}, .mutates_unknown = true});
             }),
             Contains("custom_test::both: expected either mutates_args or mutates_unknown"));
}

TEST_CASE("options that do not fit a schema are refused, and nothing stays defined") {
  const auto make = [](const CustomOpOptions& options) {
    return error_of([&] {
      custom_op(
          "custom_test::bad", "(Tensor(a!) x, Tensor y) -> ()", [](const Tensor&, const Tensor&) {},
          options);
    });
  };
  CHECK(make({}) == "no error");
  CHECK(make({.mutates_args = {"x"}}) == "no error");
  CHECK(make({.mutates_args = {"x", "y"}}) ==
        "custom_test::bad: mutates_args: expected what the schema says, [x], got [x, y]: "
        "custom_test::bad(Tensor(a!) x, Tensor y) -> ()");
  CHECK_THAT(make({.mutates_unknown = true}), Contains("mutates_unknown was given beside"));
  CHECK_THAT(make({.arguments = {"x", "y"}}), Contains("names of arguments were given beside"));
  CHECK_FALSE(exists("custom_test::bad"));
  CHECK_THROWS_AS(custom_op("no_namespace", twice_cpu), ValueError);
  CHECK_THROWS_AS(custom_op("custom_test::bad", "bad(Tensor x) -> Tensor", twice_cpu), ValueError);
  CHECK_THROWS_AS(custom_op("custom_test::bad", "(int x) -> Tensor", twice_cpu), RuntimeError);
  CHECK_THROWS_WITH(
      custom_op("custom_test::bad", [](const OperatorHandle&, DispatchKeySet, Stack*) {}),
      "custom_test::bad: a boxed kernel does not tell its arguments; give the schema");
  CHECK_FALSE(exists("custom_test::bad"));
}

TEST_CASE("an operator is defined once") {
  const CustomOp op = custom_op("custom_test::once", twice_cpu);
  CHECK_THAT(error_of([] { custom_op("custom_test::once", twice_cpu); }),
             Contains("custom_op_test.cc"));
  CHECK(values(op(ones({1}))) == Floats{2});
}

TEST_CASE("a chain that fails undoes all of it") {
  CHECK_THROWS_AS(
      custom_op("custom_test::chain", twice_cpu)
          .register_fake(fake_twice)
          .register_autograd([](FunctionContext&, const Tensor& g, const Tensor&) { return g; }),
      RuntimeError);
  CHECK_FALSE(exists("custom_test::chain"));
}

TEST_CASE("the function may be for some devices only") {
  const CustomOp op = custom_op("custom_test::only_cuda", twice_cpu, {.device_types = "cuda"});
  CHECK_THROWS_AS(op(ones({1})), NotImplementedError);
}

TEST_CASE("a kernel is for some devices, or for all that have none") {
  CustomOp op("custom_test::devices", "(Tensor x) -> Tensor");
  register_kernel(op, twice_cpu);
  op.register_kernel({"cuda", "xpu"}, twice_cpu);
  CHECK(values(op(ones({1}))) == Floats{2});
  CHECK(op.op().has_kernel_for_dispatch_key(DispatchKey::CompositeExplicitAutograd));
  CHECK(op.op().has_kernel_for_dispatch_key(DispatchKey::XPU));
}

TEST_CASE("what is registered again for an object replaces what was there") {
  CustomOp op = custom_op("custom_test::again", twice_cpu);
  const auto giving = [](double factor) {
    return [factor](const Tensor& x) { return times(x, factor); };
  };
  op.register_kernel("cpu", giving(3)).register_kernel("cpu", giving(4));
  const Tensor x = leaf();
  CHECK(values(op(x)) == Floats{4, 4});
  const auto gradient = [](double factor) {
    return [factor](FunctionContext&, const Tensor& grad) { return times(grad, factor); };
  };
  op.register_autograd(gradient(5)).register_autograd(gradient(6));
  backward(sum(op(x)));
  CHECK(values(grad_of(x)) == Floats{6, 6});
  op.register_fake(fake_twice).register_fake([](const Tensor& t) {
    return empty({7}, t.dtype(), std::nullopt, t.device());
  });
  FakeTensorMode fake;
  CHECK(op(fake.from_tensor(ones({2}))).describe() == "float32[7] on cpu");
}

TEST_CASE("a kernel may be disabled for a scope, in which the operator's function runs") {
  CustomOp op = custom_op("custom_test::switched", twice_cpu);
  const Tensor x = ones({1});
  const auto giving = [](double factor) {
    return [factor](const Tensor& t) { return times(t, factor); };
  };
  const auto value = [&] { return values(op(x)).front(); };
  op.register_kernel("cpu", giving(5));
  CHECK(value() == 5);
  {
    const RegistrationHandle off = op.set_kernel_enabled("cpu", false);
    CHECK(value() == 2);
    op.register_kernel("cpu", giving(6));  // stays disabled
    CHECK(value() == 2);
    {
      const RegistrationHandle on = op.set_kernel_enabled("cpu");
      CHECK(value() == 6);
    }
    CHECK(value() == 2);
  }
  CHECK(value() == 6);
}

TEST_CASE("a kernel that is registered by an operator's name is its object's") {
  const Tensor x = ones({1});
  CustomOp op = custom_op("custom_test::by_name", twice_cpu);
  register_kernel("custom_test::by_name", "cpu", [](const Tensor& t) { return t; });
  CHECK_THAT(error_of([&] { op(x); }), Contains("result 0 shares memory with argument '_0'"));
  register_kernel("custom_test::by_name", "cpu", [](const Tensor& t) { return times(t, 5); });
  CHECK(values(op(x)).front() == 5);
  {
    const RegistrationHandle off = op.set_kernel_enabled("cpu", false);
    CHECK(values(op(x)).front() == 2);
  }
  CHECK(values(op(x)).front() == 5);
  CHECK_THAT(error_of([&] { register_kernel("custom_test::by_name", "cpu", [](int64_t) {}); }),
             Contains("custom_test::by_name"));
  Library lib(Library::Kind::Fragment, "custom_test");
  CHECK_THAT(error_of([&] { register_kernel("custom_test::by_name", "cpu", twice_cpu, &lib); }),
             Contains("give no Library, or use impl()"));
}

TEST_CASE("a kernel by name of an operator without tensors runs for the device that is given") {
  const auto giving = [](double value) {
    return [value](int64_t n, Device) { return full({n}, value); };
  };
  const OpOverload op =
      custom_op("custom_test::made", "(int n, *, Device device) -> Tensor", giving(1)).keep();
  const auto value = [&] {
    return values(op.call({1}, {{"device", Device("cpu")}})[0].to_tensor()).front();
  };
  CHECK(value() == 1);
  register_kernel(op, "cpu", giving(7));  // also once the object has left it
  CHECK(value() == 7);
}

TEST_CASE("a fake rule for an operator that has one by its tag runs, and warns") {
  std::vector<std::string> warnings;
  const WarningHandler before =
      set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  const auto make = [](const char* name, TagSet tags) {
    return custom_op(name, [](const Tensor& x) { return x; },
                     {.arguments = {"x"}, .mutates_args = {"x"}, .tags = tags});
  };
  const auto rule = [](const Tensor& x) { return x; };
  CustomOp writes = make("custom_test::needs_no_rule_", Tag::inplace);
  CHECK(warnings.empty());
  bool ran = false;
  writes.register_fake([&](const Tensor& x) {
    ran = true;
    return x;
  });
  CHECK(warnings == std::vector<std::string>{
                        "custom_test::needs_no_rule_: register_fake: an operator that is tagged "
                        "inplace needs no fake rule; this one runs in place of the one that it "
                        "has"});
  FakeTensorMode fake;
  writes(fake.from_tensor(ones({1})));
  CHECK(ran);
  make("custom_test::out_needs_none", Tag::out).register_fake(rule);
  CHECK(warnings.size() == 2);
  CustomOp plain = custom_op("custom_test::needs_one", twice_cpu);
  plain.register_fake(rule);
  CHECK(warnings.size() == 2);
  set_warning_handler(before);
}

TEST_CASE("disabling a kernel that is not there, or twice, warns") {
  std::vector<std::string> warnings;
  const WarningHandler before =
      set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  CustomOp op = custom_op("custom_test::warns", twice_cpu);
  {
    const RegistrationHandle none = op.set_kernel_enabled("cuda", false);
    CHECK(warnings.back() == "custom_test::warns: set_kernel_enabled: CUDA has no kernel");
    op.register_kernel("cuda", twice_cpu);
    const RegistrationHandle same = op.set_kernel_enabled("cuda", false);
    CHECK(warnings.back() == "custom_test::warns: set_kernel_enabled: CUDA is disabled already");
  }
  CHECK(warnings.size() == 2);
  set_warning_handler(before);
  CustomOp without("custom_test::without", "(Tensor x) -> Tensor");
  CHECK_THAT(error_of([&] { without.set_kernel_enabled("cpu", false).destroy(); }),
             Contains("custom_test::without: set_kernel_enabled: the operator was made without"));
}

TEST_CASE("an operator without tensors takes the device from its argument") {
  const auto on_cpu = [](int64_t n, Device) { return ones({n}); };
  CustomOp op = custom_op("custom_test::make", "(int n, Device device) -> Tensor", on_cpu,
                          {.device_types = "cpu"});
  CHECK(values(op(2, Device("cpu"))) == Floats{1, 1});
  CHECK(error_of([&] { op(2, kCuda); }) ==
        "custom_test::make: no kernel for the device of its argument 'device', cuda:0; "
        "register_kernel() one");
  op.register_kernel("cuda", [](int64_t n, Device) { return zeros({n}); });
  CHECK(values(op(1, kCuda)) == Floats{0});
  CHECK_THAT(error_of([] {
               custom_op("custom_test::nowhere", "(int n) -> Tensor",
                         [](int64_t n) { return ones({n}); }, {.device_types = "cpu"});
             }),
             Contains("custom_test::nowhere: a kernel for some devices of an operator without "
                      "tensor arguments: expected an argument 'Device device'"));
  CHECK_FALSE(exists("custom_test::nowhere"));
}

TEST_CASE("every operator of an object is tagged as one that compilers may take") {
  const CustomOp op = custom_op("custom_test::tagged", twice_cpu, {.tags = Tag::pointwise});
  CHECK(op.op().has_tag(Tag::pt2_compliant_tag));
  CHECK(op.op().has_tag(Tag::pointwise));
}

TEST_CASE("a view of one tensor may have a gradient of its own") {
  CustomOp op = custom_op("custom_test::view", "(Tensor(a) x) -> Tensor(a)",
                          [](const Tensor& x) { return view(x, {-1}); });
  op.register_autograd([](FunctionContext&, const Tensor& grad) {
    return times(view(grad, {2, 1}), 3);
  });
  Tensor x = ones({2, 1});
  set_requires_grad(x);
  const Tensor y = op(x);
  CHECK(y.is_alias_of(x));
  CHECK(base_of(y).is_same(x));
  backward(sum(y));
  CHECK(values(grad_of(x)) == Floats{3, 3});
}

TEST_CASE("an operator may have a rule for a type of mode") {
  struct Watcher final : DispatchMode {
    void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
      op.call_boxed(stack);
    }
    std::string name() const override { return "Watcher"; }
    int seen = 0;
  };
  const CustomOp op =
      custom_op("custom_test::watched", twice_cpu)
          .register_torch_dispatch<Watcher>([](Watcher& mode, DispatchKeySet, Stack* stack) {
            ++mode.seen;
            stack->back() = IValue(zeros({1}));
          });
  Watcher mode;
  {
    const ModeGuard active(&mode);
    CHECK(values(op(ones({1}))) == Floats{0});
  }
  CHECK(mode.seen == 1);
  CHECK(values(op(ones({1}))) == Floats{2});
}

TEST_CASE("without a fake rule or a gradient, an error says what to register") {
  const CustomOp op = custom_op("custom_test::bare", twice_cpu, {.arguments = {"x"}});
  FakeTensorMode fake;
  CHECK(error_of([&] { op(fake.from_tensor(ones({1}))); }) ==
        "custom_test::bare: no fake rule, and the operator's kernels do not run on tensors without "
        "data; register_fake() one: custom_test::bare(Tensor x) -> Tensor");
  CHECK_THROWS_AS(op(ones({1}, TensorOptions(DType::Float32, Device("meta")))),
                  UnsupportedOperatorError);
  const Tensor y = op(leaf());
  CHECK(requires_grad(y));
  CHECK_THAT(error_of([&] { backward(sum(y)); }),
             Contains("custom_test::bare: no derivative is registered"));
}

TEST_CASE("a kernel for all ways of calling, derived through what it calls, is allowed") {
  CustomOp op("custom_test::implicit", "(Tensor x) -> Tensor");
  op.impl(DispatchKey::CompositeImplicitAutograd, [](const Tensor& x) { return mul(x, x); });
  const Tensor x = leaf();
  backward(sum(op(x)));
  CHECK(values(grad_of(x)) == Floats{2, 2});
  FakeTensorMode fake;
  CHECK(op(fake.from_tensor(ones({3}), kCuda)).describe() == "float32[3] on cuda:0");
}

}  // namespace
}  // namespace sb
