#include "switchboard/fake/fallback_kernel.h"

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/inspect/explain.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

const Device kCuda(DeviceType::CUDA, 0);

// A library of operators that have kernels on the CPU and no shape rule.
struct CpuOnly {
  Library m{Library::Kind::Fragment, "aten"};
  FakeTensorMode fake;
  OperatorHandle define(std::string_view schema) { return m.define(schema); }
  Tensor x(IntArrayRef sizes) { return fake.from_tensor(ones(sizes), kCuda); }
};

TEST_CASE("an operator without a shape rule runs on zeros, and its results are fake") {
  CpuOnly t;
  const OperatorHandle op = t.define("_fallback_test_f(Tensor x) -> (Tensor, int)");
  static double seen;
  t.m.impl("_fallback_test_f", DispatchKey::CPU, [](const Tensor& x) {
    seen = x.data<float>()[0];
    return std::tuple<Tensor, int64_t>(mul(x, x), 5);
  });
  seen = 1;
  const std::vector<IValue> results = op.call({t.x({3, 2})});
  CHECK(seen == 0);
  CHECK(is_fake(results[0].to_tensor()));
  CHECK(results[0].to_tensor().device() == kCuda);
  CHECK(results[0].to_tensor().sizes() == IntArrayRef({3, 2}));
  CHECK(results[1].to_int() == 5);
}

TEST_CASE("a result that is an argument is that argument's fake tensor") {
  CpuOnly t;
  const OperatorHandle op = t.define("_fallback_test_self(Tensor(a!) x) -> Tensor(a!)");
  t.m.impl("_fallback_test_self", DispatchKey::CPU, [](const Tensor& x) { return add_(x, x); });
  const Tensor x = t.x({2});
  CHECK(op.call({x})[0].to_tensor().is_same(x));
}

TEST_CASE("a result on the storage of an argument is refused") {
  CpuOnly t;
  const OperatorHandle op = t.define("_fallback_test_alias(Tensor(a) x) -> Tensor(a)");
  t.m.impl("_fallback_test_alias", DispatchKey::CPU, [](const Tensor& x) { return view(x, {-1}); });
  CHECK_THROWS_WITH(op.call({t.x({2})}), Catch::Contains("_fallback_test_alias") &&
                                             Catch::Contains("shares the storage of an argument"));
}

TEST_CASE("an operator that changes the metadata of an argument is refused") {
  CpuOnly t;
  const OperatorHandle op =
      t.m.define("_fallback_test_meta_(Tensor(a!) x) -> Tensor(a!)", Tag::inplace_view);
  t.m.impl("_fallback_test_meta_", DispatchKey::CPU, [](const Tensor& x) { return squeeze_(x); });
  CHECK_THROWS_AS(op.call({t.x({2, 1})}), UnsupportedOperatorError);
}

TEST_CASE("only operators of PyTorch's namespaces fall back, and the error says what to register") {
  Library m(Library::Kind::Def, "fallback_test");
  const OperatorHandle op = m.define("mine(Tensor x) -> Tensor");
  static int runs = 0;
  m.impl("mine", DispatchKey::CPU, [](const Tensor& x) {
    ++runs;
    return x;
  });
  FakeTensorMode fake;
  CHECK_THROWS_WITH(op.call({fake.from_tensor(zeros({2}))}),
                    Catch::Contains("fallback_test::mine: no shape rule for fake tensors") &&
                        Catch::Contains("register a kernel for it at Meta"));
  CHECK(runs == 0);
}

TEST_CASE("a mode that allows no fallback kernels refuses all") {
  Library m(Library::Kind::Fragment, "aten");
  const OperatorHandle op = m.define("_fallback_test_g(Tensor x) -> Tensor");
  m.impl("_fallback_test_g", DispatchKey::CPU, [](const Tensor& x) { return mul(x, x); });
  FakeTensorMode strict({.allow_fallback_kernels = false});
  CHECK_THROWS_WITH(op.call({strict.from_tensor(zeros({2}))}),
                    Catch::Contains("the mode allows none"));
}

SB_OP(even, "aten::_fallback_test_even(Tensor x, *, Device? device=None) -> Tensor");

TEST_CASE("a shape rule that is not implemented for the arguments leaves them to the fallback") {
  CpuOnly t;
  t.m.define(even);
  static int real_runs;
  real_runs = 0;
  t.m.impl(even, DispatchKey::CPU, [](const Tensor& x, std::optional<Device> device) {
    CHECK((!device || device->is_cpu()));
    ++real_runs;
    return zeros({x.numel() + 1});
  });
  t.m.impl(even, DispatchKey::Meta, [](const Tensor& x, std::optional<Device>) {
    SB_CHECK_NOT_IMPLEMENTED(x.numel() % 2 == 0, "only even numbers");
    return zeros(x.sizes(), {}, {}, Device("meta"));
  });
  CHECK(even(t.x({4})).sizes() == IntArrayRef({4}));
  CHECK(real_runs == 0);
  const Tensor odd = even(t.x({3}));
  CHECK(real_runs == 1);
  CHECK(is_fake(odd));
  CHECK(odd.sizes() == IntArrayRef({4}));
  CHECK(even.handle().call({t.x({5})})[0].to_tensor().sizes() == IntArrayRef({6}));
  CHECK(even(t.x({3}), Device("cuda:1")).device() == Device("cuda:1"));
  FakeTensorMode strict({.allow_fallback_kernels = false});
  CHECK_THROWS_WITH(even(strict.from_tensor(zeros({3}))),
                    Catch::Contains("its shape rule does not serve these arguments (only even "
                                    "numbers), and no fallback: the mode allows none"));
}

