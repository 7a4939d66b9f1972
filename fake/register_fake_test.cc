#include "switchboard/fake/register_fake.h"

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/objects/callable.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;

const Device kCuda(DeviceType::CUDA, 0), kMeta(DeviceType::Meta);

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

struct TestOps {
  Library m{Library::Kind::Def, "fake_rule_test"};
  OperatorHandle pairs = m.define("pairs(Tensor x, int n=2) -> Tensor");
  FakeTensorMode fake;

  Tensor call(const Tensor& x) { return pairs.call({x})[0].to_tensor(); }
  Tensor fake_ones() { return fake.from_tensor(ones({3}), kCuda); }
};

Tensor pairs_rule(const Tensor& x, int64_t n) {
  return empty({x.sym_size(0), n}, x.dtype(), std::nullopt, x.device());
}

TEST_CASE("a fake rule runs for fake and for meta tensors, as long as its handle lives") {
  TestOps ops;
  {
    const RegistrationHandle handle = register_fake("fake_rule_test::pairs", pairs_rule);
    CHECK(ops.call(ops.fake_ones()).describe() == "float32[3, 2] on cuda:0");
    CHECK(is_fake(ops.call(ops.fake_ones())));
    CHECK(ops.call(ones({3}, TensorOptions(DType::Float32, kMeta))).describe() ==
          "float32[3, 2] on meta");
  }
  CHECK_THROWS_AS(ops.call(ops.fake_ones()), UnsupportedOperatorError);
}

TEST_CASE("a fake rule goes with the library that it is registered in") {
  TestOps ops;
  {
    Library library(Library::Kind::Impl, "fake_rule_test");
    register_fake(OpOverload(ops.pairs), pairs_rule, library);
    CHECK(ops.call(ops.fake_ones()).dim() == 2);
  }
  CHECK_THROWS_AS(ops.call(ops.fake_ones()), UnsupportedOperatorError);
}

TEST_CASE("a fake rule sees the devices of its arguments, and may give results on another") {
  TestOps ops;
  register_fake(
      "fake_rule_test::pairs",
      [](const Tensor& x, int64_t) {
        CHECK(x.device() == kCuda);
        const Tensor made = empty({2}, DType::Float64, std::nullopt, Device("cpu"));
        CHECK(is_fake(made));
        return made;
      },
      ops.m);
  CHECK(ops.call(ops.fake_ones()).describe() == "float64[2] on cpu");
}

TEST_CASE("a fake rule cannot read elements, nor give a real tensor") {
  TestOps ops;
  const Tensor outside = ones({2});
  bool reads = true;
  register_fake(
      "fake_rule_test::pairs",
      [&](const Tensor& x, int64_t) {
        if (reads) x.data<float>();
        return outside;
      },
      ops.m);
  CHECK_THROWS_AS(ops.call(ops.fake_ones()), RuntimeError);
  reads = false;
  CHECK(error_of([&] { ops.call(ops.fake_ones()); }) ==
        "fake_rule_test::pairs: expected fake tensors from its fake rule, got float32[2] on cpu, "
        "which is not one of the mode");
}

TEST_CASE("a fake rule gives meta tensors for meta tensors") {
  TestOps ops;
  register_fake(
      "fake_rule_test::pairs", [](const Tensor&, int64_t) { return ones({2}); }, ops.m);
  const Tensor meta = empty({2}, DType::Float32, std::nullopt, Device("meta"));
  CHECK(error_of([&] { ops.call(meta); }) ==
        "fake_rule_test::pairs: expected meta tensors from its fake rule for arguments on the meta "
        "device, got float32[2] on cpu, whose elements nobody computed");
}

