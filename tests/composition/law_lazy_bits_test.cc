// What broke the law once with tensors that are lazily negated or conjugated. As law_test.cc.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/tests/composition/law.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"

namespace sb::composition {
namespace {

using Tensors = std::vector<Tensor>;
using Ints = std::vector<int64_t>;
using Stacks = std::vector<std::string_view>;

Tensor number(double x) { return tensor_with({}, DType::Float32, {x}); }
Tensors negated(const Tensor& t) { return call("aten::_neg_view", {t}); }
const Stacks kTraces = {"trace", "trace_symbols"};

TEST_CASE("What autograd derives through its kernel gets resolved what that would get resolved") {
  const auto lift = [](const Tensors& in) {
    const Tensor turned = negated(in[0])[0];
    call("aten::silu_", {call("aten::lift", {turned})[0]});
    return Tensors{turned};
  };
  CHECK(verdicts({"grad"}, lift, {number(1)}) == "passed");
  const auto lifted = [](const Tensors& in) {
    return call("aten::lift", {call("aten::matrix_H", {in[0]})[0]});
  };
  CHECK(verdicts({"custom, grad"}, lifted, {tensor_with({0, 0}, DType::Complex64, {})}) ==
        "passed");
  const auto dequantize = [](const Tensors& in) {
    return call("aten::dequantize.self", {negated(in[0])[0]});
  };
  CHECK(verdicts({"grad"}, dequantize,
                 {view_of(tensor_with({2}, DType::Float32, {0, 0}), {2, 2}, {1, 0})}) == "passed");
}

TEST_CASE("An operator made of others gets lazy tensors as they are, below autograd too") {
  const auto f = [](const Tensors& in) {
    const Tensor turned = call("aten::fft_ifft", {in[0]})[0];
    const Tensors views = call("aten::atleast_2d.Sequence", {Tensors{turned}});
    call("aten::arccos_", {turned});
    return views;
  };
  CHECK(verdicts({"custom", "trace"}, f, {tensor_with({1}, DType::Float32, {0})}) ==
        "passed, passed");
}

TEST_CASE("A function in a graph gets operands that are lazily negated where the program's is") {
  const auto sum = [](const Tensors& in) {
    return cond(
        call("aten::sum", {in[0]})[0], [](const Tensors& of) { return of; },
        [](const Tensors& of) {
          return call("aten::sum_to_size", {negated(of[0])[0], Ints{1, 2}});
        },
        {in[0]});
  };
  CHECK(
      verdicts(kTraces, sum, {view_of(tensor_with({2}, DType::Float32, {0, 0}), {1, 2}, {1, 1})}) ==
      "passed, passed");
  const auto resolve = [](const Tensors& in) {
    return cond(
        in[0], [](const Tensors& of) { return call("aten::resolve_neg", {of[0]}); },
        [](const Tensors& of) { return of; }, negated(in[0]));
  };
  CHECK(verdicts(kTraces, resolve, {number(1)}) == "passed, passed");
  const auto each = [](const Tensors& in) {
    return map(
        [](const Tensors& of) {
          call("aten::acosh_", {call("aten::resolve_neg", {of[1]})[0]});
          return Tensors{of[0]};
        },
        call("aten::broadcast_to", {in[0], Ints{1}}), negated(in[0]));
  };
  CHECK(verdicts(kTraces, each, {number(0)}) == "passed, passed");
}

TEST_CASE("A second gradient goes through the copy that resolves what a custom operator is given") {
  const auto f = [](const Tensors& in) {
    const Tensor turned = negated(in[0])[0];
    return cond(
        in[0],
        [&](const Tensors&) {
          return call("aten::mish", {call("composition::twice", {turned})[0]});
        },
        [&](const Tensors&) { return Tensors{turned}; }, {});
  };
  CHECK(verdicts({"grad, trace", "grad, trace_symbols"}, f, {number(1)}) == "passed, passed");
}

TEST_CASE("A lazily conjugated out that gets another shape gets it in a graph") {
  const auto f = [](const Tensors& in) {
    const Tensor out = call("aten::conj", {in[1]})[0];
    return call("aten::threshold_backward.grad_input", {in[0], in[0], 0}, {{"grad_input", out}});
  };
  CHECK(verdicts(kTraces, f, {number(0), tensor_with({2}, DType::Complex64, {0, 1})}) ==
        "passed, passed");
}

TEST_CASE("A gradient of branches goes to what was given, whether it is negated or not") {
  const auto f = [](const Tensors& in) {
    return cond(
        in[0],
        [](const Tensors& of) {
          return Tensors{of[1], of[1]};
        },
        [&](const Tensors& of) {
          return Tensors{in[1], of[1]};
        },
        {in[0], negated(in[1])[0]});
  };
  CHECK(verdicts({"trace, grad", "grad, trace"}, f,
                 {number(0), view_of(tensor_with({3}, DType::Float32, {-1, 2, -0.75}), {2, 2},
                                     {1, 1})}) == "passed, passed");
}

}  // namespace
}  // namespace sb::composition
