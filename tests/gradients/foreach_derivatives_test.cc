// Derivatives of lists are those of their elements' operators.

#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using Tensors = std::vector<Tensor>;
using test::holds;
using test::tensor_of;

std::vector<IValue> run(const char* op, std::vector<IValue> arguments) {
  return default_dispatcher().find_op_or_throw(op).call(std::move(arguments));
}
Tensors listed(const char* op, std::vector<IValue> arguments) {
  const std::vector<IValue> results = run(op, std::move(arguments));
  const TensorList list = results[0].to_tensor_list();
  return Tensors(list.begin(), list.end());
}

Tensor leaf(std::vector<int64_t> sizes, const std::vector<double>& values) {
  const Tensor t = tensor_of(std::move(sizes), values, DType::Float64);
  set_requires_grad(t);
  return t;
}

TEST_CASE("gradients flow through lists of tensors of different shapes") {
  const Tensors self = {leaf({2}, {1, -2}), leaf({3}, {0.5, 4, -3})};
  const Tensors other = {leaf({}, {1.5}), leaf({3}, {2, -0.7, 1.1})};
  const Tensors all = {self[0], self[1], other[0], other[1]};
  for (const char* op : {"aten::_foreach_add.List", "aten::_foreach_mul.List",
                         "aten::_foreach_div.List", "aten::_foreach_maximum.List"}) {
    INFO(op);
    const DifferentiableFunction f = [op](const Tensors& in) {
      return listed(op, {Tensors{in[0], in[1]}, Tensors{in[2], in[3]}});
    };
    CHECK(gradcheck_report(f, all).to_string() == "");
    CHECK(gradgradcheck_report(f, all).to_string() == "");
  }
}

TEST_CASE("what an in-place call wrote has its gradient") {
  const Tensors leaves = {leaf({2}, {1, -0.5}), leaf({3}, {0.5, 4, -3})};
  const Tensors self = {mul_Scalar(leaves[0], 1), mul_Scalar(leaves[1], 1)};
  run("aten::_foreach_mul_.Scalar", {self, IValue(3.0)});
  run("aten::_foreach_add_.List",
      {self, Tensors{mul(leaves[0], leaves[0]), mul(leaves[1], leaves[1])}});
  backward({sum_all(self[0]), sum_all(self[1])});
  CHECK(holds(grad_of(leaves[0]), {3 + 2 * 1, 3 + 2 * -0.5}));
  CHECK(holds(grad_of(leaves[1]), {3 + 2 * 0.5, 3 + 2 * 4, 3 + 2 * -3}));
}

TEST_CASE("a leaf in a list is not written to while gradients are recorded") {
  const Tensor plain = tensor_of({1}, {1}, DType::Float64);
  const Tensors self = {plain, leaf({1}, {2})};
  CHECK_THROWS_AS(run("aten::_foreach_mul_.Scalar", {self, IValue(3.0)}), RuntimeError);
  CHECK(holds(plain, {1}));
  CHECK(plain.version() == 0);
}

TEST_CASE("an in-place call counts one write to each tensor, recorded or not") {
  const Tensors leaves = {leaf({2}, {1, 2}), leaf({1}, {3})};
  {
    const NoGradGuard off;
    run("aten::_foreach_mul_.Scalar", {leaves, IValue(2.0)});
    run("aten::_foreach_maximum_.List", {leaves, leaves});
  }
  for (const Tensor& t : leaves) CHECK(t.version() == 2);
  CHECK(holds(leaves[0], {2, 4}));
  CHECK(is_leaf(leaves[0]));
  const Tensor made = mul_Scalar(leaves[0], 1);
  run("aten::_foreach_mul_.Scalar", {Tensors{made}, IValue(2.0)});
  CHECK(made.version() == 1);
}

TEST_CASE("a write to a list is noticed by what saved an element") {
  const Tensors leaves = {leaf({2}, {1, 2})};
  const Tensor square = mul(leaves[0], leaves[0]);
  {
    const NoGradGuard off;
    run("aten::_foreach_add_.Scalar", {leaves, IValue(1.0)});
  }
  CHECK_THROWS_AS(backward(sum_all(square)), RuntimeError);
}

}  // namespace
}  // namespace sb