TEST_CASE("a fake rule leaves the shapes of arguments that the schema does not write to") {
  TestOps ops;
  register_fake(
      "fake_rule_test::pairs",
      [](const Tensor& x, int64_t) {
        unsqueeze_(x, 0);
        return empty_like(x);
      },
      ops.m);
  const Tensor x = ops.fake_ones();
  CHECK_THAT(error_of([&] { ops.call(x); }),
             Contains("fake_rule_test::pairs: the fake rule has changed the shape of an argument, "
                      "0 'x', float32[3]"));
  CHECK(x.sizes() == IntArrayRef({3}));  // as before
  CHECK(x.strides() == IntArrayRef({1}));
  FakeTensorMode with_symbols({.shape_env = ShapeEnv::create()});
  const Tensor symbolic = with_symbols.from_tensor(ones({3, 5}));
  const std::string before = symbolic.describe();
  CHECK_THROWS_AS(ops.call(symbolic), RuntimeError);
  CHECK(symbolic.describe() == before);
}

TEST_CASE("a fake rule may ask what a symbolic size is, and whether two are the same") {
  TestOps ops;
  register_fake(
      "fake_rule_test::pairs",
      [](const Tensor& x, int64_t) {
        CHECK(guard_bool(x.sym_size(0) == x.sym_size(1)));
        CHECK(x.sizes() == IntArrayRef({3, 3}));
        return empty_like(x);
      },
      ops.m);
  FakeTensorMode symbols({.shape_env = ShapeEnv::create({.duck_shape = false})});
  CHECK(ops.call(symbols.from_tensor(ones({3, 3}))).sizes() == IntArrayRef({3, 3}));
}

TEST_CASE("a fake rule that calls its own operator is found out") {
  TestOps ops;
  register_fake(
      "fake_rule_test::pairs", [&](const Tensor& x, int64_t) { return ops.call(x); }, ops.m);
  CHECK_THAT(error_of([&] { ops.call(ops.fake_ones()); }),
             Contains("fake_rule_test::pairs: fake rules call each other 100 deep"));
}

TEST_CASE("the newest fake rule runs, and the one before when it goes, whichever goes first") {
  TestOps ops;
  const auto rule_giving = [](int64_t size) {
    return [size](const Tensor& x, int64_t) {
      return empty({size}, x.dtype(), std::nullopt, x.device());
    };
  };
  const auto size = [&] { return ops.call(ops.fake_ones()).size(0); };
  RegistrationHandle first = register_fake("fake_rule_test::pairs", rule_giving(1));
  RegistrationHandle second = register_fake("fake_rule_test::pairs", rule_giving(2));
  CHECK(size() == 2);
  {
    Library library(Library::Kind::Impl, "fake_rule_test");
    register_fake("fake_rule_test::pairs", rule_giving(3), library);
    CHECK(size() == 3);
    first.destroy();
    CHECK(size() == 3);
  }
  CHECK(size() == 2);
  second.destroy();
  CHECK_THROWS_AS(size(), UnsupportedOperatorError);
}

TEST_CASE("a fake rule goes over a kernel at Meta") {
  TestOps ops;
  ops.m.impl("pairs", DispatchKey::Meta, [](const Tensor& x, int64_t) { return empty_like(x); });
  CHECK(ops.call(ops.fake_ones()).dim() == 1);
  {
    const RegistrationHandle rule = register_fake("fake_rule_test::pairs", pairs_rule);
    CHECK(ops.call(ops.fake_ones()).dim() == 2);
  }
  CHECK(ops.call(ops.fake_ones()).dim() == 1);
}

TEST_CASE("a rule that may not override is refused where a rule or a kernel at Meta is") {
  TestOps ops;
  const auto refused = [&](const char* op, auto rule) {
    return error_of([&] { register_fake(op, rule, ops.m, /*allow_override=*/false); });
  };
  CHECK(refused("fake_rule_test::pairs", pairs_rule) == "no error");
  CHECK_THAT(refused("fake_rule_test::pairs", pairs_rule),
             Contains("register_fake: fake_rule_test::pairs: expected no fake rule and no kernel "
                      "at Meta, got one at fake/register_fake_test.cc"));
  ops.m.define("other(Tensor x) -> Tensor");
  ops.m.impl("other", DispatchKey::Meta, [](const Tensor& x) { return empty_like(x); });
  const auto rule = [](const Tensor& x) { return empty_like(x); };
  CHECK_THAT(refused("fake_rule_test::other", rule), Contains("no kernel at Meta"));
}

