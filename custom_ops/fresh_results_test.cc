// What custom operators promise of their results.

#include "switchboard/custom_ops/fresh_results.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("one that is tagged inplace returns its first argument itself") {
  bool right = true;
  const CustomOp op =
      custom_op("custom_test::fill_",
                [&](const Tensor& x, double v) {
                  *x.data<float>() = static_cast<float>(v);
                  return right ? x : view(x, {-1});
                },
                {.arguments = {"x", "value"}, .mutates_args = {"x"}, .tags = Tag::inplace});
  CHECK(op.schema().to_string() == "custom_test::fill_(Tensor(a0!) x, float value) -> Tensor(a0!)");
  const Tensor x = ones({1});
  const uint32_t version = x.version();
  CHECK(op(x, 3.0).is_same(x));
  CHECK(*x.data<float>() == 3);
  CHECK(x.version() == version + 1);
  right = false;
  CHECK(error_of([&] { op(x, 3.0); }) ==
        "custom_test::fill_: result 0 is not argument 'x'; expected the very tensors that are "
        "written to from an operator that is tagged inplace: "
        "custom_test::fill_(Tensor(a0!) x, float value) -> Tensor(a0!)");
  FakeTensorMode fake;
  const Tensor y = fake.from_tensor(ones({1}));
  CHECK(op(y, 3.0).is_same(y));  // needs no rule
}

TEST_CASE("one that is tagged out returns what it writes to, and has no gradient") {
  bool right = true;
  CustomOp op =
      custom_op("custom_test::split_sign",
                [&](const Tensor& x, const Tensor& p, const Tensor& q) {
                  *p.data<float>() = *x.data<float>();
                  *q.data<float>() = -*x.data<float>();
                  return right ? std::tuple(p, q) : std::tuple(q, p);
                },
                {.arguments = {"x", "p", "q"}, .mutates_args = {"p", "q"}, .tags = Tag::out});
  CHECK(op.schema().to_string() ==
        "custom_test::split_sign(Tensor x, *, Tensor(a0!) p, Tensor(a1!) q) -> "
        "(Tensor(a0!), Tensor(a1!))");
  const Tensor p = ones({1}), q = ones({1});
  const auto call = [&](const Tensor& x) { return op.op().call({x}, {{"p", p}, {"q", q}}); };
  CHECK(call(ones({1}))[1].to_tensor().is_same(q));
  CHECK(*q.data<float>() == -1);
  right = false;
  CHECK_THAT(error_of([&] { call(ones({1})); }), Contains("result 0 is not argument 'p'"));
  Tensor needs = ones({1});
  set_requires_grad(needs);
  CHECK_THAT(error_of([&] { call(needs); }),
             Contains("an out= form records nothing, and an argument requires a gradient"));
  CHECK_THAT(error_of([&] {
               op.register_autograd([](FunctionContext&, const Tensor& grad) { return grad; });
             }),
             Contains("register_autograd: custom_test::split_sign: an out= form has no gradient"));
  FakeTensorMode fake;
  const Tensor f = fake.from_tensor(ones({1})), g = fake.from_tensor(ones({1}));
  CHECK(op.op().call({f}, {{"p", f}, {"q", g}})[1].to_tensor().is_same(g));
}

TEST_CASE("tags of boxed kernels are held to as well") {
  CustomOp op("custom_test::boxed_", "(Tensor(a!) x) -> Tensor(a!)", {.tags = Tag::inplace});
  op.register_kernel([](const OperatorHandle&, DispatchKeySet, Stack* stack) {
    stack->back() = IValue(clone(stack->back().to_tensor()));
  });
  CHECK_THAT(error_of([&] { op(ones({1})); }), Contains("result 0 is not argument 'x'"));
}

TEST_CASE("results are new tensors") {
  const CustomOp same =
      custom_op("custom_test::same", [](const Tensor& x) { return x; }, {.arguments = {"x"}});
  CHECK(error_of([&] { same(ones({2})); }) ==
        "custom_test::same: result 0 shares memory with argument 'x'; expected new tensors from a "
        "custom operator whose schema says nothing else: custom_test::same(Tensor x) -> Tensor");
  const CustomOp in_list = custom_op("custom_test::in_list", [](int64_t, TensorList xs) {
    return std::vector<Tensor>{clone(xs[0]), select(xs[1], 0, 0)};
  });
  CHECK_THAT(error_of([&] {
               in_list(1, std::vector<Tensor>{ones({2}), ones({2})});
             }),
             Contains("result 0 shares memory with argument '_1'"));
  const CustomOp twins = custom_op("custom_test::twins", [](const Tensor& x) {
    const Tensor y = clone(x);
    return std::tuple<Tensor, Tensor>(y, view(y, {-1}));
  });
  CHECK_THAT(error_of([&] { twins.call<std::tuple<Tensor, Tensor>>(ones({2})); }),
             Contains("result 1 shares memory with result 0"));
  CustomOp rule = custom_op("custom_test::rule", [](const Tensor& x) {
                    return clone(x);
                  }).register_fake([](const Tensor& x) { return view(x, {-1}); });
  FakeTensorMode fake;
  CHECK_THAT(error_of([&] { rule(fake.from_tensor(ones({2}))); }),
             Contains("result 0 shares memory with argument '_0'"));
}

TEST_CASE("a schema may say that results share memory") {
  const CustomOp op = custom_op("custom_test::flat", "(Tensor(a) x) -> Tensor(a)",
                                [](const Tensor& x) { return view(x, {-1}); });
  const Tensor x = ones({2, 2});
  CHECK(op(x).is_alias_of(x));
  CHECK(base_of(op(x)).is_same(x));
}

}  // namespace
}  // namespace sb
