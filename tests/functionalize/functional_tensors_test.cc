// What cannot be functionalised is refused by name; what is half done is undone; and what a custom
// operator does is functionalised too.

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/functionalize/programs.h"
#include "switchboard/transforms/functionalization/functional_form.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

using Catch::Matchers::Message;

const Device kCpu(DeviceType::CPU);

Tensors run(Route route, const TensorFunction& f, const Tensors& inputs) {
  return functionalized(route, f)(inputs);
}

TEST_CASE("a functional tensor has its value's metadata, no data, and one storage with its views") {
  const Tensor x = counting({2, 3}, kCpu);
  const Tensor f = to_functional_tensor(x);
  CHECK(is_functional_tensor(f));
  CHECK_FALSE(is_functional_tensor(x));
  CHECK(f.sizes() == x.sizes());
  CHECK(f.strides() == x.strides());
  CHECK(f.key_set().has(DispatchKey::Functionalize));
  CHECK_FALSE(f.key_set().has(DispatchKey::CPU));
  CHECK(f.storage()->nbytes() == x.storage()->nbytes());
  CHECK_THROWS_AS(f.data_ptr(), RuntimeError);
  const Tensor row = select(f, 0, 1);
  CHECK(is_functional_tensor(row));
  CHECK(row.is_alias_of(f));
  CHECK(row.storage_offset() == 3);
  CHECK_FALSE((f + 1).is_alias_of(f));
  CHECK(from_functional_tensor(f).is_same(x));
}

TEST_CASE(
    "a write to a functional tensor reaches its views and its base, and not its first value") {
  const Tensor x = counting({2, 2}, kCpu);
  const Tensor f = to_functional_tensor(x);
  const Tensor row = select(f, 0, 0);
  const Tensor column = select(f, 1, 1);
  CHECK_FALSE(was_mutated(f));
  CHECK(add_Scalar_(row, 10).is_same(row));
  CHECK(was_mutated(f));
  CHECK(holds(from_functional_tensor(column), {12, 4}));
  neg_(f);
  CHECK(holds(from_functional_tensor(row), {-11, -12}));
  CHECK(holds(x, {1, 2, 3, 4}));
  CHECK_THROWS_AS(to_functional_tensor(f), RuntimeError);
  CHECK_THROWS_AS(to_functional_tensor(Tensor()), RuntimeError);
}

TEST_CASE("a write to a plain tensor among functional ones is refused: it would be lost") {
  const Tensor plain = counting({2}, kCpu);
  const Tensor f = to_functional_tensor(plain);
  CHECK_THROWS_WITH(add_(plain, f),
                    "aten::add_.Tensor: argument 0 'self': expected a functional "
                    "tensor, as other arguments are, got a plain one, float32[2] on "
                    "cpu; a write to it would be lost");
  CHECK(holds(plain, {1, 2}));
  CHECK(holds(from_functional_tensor(add(plain, f)), {2, 4}));
}

TEST_CASE("a program may write to plain tensors that it was not given") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensor captured = counting({2, 2}, kCpu);
  const Tensor part = select(captured, 0, 1);
  const Tensors results = run(route,
                              [&](const Tensors& in) {
                                add_(part, in[0]);
                                const Tensor y = captured + 1;
                                zero_(select(captured, 1, 0));
                                return Tensors{y, select(captured, 0, 0)};
                              },
                              {counting({2}, kCpu)});
  CHECK(holds(results[0], {2, 3, 5, 7}));
  CHECK(holds(captured, {0, 2, 0, 6}));
  CHECK(results[1].is_alias_of(captured));
}

TEST_CASE("numbers that a program reads are those of that moment") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensors results = run(route,
                              [](const Tensors& in) {
                                add_Scalar_(select(in[0], 0, 0), 4);
                                return Tensors{in[0] * item(sum(in[0])).to<double>()};
                              },
                              {counting({2}, kCpu)});
  CHECK(holds(results[0], {35, 14}));
}