TEST_CASE("an operator that is composed of others takes no fake rule, overriding or not") {
  TestOps ops;
  const auto rule = [](const Tensor& x) { return empty_like(x); };
  ops.m.define("composed(Tensor x) -> Tensor");
  ops.m.impl("composed", DispatchKey::CompositeImplicitAutograd,
             [](const Tensor& x) { return add(x, x); });
  for (const bool allow_override : {true, false}) {
    CHECK_THAT(
        error_of([&] { register_fake("fake_rule_test::composed", rule, ops.m, allow_override); }),
        Contains("CompositeImplicitAutograd"));
  }
}

TEST_CASE("an operator whose schema tells its results needs no fake rule") {
  TestOps ops;
  const Tensor x = ops.fake_ones(), y = ops.fake_ones();
  const OperatorHandle writes = ops.m.define("writes(Tensor(a!) x) -> ()");
  CHECK(writes.call({x}).empty());
  const OperatorHandle inplace =
      ops.m.define("fill_(Tensor(a!) x, float v) -> Tensor(a!)", Tag::inplace);
  CHECK(inplace.call({x, 1.0})[0].to_tensor().is_same(x));
  const OperatorHandle out = ops.m.define(
      "two(Tensor x, *, Tensor(a!) p, Tensor(b!) q) -> (Tensor(a!), Tensor(b!))", Tag::out);
  const Arguments results = OpOverload(out).call({x}, {{"p", x}, {"q", y}});
  CHECK(results[0].to_tensor().is_same(x));
  CHECK(results[1].to_tensor().is_same(y));
  const OperatorHandle untagged = ops.m.define("add_(Tensor(a!) x) -> Tensor(a!)");
  CHECK_THROWS_AS(untagged.call({x}), UnsupportedOperatorError);
}

TEST_CASE("a refused rule leaves nothing behind") {
  TestOps ops;
  CHECK_THROWS_AS(register_fake(
                      "fake_rule_test::pairs", [](double) { return 1.0; }, ops.m),
                  RuntimeError);
  CHECK_NOTHROW(register_fake("fake_rule_test::pairs", pairs_rule, ops.m, false));
  CHECK(ops.call(ops.fake_ones()).dim() == 2);
}

TEST_CASE("the context makes sizes that only the data tells") {
  TestOps ops;
  register_fake(
      "fake_rule_test::pairs",
      [](const Tensor& x, int64_t n) {
        const SymInt rows = fake_context().new_dynamic_size(1, 7);
        return empty({rows, n}, x.dtype(), std::nullopt, x.device());
      },
      ops.m);
  const auto env = ShapeEnv::create();
  FakeTensorOptions options;
  options.shape_env = env;
  FakeTensorMode mode(options);
  const Tensor y = ops.call(mode.from_tensor(ones({3}), kCuda));
  CHECK(y.sym_size(0).to_string() == "u0");
  CHECK(to_string(env->symbol("u0")->range) == "[1, 7]");
  CHECK(y.sym_size(1) == 2);

  CHECK_THROWS_AS(ops.call(ops.fake_ones()), DynamicOutputShapeError);
  CHECK_THAT(error_of([&] { ops.call(ops.fake_ones()); }),
             Contains("fake_rule_test::pairs: new_dynamic_size: the result's shape depends on"));
}

TEST_CASE("a size has bounds that make sense") {
  TestOps ops;
  int64_t min = -1, max = 3;
  register_fake(
      "fake_rule_test::pairs",
      [&](const Tensor&, int64_t) { return empty({fake_context().new_dynamic_size(min, max)}); },
      ops.m);
  FakeTensorOptions options;
  options.shape_env = ShapeEnv::create();
  FakeTensorMode mode(options);
  const Tensor x = mode.from_tensor(ones({3}));
  CHECK_THAT(error_of([&] { ops.call(x); }), Contains("got -1 to 3"));
  min = 4;
  CHECK_THAT(error_of([&] { ops.call(x); }), Contains("got 4 to 3"));
  max = 4;
  CHECK(error_of([&] { ops.call(x); }) == "no error");
}

