#include "switchboard/custom_ops/register_vmap.h"

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/elementwise/predicates.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/vmap/vmap.h"

namespace sb {
namespace {

using Catch::Contains;

Tensor numbers() { return reshape(arange(6, DType::Float32), {3, 2}); }
bool same(const Tensor& a, const Tensor& b) { return a.sizes() == b.sizes() && allclose(a, b); }

// scaled(x, ys, n): x * n, and the first of ys.
struct Scaled {
  int calls = 0;
  CustomOp op =
      custom_op("vmap_rule_test::scaled", "(Tensor x, Tensor[] ys, int n) -> (Tensor, Tensor)",
                [this](const Tensor& x, TensorList ys, int64_t n) {
                  ++calls;
                  return std::make_tuple(x * n, ys[0] * 1);
                });
  Tensor run(const Tensor& x, const VmapOptions& options = {}) {
    return vmap(
        [&](const Tensor& row) {
          return op.op()(row, std::vector<Tensor>{ones({2}), row}, 3)[0].to_tensor();
        },
        {x}, options)[0];
  }
};

TEST_CASE("an operator with a rule for vmap gets all examples at once") {
  Scaled scaled;
  CHECK(same(scaled.run(numbers()), numbers() * 3));
  CHECK(scaled.calls == 3);
  std::vector<BatchDims> seen;
  scaled.op.register_vmap([&](const VmapInfo& info, const std::vector<BatchDims>& in_dims,
                              const std::vector<IValue>& args) -> VmapResults {
    CHECK(info.batch_size == 3);
    CHECK(info.randomness == Randomness::Same);
    seen = in_dims;
    CHECK(args[0].to_tensor().sizes() == IntArrayRef{3, 2});
    CHECK(args[1].to_tensor_list()[0].sizes() == IntArrayRef{2});
    // Calls of the operator inside are below vmap.
    return {scaled.op.op()(args[0], args[1], args[2]), {in_dims[0], in_dims[1].all()[0]}};
  });
  CHECK(same(scaled.run(numbers(), {.randomness = Randomness::Same}), numbers() * 3));
  CHECK(scaled.calls == 4);
  CHECK(seen ==
        std::vector<BatchDims>{0, std::vector<BatchDims::Dim>{std::nullopt, 0}, BatchDims()});
}

TEST_CASE("results may have their batch in any dimension, or none") {
  Scaled scaled;
  scaled.op.register_vmap([](const VmapInfo&, const std::vector<BatchDims>&,
                             const std::vector<IValue>& args) -> VmapResults {
    return {{t(args[0].to_tensor()), ones({2})}, {-1, std::nullopt}};
  });
  CHECK(same(scaled.run(numbers()), numbers()));
}

TEST_CASE("a call without a batched tensor is a call below") {
  Scaled scaled;
  scaled.op.register_vmap(
      [](const VmapInfo&, const std::vector<BatchDims>&,
         const std::vector<IValue>&) -> VmapResults { throw RuntimeError("not called"); });
  const auto f = [&](const Tensor& row) {
    return row + scaled.op.op()(ones({2}), std::vector<Tensor>{ones({2})}, 2)[0].to_tensor();
  };
  CHECK(same(vmap(f, {numbers()})[0], numbers() + 2));
}

TEST_CASE("what a rule gives is checked") {
  Scaled scaled;
  const auto error = [&](VmapResults results) {
    scaled.op.register_vmap([results](const VmapInfo&, const std::vector<BatchDims>&,
                                      const std::vector<IValue>&) { return results; });
    try {
      scaled.run(numbers());
    } catch (const RuntimeError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(error({{ones({3})}, {0}}) ==
        "vmap_rule_test::scaled: its rule for vmap: expected 2 outputs and as many out_dims, got 1 "
        "and 1");
  CHECK(
      error({{ones({3}), ones({2})}, {0, 0}}) ==
      "vmap_rule_test::scaled: its rule for vmap: output 1: expected a batch of 3 in dimension 0, "
      "got float32[2] on cpu");
  CHECK(error({{ones({3}), ones({3})}, {0, BatchDims()}}) ==
        "vmap_rule_test::scaled: its rule for vmap: output 1 has more tensors than out_dims");
}

TEST_CASE("a rule goes with its handle, and the newest counts") {
  Scaled scaled;
  {
    const RegistrationHandle handle = register_vmap(
        "vmap_rule_test::scaled",
        [](const VmapInfo&, const std::vector<BatchDims>&, const std::vector<IValue>& args) {
          return VmapResults{{args[0], args[0]}, {0, 0}};
        });
    CHECK(same(scaled.run(numbers()), numbers()));
  }
  CHECK(same(scaled.run(numbers()), numbers() * 3));
}

TEST_CASE("gradients pass through a rule, and through the loop where there is none") {
  Scaled scaled;
  scaled.op.register_autograd([](FunctionContext&, const Tensor& grad, const Tensor&) {
    return std::vector<Tensor>{grad * 3, Tensor(), Tensor(), Tensor()};
  });
  for (bool rule : {false, true}) {
    CAPTURE(rule);
    if (rule) {
      scaled.op.register_vmap([&](const VmapInfo&, const std::vector<BatchDims>&,
                                  const std::vector<IValue>& args) -> VmapResults {
        return {scaled.op.op()(args[0], args[1], args[2]), {0, std::nullopt}};
      });
    }
    const Tensor x = numbers();
    set_requires_grad(x);
    CHECK(same(grad({scaled.run(x)}, {x}, {numbers()})[0], numbers() * 3));
  }
}

TEST_CASE("an operator that takes tensors by keyword only has no rule") {
  const CustomOp op = custom_op("vmap_rule_test::keyword", "(Tensor x, *, Tensor y) -> Tensor",
                                [](const Tensor& x, const Tensor&) { return x * 1; });
  CHECK_THROWS_WITH(register_vmap(op, [](const VmapInfo&, const std::vector<BatchDims>&,
                                         const std::vector<IValue>&) { return VmapResults(); }),
                    Contains("argument 'y' is a tensor by keyword only"));
}

}  // namespace
}  // namespace sb