SB_OP(by_data, "aten::_fallback_test_by_data(Tensor x) -> Tensor");

TEST_CASE("a shape rule that needs the data is not answered from zeros") {
  CpuOnly t;
  t.m.define(by_data);
  t.m.impl(by_data, DispatchKey::CPU, [](const Tensor& x) { return zeros(x.sizes()); });
  t.m.impl(by_data, DispatchKey::Meta, [](const Tensor& x) -> Tensor {
    if (x.dim() == 1) SB_THROW(DynamicOutputShapeError, "the size depends on the data");
    SB_THROW(DataDependentOutputError, "the result depends on the data");
  });
  CHECK_THROWS_AS(by_data(t.x({4})), DynamicOutputShapeError);
  CHECK_THROWS_AS(by_data(t.x({4, 1})), DataDependentOutputError);
  CHECK_THROWS_AS(by_data.handle().call({t.x({4})}), DynamicOutputShapeError);
}

TEST_CASE("zeros that take more bytes than the mode allows are refused") {
  Library m(Library::Kind::Fragment, "aten");
  const OperatorHandle op = m.define("_fallback_test_big(Tensor x, Tensor y) -> Tensor");
  m.impl("_fallback_test_big", DispatchKey::CPU,
         [](const Tensor& x, const Tensor&) { return mul(x, x); });
  FakeTensorMode fake({.fallback_bytes = 100});
  const Tensor x = fake.from_tensor(zeros({13})), y = fake.from_tensor(zeros({13}));
  CHECK(op.call({x, x})[0].to_tensor().sizes() == IntArrayRef({13}));
  CHECK_THROWS_WITH(op.call({x, y}), Catch::Contains("take 52 bytes") &&
                                         Catch::Contains("the mode allows 100") &&
                                         Catch::Contains("fallback_bytes"));
  FakeTensorMode usual;
  const Tensor huge = expand(usual.from_tensor(zeros({1})), {int64_t{1} << 40});
  CHECK_THROWS_AS(op.call({clone(huge), huge}), UnsupportedOperatorError);
}

TEST_CASE("symbolic sizes cannot be zeros of a size") {
  Library m(Library::Kind::Fragment, "aten");
  const OperatorHandle op = m.define("_fallback_test_h(Tensor x) -> Tensor");
  m.impl("_fallback_test_h", DispatchKey::CPU, [](const Tensor& x) { return mul(x, x); });
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  CHECK_THROWS_WITH(op.call({fake.from_tensor(zeros({5}))}), Catch::Contains("symbolic"));

  const OperatorHandle sized = m.define("_fallback_test_sized(Tensor x, SymInt[] size) -> Tensor");
  const std::vector<SymInt> size = {fake.from_tensor(zeros({5})).sym_size(0)};
  CHECK_THROWS_WITH(sized.call({fake.from_tensor(zeros({1})), IValue(size)}),
                    Catch::Contains("symbolic"));
}

TEST_CASE("an operator that returns nothing and writes nothing needs no rule") {
  Library m(Library::Kind::Def, "fallback_test");
  const OperatorHandle op = m.define("note(Tensor x) -> ()");
  FakeTensorMode fake;
  CHECK(op.call({fake.from_tensor(zeros({2}))}).empty());
}

TEST_CASE("an explanation says whether a fallback kernel may run") {
  const auto last_step = [](const OperatorHandle& op, const Tensor& x) {
    return to_string({explain(op, Stack{x}).path.back()});
  };
  CpuOnly t;
  const OperatorHandle op = t.define("_fallback_test_explained(Tensor x) -> Tensor");
  CHECK_THAT(last_step(op, t.x({2})),
             Catch::Contains("fallback kernel") && Catch::Contains("runs, and decides"));

  const std::string none = "fake mode: no shape rule, and no fallback kernel";
  FakeTensorMode strict({.allow_fallback_kernels = false});
  CHECK_THAT(last_step(op, strict.from_tensor(ones({2}))),
             Catch::Contains(none) && Catch::Contains("fails"));

  Library user(Library::Kind::Def, "fallback_test");
  const OperatorHandle of_user = user.define("f(Tensor x) -> Tensor");
  CHECK_THAT(last_step(of_user, t.x({2})), Catch::Contains(none));
  CHECK_THROWS_WITH(of_user.call({t.x({2})}), Catch::Contains("no shape rule"));
  const OperatorHandle writes = user.define("g(Tensor(a!) x) -> ()");
  CHECK_THAT(last_step(writes, t.x({2})), Catch::Contains("results by its schema"));
  writes.call({t.x({2})});
}

}  // namespace
}  // namespace sb