TEST_CASE("an exception passes through, and leaves inputs and thread as they were") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensor x = counting({2, 2}, kCpu);
  const DispatchKeySet included = dispatch_tls.included, kept = dispatch_tls.kept;
  const TensorFunction f = functionalized(route, [](const Tensors& in) -> Tensors {
    add_Scalar_(in[0], 1);
    t_(in[0]);
    throw ValueError("enough");
  });
  CHECK_THROWS_WITH(f({x}), "enough");
  CHECK(holds(x, {1, 2, 3, 4}));
  CHECK(dispatch_tls.included == included);
  CHECK(dispatch_tls.kept == kept);
  CHECK(mode_stack_size() == 0);
  CHECK_FALSE(is_functional_tensor(x + 1));
  CHECK_THROWS_WITH(f({x}), "enough");  // and again
}

TEST_CASE("what an in-place operator refuses is refused when functionalised, and changes nothing") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensors results =
      run(route,
          [](const Tensors& in) {
            const Tensor x = clone(in[0]);
            CHECK_THROWS_AS(add_(x, counting({3, 2}, kCpu)), RuntimeError);  // would be larger
            CHECK_THROWS_AS(add_(to(x, DType::Int64), x), RuntimeError);     // would be a float
            CHECK_THROWS_AS(add_Scalar_(expand(x, {3, 2}), 1), RuntimeError);
            CHECK_THROWS_AS(copy_(slice(x, 0, 0, 1, 1), counting({3}, kCpu)), RuntimeError);
            CHECK_THROWS_AS(select(x, 0, 7), IndexError);
            const Tensor y = counting({4}, kCpu);
            CHECK_THROWS_AS(add_(slice(y, 0, 1, 4, 1), slice(y, 0, 0, 3, 1)), RuntimeError);
            return Tensors{x, y};
          },
          {counting({2}, kCpu)});
  CHECK(holds(results[0], {1, 2}));
  CHECK(holds(results[1], {1, 2, 3, 4}));
}

TEST_CASE("set_ makes a tensor a view of another memory of the program") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensor x = counting({2}, kCpu), other = counting({3}, kCpu);
  const Tensors results = run(route,
                              [](const Tensors& in) {
                                const Tensor y = mul_Scalar(in[1], 2);
                                set__source_Tensor(in[0], in[1]);
                                add_Scalar_(in[0], 1);
                                const Tensor z = zeros({1});
                                set__source_Storage_storage_offset(z, y.storage(), 1, {2}, {1});
                                mul_Scalar_(z, 10);
                                const Tensor nothing = set_(zeros({4}));
                                return Tensors{y, z, nothing};
                              },
                              {x, other});
  CHECK(x.is_alias_of(other));
  CHECK(holds(x, {2, 3, 4}));
  CHECK(holds(other, {2, 3, 4}));
  CHECK(holds(results[0], {2, 40, 60}));
  CHECK(holds(results[1], {40, 60}));
  CHECK(results[1].is_alias_of(results[0]));
  CHECK(results[2].numel() == 0);
}

TEST_CASE("a storage that is no tensor's of the program is refused by name") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensor other = counting({3}, kCpu);
  run(route,
      [&](const Tensors& in) {
        CHECK_THROWS_WITH(set__source_Storage(in[0], other.storage()),
                          "functionalize: aten::set_.source_Storage: expected the storage of a "
                          "tensor of the program, got one of its own");
        return Tensors{};
      },
      {counting({2}, kCpu)});
}

TEST_CASE("memory that grows under several tensors is refused by name") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const std::string message =
      "aten::resize_: memory that grows under several tensors cannot be functionalised";
  run(route,
      [&](const Tensors& in) {
        const Tensor x = clone(in[0]);
        const Tensor view = select(x, 0, 0);
        CHECK_THROWS_AS(resize_(x, {100}), NotImplementedError);
        CHECK_THROWS_WITH(resize_(x, {100}), message);
        CHECK(x.sizes() == IntArrayRef({2}));
        return Tensors{};
      },
      {counting({2}, kCpu)});
}

