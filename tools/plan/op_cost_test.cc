#include "switchboard/tools/plan/op_cost.h"

#include "catch2/catch.hpp"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/values/bind_arguments.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"

namespace sb::plan {
namespace {

using Sizes = std::vector<int64_t>;

// Calls an operator on fake tensors, which may have any size, and says what that costs.
class Costs {
 public:
  CallCost operator()(const std::string& op, std::vector<IValue> arguments,
                      std::vector<std::pair<std::string, IValue>> keyword = {}) const {
    const OperatorHandle handle = default_dispatcher().find_op_or_throw(op);
    const Stack bound = bind_arguments(handle.schema(), std::move(arguments), std::move(keyword));
    Stack stack = bound;
    handle.call_boxed(&stack);
    return cost_of(CostTable::standard().find(handle.name().name), {handle.schema(), bound, stack});
  }
  static Tensor tensor(Sizes sizes) { return sb::empty(sizes); }

 private:
  FakeTensorMode fake_;
  FakeTensorModeGuard guard_{fake_};
};

TEST_CASE("a product of (m, k) and (k, n) is 2mkn FLOPs, the bias not counted", "[plan]") {
  const Costs cost;
  const auto t = Costs::tensor;
  CHECK(cost("aten::mm", {t({3, 5}), t({5, 7})}).flops == 2 * 3 * 5 * 7);
  CHECK(cost("aten::addmm", {t({7}), t({3, 5}), t({5, 7})}).flops == 2 * 3 * 5 * 7);
  CHECK(cost("aten::bmm", {t({4, 3, 5}), t({4, 5, 7})}).flops == 4 * 2 * 3 * 5 * 7);
  CHECK(cost("aten::baddbmm", {t({4, 3, 7}), t({4, 3, 5}), t({4, 5, 7})}).flops == 4 * 210);
  CHECK(cost("aten::mv", {t({3, 5}), t({5})}).flops == 2 * 3 * 5);
  CHECK(cost("aten::dot", {t({5}), t({5})}).flops == 2 * 5);
  CHECK(cost("aten::mm", {t({3, 0}), t({0, 7})}).flops == 0);
}

TEST_CASE("in a convolution every weight meets every position of the output", "[plan]") {
  const Costs cost;
  const auto t = Costs::tensor;
  const auto convolution = [&](Tensor input, Tensor weight, Sizes stride, bool transposed,
                               int64_t groups) {
    return cost("aten::convolution", {input, weight, std::nullopt, stride, Sizes{0, 0}, Sizes{1, 1},
                                      transposed, Sizes{0, 0}, groups})
        .flops;
  };
  // (2, 4, 9, 9) with 6 filters of (4, 3, 3), stride 2: an output of (2, 6, 4, 4).
  CHECK(convolution(t({2, 4, 9, 9}), t({6, 4, 3, 3}), {2, 2}, false, 1) ==
        2 * (2 * 6 * 4 * 4) * (4 * 3 * 3));
  // In two groups a filter sees half of the channels.
  CHECK(convolution(t({2, 4, 9, 9}), t({6, 2, 3, 3}), {2, 2}, false, 2) ==
        2 * (2 * 6 * 4 * 4) * (2 * 3 * 3));
  // Transposed, (4, 6, 3, 3): each of the input's positions spreads over 6 channels and 3 by 3.
  CHECK(convolution(t({2, 4, 9, 9}), t({4, 6, 3, 3}), {2, 2}, true, 1) ==
        2 * (2 * 4 * 9 * 9) * (6 * 3 * 3));
}

TEST_CASE("a convolution's backward is a pass for each gradient of input and weight", "[plan]") {
  const Costs cost;
  const auto t = Costs::tensor;
  const uint64_t pass = 2 * (2 * 6 * 4 * 4) * (4 * 3 * 3);
  for (const auto& wanted : {std::vector<bool>{true, true, true}, {false, true, false}})
    CHECK(cost("aten::convolution_backward",
               {t({2, 6, 4, 4}), t({2, 4, 9, 9}), t({6, 4, 3, 3}), Sizes{6}, Sizes{2, 2},
                Sizes{0, 0}, Sizes{1, 1}, false, Sizes{0, 0}, 1, wanted})
              .flops == pass * (wanted[0] ? 2 : 1));
}

TEST_CASE("attention is the scores and the weighted values", "[plan]") {
  const Costs cost;
  const auto t = Costs::tensor;
  const CallCost flash = cost("aten::_scaled_dot_product_flash_attention_for_cpu",
                              {t({2, 3, 10, 8}), t({2, 3, 20, 8}), t({2, 3, 20, 8})});
  CHECK(flash.flops == 2 * (2 * 3) * 10 * 20 * (8 + 8));
}

TEST_CASE("elementwise operators count results, reductions count inputs", "[plan]") {
  const Costs cost;
  const auto t = Costs::tensor;
  CHECK(cost("aten::add.Tensor", {t({3, 1}), t({5})}).flops == 15);
  CHECK(cost("aten::tanh", {t({3, 5})}).flops == 15);
  CHECK(cost("aten::sum.dim_IntList", {t({3, 5}), Sizes{1}}).flops == 15);
  const Tensor c = t({3});
  for (const bool training : {false, true})
    CHECK(cost("aten::native_batch_norm", {t({2, 3, 4}), c, c, c, c, training, 0.1, 1e-5}).flops ==
          (training ? 8 : 4) * 24);
  CHECK(cost("aten::_softmax", {t({3, 5}), 1, false}).flops == 5 * 15);
  CHECK(cost("aten::max_pool2d_with_indices", {t({1, 2, 8, 8}), Sizes{2}}).flops ==
        (2 * 4 * 4) * (2 * 2));
  CHECK(cost("aten::_foreach_add.Scalar", {std::vector<Tensor>{t({3}), t({4})}, 1}).flops == 7);
}

TEST_CASE("an operator without a formula is not counted, which is not the same as none", "[plan]") {
  const Costs cost;
  const CallCost sort = cost("aten::sort", {Costs::tensor({8})});
  CHECK_FALSE(sort.counted);
  CHECK(sort.flops == 0);
  const CallCost clone = cost("aten::clone", {Costs::tensor({8})});
  CHECK(clone.counted);
  CHECK(clone.flops == 0);
}

TEST_CASE("every tensor is moved once: arguments read, results written", "[plan]") {
  const Costs cost;
  const Tensor x = Costs::tensor({3, 5}), y = Costs::tensor({3, 5});
  const CallCost add = cost("aten::add.Tensor", {x, y});
  CHECK(add.bytes_read == 2 * 60);
  CHECK(add.bytes_written == 60);
  CHECK(cost("aten::mul.Tensor", {x, x}).bytes_read == 60);
  // In place it reads and writes self; copy_ and fill_ only write it; empty moves nothing.
  const CallCost in_place = cost("aten::add_.Tensor", {x, y});
  CHECK(in_place.bytes_read == 2 * 60);
  CHECK(in_place.bytes_written == 60);
  CHECK(cost("aten::copy_", {x, y}).bytes_read == 60);
  CHECK(cost("aten::fill_.Scalar", {x, 1}).bytes_read == 0);
  CHECK(cost("aten::fill_.Scalar", {x, 1}).bytes_written == 60);
  CHECK(cost("aten::empty_like", {x}).bytes_written == 0);
  // out= is written and not read.
  const CallCost out = cost("aten::add.out", {x, y}, {{"out", Costs::tensor({3, 5})}});
  CHECK(out.bytes_read == 2 * 60);
  CHECK(out.bytes_written == 60);
}

TEST_CASE("a view moves nothing, and an expanded tensor has only its own bytes", "[plan]") {
  const Costs cost;
  const Tensor x = Costs::tensor({3, 5});
  const CallCost view = cost("aten::view", {x, Sizes{15}});
  CHECK(view.counted);
  CHECK(view.bytes_read + view.bytes_written == 0);
  Stack stack = {Costs::tensor({1, 5}), Sizes{1000, 5}, false};
  default_dispatcher().find_op_or_throw("aten::expand").call_boxed(&stack);
  const CallCost clone = cost("aten::clone", {stack[0]});
  CHECK(clone.bytes_read == 20);
  CHECK(clone.bytes_written == 20000);
}

TEST_CASE("of a table only the rows are moved that are asked for", "[plan]") {
  const Costs cost;
  const auto indices = [](int64_t n) { return sb::empty(Sizes{n}, DType::Int64); };
  const Tensor table = Costs::tensor({1000, 16});
  CHECK(cost("aten::embedding", {table, indices(4)}).bytes_read == 4 * 16 * 4 + 4 * 8);
  const CallCost write = cost("aten::index_copy_", {table, 0, indices(4), Costs::tensor({4, 16})});
  CHECK(write.bytes_written == 4 * 16 * 4);
  CHECK(write.bytes_read == 2 * 4 * 16 * 4 + 4 * 8);
}

TEST_CASE("FLOPs of hostile sizes saturate", "[plan]") {
  const Costs cost;
  const int64_t huge = int64_t{1} << 29;
  const CallCost product =
      cost("aten::mm", {Costs::tensor({huge, huge}), Costs::tensor({huge, huge})});
  CHECK(product.flops == kSaturated);
  CHECK(Count(kSaturated) * 2 * 0 == 0);
  CHECK(Count(kSaturated) + 1 == kSaturated);
}

TEST_CASE("a table may have rows for operators of one's own", "[plan]") {
  CostTable costs = CostTable::standard();
  CHECK(costs.find("demo::twice") == nullptr);
  costs.set("demo::twice",
            {[](const OpCall& call) -> Count { return 2 * Count(call.tensor(0).sym_numel()); }});
  REQUIRE(costs.find("demo::twice_"));
  CHECK(CostTable::standard().find("demo::twice") == nullptr);
}

}  // namespace
}  // namespace sb::plan
