#include <functional>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/composite/shape.h"
#include "switchboard/ops/composite/split.h"
#include "switchboard/ops/composite/stack.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using Tensors = std::vector<Tensor>;
using test::tensor_of;

Tensor leaf(std::vector<int64_t> sizes) {
  int64_t numel = 1;
  for (int64_t size : sizes) numel *= size;
  std::vector<double> values;
  for (int64_t i = 0; i < numel; ++i) values.push_back(0.5 * static_cast<double>(i) - 1.3);
  const Tensor t = tensor_of(std::move(sizes), values, DType::Float64);
  set_requires_grad(t);
  return t;
}

// Of the squares, so that there is a second derivative.
void check(const std::function<Tensors(const Tensors&)>& f, const Tensors& inputs) {
  const DifferentiableFunction squares = [&](const Tensors& in) {
    Tensors results = f(in);
    for (Tensor& t : results) t = mul(t, t);
    return results;
  };
  CHECK(gradcheck_report(squares, inputs).to_string() == "");
  CHECK(gradgradcheck_report(squares, inputs).to_string() == "");
}

Tensors run(const char* op, std::vector<IValue> arguments) {
  const std::vector<IValue> results =
      default_dispatcher().find_op_or_throw(op).call(std::move(arguments));
  if (results[0].is_Tensor()) return {results[0].to_tensor()};
  const TensorList list = results[0].to_tensor_list();
  return Tensors(list.begin(), list.end());
}

TEST_CASE("blocks of a diagonal get their parts") {
  check([](const Tensors& in) { return Tensors{block_diag(in)}; },
        {leaf({2, 3}), leaf({2}), leaf({}), leaf({0}), leaf({1, 1})});
}

TEST_CASE("unsafe parts are derived, those that are not used as zeros") {
  check([](const Tensors& in) { return unsafe_split(in[0], 2, -1); }, {leaf({2, 5})});
  check([](const Tensors& in) { return Tensors{unsafe_split(in[0], 2, 1)[2]}; }, {leaf({2, 5})});
  check(
      [](const Tensors& in) {
        return unsafe_split_with_sizes(in[0], {1, 0, 4}, 1);
      },
      {leaf({2, 5})});
  check(
      [](const Tensors& in) {
        return Tensors{unsafe_split_with_sizes(in[0], {1, 4}, -1)[1]};
      },
      {leaf({2, 5})});
  check([](const Tensors& in) { return unsafe_chunk(in[0], 3, 0); }, {leaf({4, 2})});
}

TEST_CASE("what is composed of operators has their derivatives") {
  check([](const Tensors& in) { return Tensors{pixel_shuffle(in[0], 2)}; }, {leaf({1, 4, 1, 2})});
  check([](const Tensors& in) { return Tensors{pixel_unshuffle(in[0], 2)}; }, {leaf({1, 2, 4})});
  check([](const Tensors& in) { return Tensors{_stack(in, 1)}; }, {leaf({2}), leaf({2})});
  check([](const Tensors& in) { return Tensors{cartesian_prod(in)}; }, {leaf({2}), leaf({3})});
  check([](const Tensors& in) { return Tensors{column_stack(in)}; }, {leaf({2}), leaf({2, 3})});
  check([](const Tensors& in) { return Tensors{tile(in[0], {2, 2})}; }, {leaf({3})});
}

TEST_CASE("copies of views have the views' derivatives, and detach_copy has none") {
  check(
      [](const Tensors& in) {
        return run("aten::select_copy.int", {in[0], 1, 0});
      },
      {leaf({2, 3})});
  check(
      [](const Tensors& in) {
        return run("aten::split_copy.Tensor", {in[0], 2, 0});
      },
      {leaf({3})});
  check(
      [](const Tensors& in) {
        return run("aten::narrow_copy", {in[0], 1, 1, 2});
      },
      {leaf({2, 4})});
  check(
      [](const Tensors& in) {
        return run("aten::narrow_copy", {in[0], -1, -2, 2});
      },
      {leaf({2, 4})});
  check([](const Tensors& in) { return run("aten::lift_fresh_copy", {in[0]}); }, {leaf({3})});
  check([](const Tensors& in) { return run("aten::lift_fresh", {in[0]}); }, {leaf({3})});
  check([](const Tensors& in) { return run("aten::lift", {in[0]}); }, {leaf({3})});
  CHECK_FALSE(requires_grad(run("aten::detach_copy", {leaf({3})})[0]));
}

}  // namespace
}  // namespace sb
