// What broke the law once, with gradients or in the memory around what a function is given. As
// law_test.cc.

#include "catch2/catch.hpp"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/tests/composition/law.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/scan.h"

namespace sb::composition {
namespace {

using Tensors = std::vector<Tensor>;
using Stacks = std::vector<std::string_view>;

Tensor number(double x) { return tensor_with({}, DType::Float32, {x}); }
// "" where no stack breaks the law.
std::string broken(const Stacks& stacks, const TensorFunction& f, const Tensors& inputs) {
  std::string text;
  for (std::string_view layers : stacks)
    if (const std::string message = broken_by(layers, f, inputs); !message.empty())
      text += std::string(layers) + ": " + message + "\n";
  return text;
}
const Stacks kFunctional = {"functionalize", "functional_mode", "functionalize, trace"};
const Stacks kGradOutside = {"functionalize, grad", "functional_mode, grad"};

TEST_CASE("A comparison in place has its gradient of zeros under functionalisation") {
  // What has none itself is compared with what has one, or with what is infinite.
  for (const char* op : {"aten::gt_.Tensor", "aten::le_.Tensor", "aten::not_equal_.Tensor"}) {
    const auto fresh = [&](const Tensors& in) {
      return call(op, {call("aten::detach", {in[0]})[0], in[0]});
    };
    const auto with_nan = [&](const Tensors& in) {
      const Tensor nan = call("aten::div.Tensor", {in[0], in[0]})[0];
      return call(op, {call("aten::clone", {in[0]})[0], nan});
    };
    CHECK(broken(kGradOutside, fresh, {number(0)}) == "");
    CHECK(broken(kGradOutside, with_nan, {number(0)}) == "");
  }
}

TEST_CASE("A write to a view of the same dtype, which autograd does not know, has its gradient") {
  const auto f = [](const Tensors& in) {
    const Tensor view = call("aten::view.dtype", {in[0], DType::Float32})[0];
    return call("aten::add_.Tensor", {view, in[0]});
  };
  CHECK(broken(kGradOutside, f, {number(2)}) == "");
}

TEST_CASE("Branches that give one of two operands that are one tensor give that tensor") {
  const auto f = [](const Tensors& in) {
    const auto first = [](const Tensors& of) { return Tensors{of[0]}; };
    const auto second = [](const Tensors& of) { return Tensors{of[1]}; };
    return cond(in[0], first, second, {in[0], in[0]});
  };
  CHECK(broken(kFunctional, f, {number(0)}) == "");
}

TEST_CASE("A view without elements that lies behind its memory is an operand in a trace") {
  const auto f = [](const Tensors& in) {
    const Tensors parts = call("aten::hsplit.array", {in[0], std::vector<int64_t>{1}});
    const auto same = [](const Tensors& of) { return Tensors{of[0]}; };
    return cond(in[0], same, same, {in[0], parts[1]});
  };
  CHECK(broken({"trace", "functionalize, trace", "grad, trace"}, f,
               {tensor_with({1}, DType::Float32, {0})}) == "");
}

TEST_CASE("A gradient that does not come to a trip of a loop is not zeros there") {
  const Tensors inputs = {number(0), tensor_with({2}, DType::Float32, {1, 2})};
  const Stacks layers = {"grad, trace", "trace, grad"};
  // To the last step comes nothing in the second pass,
  const auto last = [](const Tensors& in) {
    const auto log = [](const Tensors& of) { return call("aten::log2", {of[0]}); };
    return scan(log, {in[0]}, {call("aten::slice.Tensor", {in[1], 0, 0, 1})[0]});
  };
  CHECK(broken(layers, last, inputs) == "");
  // or to the last one alone,
  const auto captured = [](const Tensors& in) {
    const auto psi = [&](const Tensors&) { return call("aten::special_psi", {in[0]}); };
    return scan(psi, {in[0]}, {in[1]});
  };
  CHECK(broken(layers, captured, inputs) == "");
}

TEST_CASE("A tensor that comes twice to a traced kernel is one tensor in its backward") {
  const auto f = [](const Tensors& in) { return call("composition::product", {in[0], in[1]}); };
  const Tensor x = number(3);
  CHECK(broken({"trace, custom, grad", "custom, grad"}, f, {x, x}) == "");
}

TEST_CASE("Complex numbers have the gradient of logcumsumexp") {
  const auto f = [](const Tensors& in) { return call("aten::logcumsumexp", {in[0], 0}); };
  for (const DType dtype : {DType::Float64, DType::Complex128})
    CHECK(broken({"grad", "grad, trace", "functionalize, grad"}, f,
                 {tensor_with({3}, dtype, {0.5, -1, 2})}) == "");
}

TEST_CASE("A power of bools is refused by the out= form as by the other") {
  const auto f = [](const Tensors& in) {
    return call("aten::pow.Scalar_out", {true, in[0]}, {{"out", in[0]}});
  };
  CHECK(broken(kFunctional, f, {tensor_with({}, DType::Bool, {0})}) == "");
}

TEST_CASE("A graph whose shapes do not fit says which operator") {
  const auto f = [](const Tensors& in) {
    const Tensor where = call("aten::nonzero", {in[0]})[0];
    return call("aten::view", {where, std::vector<int64_t>{where.size(0)}});
  };
  const Tensor memory = tensor_with({3}, DType::Float32, {1, 0, 0});
  CHECK(broken({"trace"}, f, {memory}) == "");
}

}  // namespace
}  // namespace sb::composition