// Operators of a user's own.
class CustomOps {
 public:
  CustomOps() : library_(Library::Kind::Def, "custom") {
    library_.define("twice_(Tensor(a!) x) -> Tensor(a!)");
    library_.impl("twice_", DispatchKey::CPU, [this](const Tensor& x) {
      ++mutations;
      return mul_Scalar_(x, 2);
    });
    library_.define("negate(Tensor x, *, Tensor(a!) to, Tensor(b!)[] more) -> ()");
    library_.impl("negate", DispatchKey::CPU,
                  [](const Tensor& x, const Tensor& to, TensorList more) {
                    copy_(to, neg(x));
                    for (const Tensor& t : more) copy_(t, neg(x));
                  });
    library_.define("grow_(Tensor(a!) x) -> Tensor(a!)");
    library_.impl("grow_", DispatchKey::CPU, [](const Tensor& x) { return resize_(x, {9}); });
    library_.define("diagonal(Tensor(a) x) -> Tensor(a)");
    library_.impl("diagonal", DispatchKey::CompositeExplicitAutograd, [](const Tensor& x) {
      return as_strided(x, {x.size(0)}, {x.stride(0) + x.stride(1)}, x.storage_offset());
    });
    library_.define("same(Tensor(a) x) -> Tensor(a)");
    library_.impl("same", DispatchKey::CompositeExplicitAutograd,
                  [](const Tensor& x) { return x; });
    library_.define("add_one_(Tensor(a!) x, *, bool loud=False) -> Tensor(a!)");
    library_.impl("add_one_", DispatchKey::CPU,
                  [](const Tensor& x, bool) { return add_Scalar_(x, 1); });
    library_.define("add_one.other(Tensor x, *, bool loud=False) -> Tensor");
    library_.impl("add_one.other", DispatchKey::CPU, [](const Tensor& x, bool) { return x + 1; });
  }
  static IValue call(const char* op, std::vector<IValue> arguments,
                     std::vector<std::pair<std::string, IValue>> keyword = {}) {
    std::vector<IValue> results = default_dispatcher()
                                      .find_op_or_throw(std::string("custom::") + op)
                                      .call(std::move(arguments), std::move(keyword));
    return results.empty() ? IValue() : results[0];
  }
  int mutations = 0;

 private:
  Library library_;
};

TEST_CASE("an operator without a functional form mutates a clone that nobody else has") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  CustomOps ops;
  const Tensor x = counting({2, 2}, kCpu);
  const Tensors results =
      run(route,
          [&](const Tensors& in) {
            const Tensor row = select(in[0], 0, 1);
            CHECK(CustomOps::call("twice_", {row}).to_tensor().is_same(row));
            CHECK(holds(x, {1, 2, 3, 4}));
            const Tensor y = zeros({2}), z = zeros({2}), w = zeros({2});
            CustomOps::call("negate", {row}, {{"to", y}, {"more", Tensors{z, w}}});
            return Tensors{in[0] + 0, y, z, w};
          },
          {x});
  CHECK(ops.mutations == 1);
  CHECK(holds(results[0], {1, 2, 6, 8}));
  for (int i = 1; i < 4; ++i) CHECK(holds(results[static_cast<size_t>(i)], {-6, -8}));
  CHECK(holds(x, {1, 2, 6, 8}));
}

TEST_CASE("an operator that reshapes in place without a functional form reshapes a clone") {
  CustomOps ops;
  const Tensor x = counting({2}, kCpu);
  functionalize([](const Tensors& in) {
    CustomOps::call("grow_", {in[0]});
    return Tensors{};
  })({x});
  const Tensor as_written = counting({2}, kCpu);
  CustomOps::call("grow_", {as_written});
  CHECK(x.sizes() == as_written.sizes());
}

TEST_CASE(
    "an operator that reshapes a view in place without a functional form is refused by name") {
  CustomOps ops;
  CHECK_THROWS_WITH(functionalize([](const Tensors& in) {
                      CustomOps::call("grow_", {slice(in[0], 0, 1, 3, 1)});
                      return Tensors{};
                    })({counting({4}, kCpu)}),
                    Catch::Matchers::StartsWith("functionalize: custom::grow_: it changed the "
                                                "shape of an argument in place"));
}

TEST_CASE("a custom view is replayed, and written back by where its elements lie") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  CustomOps ops;
  const Tensor x = counting({2, 2}, kCpu);
  const Tensors results = run(route,
                              [](const Tensors& in) {
                                const Tensor d = CustomOps::call("diagonal", {in[0]}).to_tensor();
                                CHECK(CustomOps::call("same", {d}).to_tensor().is_same(d));
                                mul_Scalar_(in[0], 10);
                                add_Scalar_(d, 1);
                                return Tensors{d};
                              },
                              {x});
  CHECK(holds(x, {11, 20, 30, 41}));
  CHECK(holds(results[0], {11, 41}));
}

