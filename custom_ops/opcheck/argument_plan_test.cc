#include "switchboard/custom_ops/opcheck/argument_plan.h"

#include "catch2/catch.hpp"
#include "switchboard/autograd/variable.h"
#include "switchboard/custom_ops/opcheck/checked_call.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/custom_ops/opcheck/vary.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb::internal {
namespace {

using test::sizes_of;
using test::strides_of;
using test::values_of;
using Numbers = std::vector<std::complex<double>>;

const FunctionSchema& schema_of(std::string_view op) {
  return default_dispatcher().find_op_or_throw(op).schema();
}

TEST_CASE("arguments that are built from their plan, or copied, are what they were") {
  const Tensor memory = tensor_with({8}, DType::Float64, {0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor strided = requiring_grad(view_of(memory, {2, 2}, {1, 3}, 1));
  const Tensor expanded = view_of(memory, {2, 3}, {0, 2});
  const Stack given = {strided, std::vector<Tensor>{expanded, strided}, 3,
                       std::vector<std::optional<Tensor>>{std::nullopt, expanded}, Tensor()};
  for (const Stack& made : {ArgumentPlan::of(given).build(), copy_arguments(given)}) {
    const Tensor first = made[0].to_tensor(), second = made[1].to_tensor_list()[0];
    CHECK(sizes_of(first) == sizes_of(strided));
    CHECK(strides_of(first) == strides_of(strided));
    CHECK(first.storage_offset() == 1);
    CHECK(values_of(first) == values_of(strided));
    CHECK(requires_grad(first));
    CHECK(values_of(second) == values_of(expanded));
    CHECK(strides_of(second) == strides_of(expanded));
    // What shared memory shares it, what was one tensor is one, and none of it is the given one's.
    CHECK(first.is_alias_of(second));
    CHECK(made[1].to_tensor_list()[1].is_same(first));
    CHECK(made[3].to_optional_tensor_list()[1]->is_same(second));
    CHECK_FALSE(made[3].to_optional_tensor_list()[0]);
    CHECK_FALSE(first.is_alias_of(strided));
    CHECK(first.storage()->nbytes() == memory.storage()->nbytes());
    CHECK(made[2].to_int() == 3);
    CHECK_FALSE(made[4].to_tensor().defined());
  }
  CHECK_FALSE(requires_grad(copy_arguments(given, false)[0].to_tensor()));
}

TEST_CASE("elements stay the same where a tensor is laid out anew, and gaps hold 99") {
  ArgumentPlan plan = ArgumentPlan::of({tensor_with({2, 2}, DType::Float32, {1, 2, 3, 4})});
  plan.lay_out_strided(0, {1, 4}, 1);
  CHECK(plan.elements_of(plan.tensors[0]) == Numbers{1, 2, 3, 4});
  CHECK(plan.memories[0].elements == Numbers{99, 1, 3, 99, 99, 2, 4});
  plan.lay_out(0, {3, 2});
  CHECK(plan.elements_of(plan.tensors[0]) == Numbers{1, 2, 3, 4, 1, 2});
  plan.lay_out(0, {0});
  plan.lay_out(0, {2});
  CHECK(plan.elements_of(plan.tensors[0]) == Numbers{1, 1});
}

TEST_CASE("sizes change in all tensors and lists, dtypes in all of a dtype") {
  ArgumentPlan plan =
      ArgumentPlan::of({requiring_grad(tensor_with({2, 3}, DType::Float32, {1, -2.5, 3, 4, 5, 6})),
                        std::vector<int64_t>{3, 2}});
  replace_size(&plan, 3, 1, true);
  CHECK(plan.tensors[0].sizes == std::vector<int64_t>{2, 1});
  CHECK(plan.values[1].plain.to_int_list() == IntArrayRef({1, 2}));
  replace_size(&plan, 2, 0, false);
  CHECK(plan.values[1].plain.to_int_list() == IntArrayRef({1, 2}));
  plan = ArgumentPlan::of({requiring_grad(tensor_with({2}, DType::Float32, {1.5, -2.5}))});
  replace_dtype(&plan, DType::Float32, DType::UInt8);
  CHECK(plan.memories[0].elements == Numbers{1, 3});
  CHECK_FALSE(plan.tensors[0].requires_grad);
}

TEST_CASE("among the variations are zero sizes, other strides, dtypes and shared memory") {
  const Stack given = {tensor_with({2, 3}, DType::Float32, {1, 2, 3, 4, 5, 6}),
                       tensor_with({2, 3}, DType::Float32, {1, 2, 3, 4, 5, 6}), 2};
  bool zero = false, expanded = false, transposed = false, offset = false, half = false,
       shared = false, same = false, mixed = false;
  for (const ArgumentPlan& plan :
       variations(schema_of("aten::add.Tensor"), ArgumentPlan::of(given))) {
    const Stack made = plan.build();
    const Tensor a = made[0].to_tensor(), b = made[1].to_tensor();
    zero |= a.numel() == 0 && b.numel() == 0;
    expanded |= a.numel() == 6 && a.stride(0) == 0;
    transposed |= strides_of(a) == std::vector<int64_t>{1, 2};
    offset |= a.storage_offset() != 0;
    half |= a.dtype() == DType::Float16 && b.dtype() == DType::Float16;
    mixed |= a.dtype() != b.dtype();
    same |= a.is_same(b);
    shared |= a.is_alias_of(b) && !a.is_same(b);
  }
  CHECK(zero);
  CHECK(expanded);
  CHECK(transposed);
  CHECK(offset);
  CHECK(half);
  CHECK(mixed);
  CHECK(same);
  CHECK(shared);
}

TEST_CASE("each simplification is simpler, and at the end there is nothing left") {
  const FunctionSchema& schema = schema_of("aten::add.Tensor");
  ArgumentPlan plan = ArgumentPlan::of(
      {transpose(tensor_with({2, 3}, DType::Float64, {1, 2, 3, 4, 5, 6}), 0, 1),
       requiring_grad(tensor_with({3, 2}, DType::Float64, {1, 2, 3, 4, 5, 6})), 2.5});
  for (size_t steps = 0; steps < 1000; ++steps) {
    const std::vector<ArgumentPlan> next = simplifications(schema, plan);
    if (next.empty()) break;
    for (const ArgumentPlan& p : next) CHECK(complexity(schema, p) < complexity(schema, plan));
    plan = next[0];
  }
  CHECK(call_text(schema, plan) == "aten::add.Tensor(float32[], float32[])");
}

TEST_CASE("a call is told in a line") {
  const Tensor x = tensor_with({2, 3}, DType::Float32, {1, 2, 3, 4, 5, 6});
  CHECK(
      call_text(
          schema_of("aten::add.Tensor"),
          ArgumentPlan::of({transpose(x, 0, 1), requiring_grad(view_of(x, {2}, {1}, 2)), 0.5})) ==
      "aten::add.Tensor(float32[3, 2] strides [1, 3] on memory 0, float32[2] offset 2 on memory 0 "
      "requiring a gradient, alpha=0.5)");
  CHECK(call_text(schema_of("aten::index.Tensor"),
                  ArgumentPlan::of({x, std::vector<std::optional<Tensor>>{std::nullopt, x}})) ==
        "aten::index.Tensor(float32[2, 3], [None, float32[2, 3]])");
}

}  // namespace
}  // namespace sb::internal