TEST_CASE("there is a context only while a fake rule runs for fake tensors") {
  CHECK_THROWS_WITH(fake_context(), Contains("expected to be called by a fake rule"));
  TestOps ops;
  register_fake(
      "fake_rule_test::pairs",
      [](const Tensor&, int64_t) { return empty({fake_context().new_dynamic_size()}); }, ops.m);
  CHECK_THROWS_AS(ops.call(ops.fake_ones()), DynamicOutputShapeError);
  CHECK_THROWS_AS(fake_context(), RuntimeError);  // not left behind
  CHECK_THAT(error_of([&] { ops.call(ones({3}, TensorOptions(DType::Float32, kMeta))); }),
             Contains("for tensors on the meta device there is no context"));
}

TEST_CASE("a higher-order operator may have a fake rule, which calls functions on fake tensors") {
  const IntrusivePtr<ShapeEnv> env = ShapeEnv::create();
  FakeTensorMode mode({.shape_env = env});
  HigherOrderOperator op("fake_rule_test_some_of");  // some rows of what a function gives
  op.fallthrough(DispatchKey::AutogradCUDA);
  const IValue twice = Callable::make([](std::vector<IValue> in) {
    return std::vector<IValue>{add(in[0].to_tensor(), in[0].to_tensor())};
  });
  const Tensor x = mode.from_tensor(ones({3, 2}), {.device = kCuda, .static_shapes = true});
  CHECK_THROWS_WITH(op({twice, x}), Contains("fake_rule_test_some_of"));
  {
    const RegistrationHandle handle = register_fake(op, [](const std::vector<IValue>& arguments) {
      const Tensor all = (*Callable::from(arguments[0]))({arguments[1]})[0].to_tensor();
      const SymInt rows = fake_context().new_dynamic_size();
      return std::vector<IValue>{empty({rows, all.sym_size(1)}, all.dtype(), {}, all.device())};
    });
    CHECK(op({twice, x})[0].to_tensor().describe() == "float32[u0, 2] on cuda:0");
    CHECK_THROWS_WITH(
        register_fake(op, [](const std::vector<IValue>& arguments) { return arguments; }),
        Contains("fake_rule_test_some_of"));
  }
  const RegistrationHandle real = register_fake(op, [](const std::vector<IValue>&) {
    const NoModesGuard no_modes;
    return std::vector<IValue>{ones({2})};
  });
  CHECK_THROWS_WITH(op({twice, x}),
                    "higher_order::fake_rule_test_some_of: expected fake tensors from its fake "
                    "rule, got float32[2] on cpu, which is not one of the mode");
  CHECK_THROWS_AS(register_fake(op, nullptr), ValueError);
}

TEST_CASE("an operator that waits for its rule says so, and a rule goes over that") {
  TestOps ops;
  ops.m.impl("pairs", DispatchKey::CompositeExplicitAutograd, pairs_rule);
  internal::expect_fake_rule(ops.pairs.name(), ops.m, SourceLocation::current());
  CHECK(error_of([&] { ops.call(ops.fake_ones()); }) ==
        "fake_rule_test::pairs: no fake rule, and the operator's kernels do not run on tensors "
        "without data; register_fake() one: fake_rule_test::pairs(Tensor x, int n=2) -> Tensor");
  {
    const RegistrationHandle handle = register_fake("fake_rule_test::pairs", pairs_rule, false);
    CHECK(ops.call(ops.fake_ones()).dim() == 2);
    CHECK_THROWS_AS(register_fake("fake_rule_test::pairs", pairs_rule, false), RuntimeError);
  }
  CHECK_THROWS_AS(ops.call(ops.fake_ones()), UnsupportedOperatorError);
}

TEST_CASE("the error of a higher-order operator without a fake rule names register_fake") {
  HigherOrderOperator op("fake_rule_test_without");
  FakeTensorMode fake;
  const BelowAutogradGuard below;  // where modes are asked
  CHECK_THAT(error_of([&] { op({fake.from_tensor(ones({2}))}); }),
             Contains("higher_order::fake_rule_test_without: no rule for the mode ") &&
                 Contains("; register one with register_fake()"));
}

}  // namespace
}  // namespace sb