TEST_CASE("a functional form is found by its schema, whatever its overload is called") {
  CustomOps ops;
  const auto form_of = [](const char* op) -> std::string {
    const auto form = find_functional_form(default_dispatcher().find_op_or_throw(op));
    return form ? form->op.name().to_string() : "";
  };
  CHECK(form_of("custom::add_one_") == "custom::add_one.other");
  CHECK(form_of("aten::add_.Tensor") == "aten::add.Tensor");
  CHECK(form_of("aten::add.out") == "aten::add.Tensor");
  CHECK(form_of("aten::max.dim_max") == "aten::max.dim");
  CHECK(form_of("aten::copy_") == "aten::copy");
  CHECK(form_of("aten::zero_") == "aten::zero");
  CHECK(form_of("aten::transpose_") == "aten::transpose.int");
  CHECK(form_of("aten::squeeze_.dim") == "aten::squeeze.dim");
  CHECK(form_of("custom::twice_") == "");
  CHECK(form_of("aten::resize_") == "");
  CHECK(form_of("aten::set_") == "");
  CHECK(form_of("aten::empty.out") == "aten::empty.memory_format");
  CHECK(form_of("aten::arange.start_out") == "aten::arange.start_step");
  CHECK(form_of("aten::sum.out") == "aten::sum");
}

TEST_CASE(
    "every operator of ATen that mutates is functionalised without a mutation, or decomposes, or "
    "is "
    "named here") {
  std::vector<std::string> without;
  for (const OperatorHandle& op : default_dispatcher().all_ops()) {
    if (op.name().ns() != "aten" || !op.schema().is_mutable()) continue;
    if (OpOverload(op).has_decomposition()) continue;
    if (!find_functional_form(op)) without.push_back(op.name().to_string());
  }
  CHECK(without == std::vector<std::string>{
                       "aten::_batch_norm_with_update", "aten::_native_batch_norm_legit",
                       "aten::adaptive_avg_pool3d_backward.grad_input", "aten::polygamma_",
                       "aten::resize_", "aten::resize_as_", "aten::rrelu_with_noise",
                       "aten::rrelu_with_noise.out", "aten::rrelu_with_noise_", "aten::set_",
                       "aten::set_.source_Storage", "aten::set_.source_Storage_storage_offset",
                       "aten::set_.source_Tensor", "aten::set_.source_Tensor_storage_offset"});
}

TEST_CASE("one rule of an operator serves the key and the mode") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  CustomOps ops;
  const OperatorHandle op = default_dispatcher().find_op_or_throw("custom::twice_");
  int calls = 0;
  // The rule of a higher-order operator calls a function that it was given.
  const FunctionalizeApiRule rule = [&](const FunctionalizeApi& api, DispatchKeySet, Stack* stack) {
    ++calls;
    CHECK(is_functional_tensor(stack->back().to_tensor()));
    const Tensor value = api.unwrap(stack->back()).to_tensor();
    CHECK_FALSE(is_functional_tensor(value));
    const auto f = api.functionalize([](std::vector<IValue> in) {
      CHECK(is_functional_tensor(in[0].to_tensor()));
      const Tensor y = clone(in[0].to_tensor());
      return std::vector<IValue>{add_(y, y)};
    });
    const Tensor inner = f({value})[0].to_tensor();
    CHECK_FALSE(is_functional_tensor(inner));
    CHECK(holds(value, {1, 2}));
    const auto writes = api.functionalize(
        [](std::vector<IValue> in) { return std::vector<IValue>{neg_(in[0].to_tensor())}; });
    CHECK_THROWS_AS(writes({value}), NotImplementedError);
    Tensor result;
    api.redispatch([&] { result = inner * 10; });
    CHECK_FALSE(is_functional_tensor(result));
    stack->back() = api.wrap(result);
  };
  const TensorFunction program = [](const Tensors& in) {
    return Tensors{CustomOps::call("twice_", {in[0]}).to_tensor()};
  };
  if (route == Route::Key) {
    // As the key's kernel calls it, for the operators that have rules at keys.
    const auto g = functionalize([&](const Tensors& in) {
      Stack stack = {in[0]};
      rule(*functionalize_routes().key(), {}, &stack);
      return Tensors{stack.back().to_tensor()};
    });
    CHECK(holds(g({counting({2}, kCpu)})[0], {20, 40}));
  } else {
    const RegistrationHandle handle =
        operator_base(op.entry()).impl_functionalize(rule, functionalize_routes());
    CHECK(holds(run(route, program, {counting({2}, kCpu)})[0], {20, 40}));
  }
  CHECK(calls == 1);
  CHECK(ops.mutations == 0);
  CHECK(holds(run(route, program, {counting({2}, kCpu)})[0], {2, 4}));
  CHECK(ops.mutations == 1);
  CHECK(calls == 1);
}

TEST_CASE("functionalise inside of functionalise: the outer one does it all") {
  const Route outer = GENERATE(Route::Key, Route::Mode);
  const Route inner = GENERATE(Route::Key, Route::Mode);
  const TensorFunction f = [](const Tensors& in) {
    add_Scalar_(select(in[0], 0, 0), 1);
    return Tensors{in[0]};
  };
  const Tensor x = counting({2}, kCpu);
  const Tensors results = run(outer,
                              [&](const Tensors& in) {
                                const Tensor y = clone(in[0]);
                                const Tensor first = run(inner, f, {y})[0];
                                mul_Scalar_(y, 10);
                                return Tensors{first, y, run(inner, f, {in[0]})[0]};
                              },
                              {x});
  CHECK(holds(results[0], {20, 20}));
  CHECK(holds(results[1], {20, 20}));
  CHECK(holds(results[2], {2, 2}));
  CHECK(holds(x, {2, 2}));
}

TEST_CASE("composites are functionalised as what they are made of, in inference mode too") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const InferenceModeGuard inference;
  Watcher below;
  {
    ModeGuard guard(&below);
    run(route,
        [](const Tensors& in) {
          const Tensor y = reshape(in[0], {4});
          add_(y, y);
          return Tensors{matmul(in[0], in[0])};
        },
        {ones({2, 2})});
  }
  CHECK_FALSE(below.saw("aten::reshape"));
  CHECK_FALSE(below.saw("aten::matmul"));
  CHECK(below.saw("aten::mm"));
}

TEST_CASE("tensors of a mode reach it while it is not active, and keep it alive") {
  Tensor f, row;
  {
    FunctionalMode mode;
    f = mode.to_functional(counting({2, 2}, kCpu));
    CHECK(mode.to_functional(counting({2, 2}, kCpu)).is_same(f) == false);
    row = select(f, 0, 0);
  }
  add_Scalar_(row, 1);
  CHECK(holds(from_functional_tensor(f), {2, 3, 3, 4}));
  CHECK(f.key_set().has(DispatchKey::Python));
  CHECK_FALSE(f.key_set().has(DispatchKey::Functionalize));
}

TEST_CASE("a mode can be used by hand: wrap, run, finish") {
  FunctionalMode mode;
  const Tensor x = counting({2}, kCpu);
  const Tensor f = mode.to_functional(x);
  CHECK(mode.to_functional(x).is_same(f));
  Tensor y;
  {
    ModeGuard active(mode.mode());
    y = zeros({2});
    CHECK(is_functional_tensor(y));
    add_(y, f);
    add_(x, y);  // plain, and known to the mode
    CHECK(holds(x, {1, 2}));
    sync(y);
  }
  const Tensors results = mode.finish({y, f});
  CHECK(holds(results[0], {1, 2}));
  CHECK(results[1].is_same(x));
  CHECK(holds(x, {2, 4}));
}

TEST_CASE("a user's mode above the functional one sees the program as it is written") {
  Watcher above(std::nullopt), below;
  const Tensor x = counting({2}, kCpu);
  {
    ModeGuard lower(&below);
    FunctionalMode().functionalize([&](const Tensors& in) {
      ModeGuard upper(&above);
      add_Scalar_(in[0], 1);
      return Tensors{in[0]};
    })({x});
  }
  CHECK(above.ops == std::vector<std::string>{"aten::add_.Scalar"});
  CHECK(below.ops == std::vector<std::string>{"aten::add.Scalar", "aten::copy_"});
}

}  // namespace
}  // namespace sb::test
