// What broke the law once, with what autograd saves. As law_test.cc.

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/tests/composition/judge.h"
#include "switchboard/tests/composition/law.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::composition {
namespace {

using Tensors = std::vector<Tensor>;
using Stacks = std::vector<std::string_view>;

Tensor number(double x) { return tensor_with({}, DType::Float32, {x}); }
const Stacks kGradOutside = {"functionalize, grad", "functional_mode, grad"};

TEST_CASE("An operator that is derived by its result in place is so under functionalisation") {
  // Where its elements are 0, their signs do not tell what those of its input were.
  const auto elu = [](const Tensors& in) {
    call("aten::elu_", {in[0], 1, 0});
    return call("aten::remainder.Scalar_Tensor", {0.0, in[0]});
  };
  const Tensor x = tensor_with({3}, DType::Float32, {1, 0, -2});
  CHECK(verdicts(kGradOutside, elu, {x}) == "passed, passed");
  CHECK(verdicts({"grad, functionalize", "functionalize, trace, grad"}, elu, {x}) ==
        "passed, passed");
  const auto selu = [](const Tensors& in) {
    const Tensor nan = call("aten::special_xlogy.other_scalar", {in[0], -1})[0];
    return call("aten::selu_", {nan});
  };
  CHECK(verdicts(kGradOutside, selu, {number(1)}) == "passed, passed");
}

TEST_CASE("A second gradient goes through what detach_ has taken out of the graph since") {
  const Tensor leaf = number(3);
  set_requires_grad(leaf);
  const Tensor x = call("aten::mul.Scalar", {leaf, 2})[0];
  const Tensor square = call("aten::mul.Tensor", {x, x})[0];
  call("aten::detach_", {x});
  const Tensor constant = call("aten::mul.Tensor", {x, leaf})[0];

  const Tensor first = grad({square}, {leaf}, {}, {.create_graph = true})[0];
  CHECK(item(first).to<double>() == 24);  // 8 leaf
  CHECK(item(grad({first}, {leaf})[0]).to<double>() == 8);
  // What is recorded later takes it for a number.
  CHECK(item(grad({constant}, {leaf})[0]).to<double>() == 6);
}

TEST_CASE("A view of what detach_ takes out of its graph keeps its gradient, or that is refused") {
  const auto f = [](const Tensors& in) {
    call("aten::tanh_", {in[0]});
    const Tensor view = call("aten::movedim.int", {in[0], 0, 0})[0];
    call("aten::detach_", {in[0]});
    return Tensors{view};
  };
  CHECK(verdicts({"functional_mode, grad", "functionalize, grad", "grad, functionalize"}, f,
                 {number(0)}) == "refused by aten::detach_, refused by aten::detach_, passed");
}

TEST_CASE("A write by another dtype to memory with a gradient is refused under functionalisation") {
  const auto f = [](const Tensors& in) {
    call("aten::set_.source_Tensor", {in[1], in[0]});
    call("aten::gt_.Tensor", {in[1], in[1]});
    return Tensors{};
  };
  CHECK(verdicts(kGradOutside, f, {number(0), tensor_with({}, DType::Bool, {0})}) ==
        "refused by aten::set_.source_Tensor, refused by aten::set_.source_Tensor");
}

TEST_CASE("Loops in a graph save what detach_ takes out of its graph as operators do") {
  const auto f = [](const Tensors& in) {
    const Tensors carried = while_loop(
        [](const Tensors& now) {
          return call("aten::lt.Scalar", {now[0], 0});
        },
        [](const Tensors& now) {
          return Tensors{call("aten::add.Scalar", {now[0], 1})[0], now[0],
                         call("aten::hardswish_backward", {now[2], now[2]})[0]};
        },
        {in[0], in[0], in[0]});
    call("aten::detach_", {in[0]});
    return Tensors{carried[2]};
  };
  CHECK(verdicts({"grad, trace", "trace, grad"}, f, {number(-1)}) == "passed, passed");
  const auto divides = [](const Tensors& in) {
    const Tensor three = call("composition::triple", {in[0]})[0];
    call("aten::_foreach_div_.List", {Tensors{in[0]}, Tensors{three}});
    call("aten::detach_", {three});
    return Tensors{};
  };
  CHECK(verdicts({"grad", "functionalize, grad", "functional_mode, grad, trace"}, divides,
                 {number(0)}) == "passed, passed, passed");
}

TEST_CASE("A write to a view that no schema declares, of what is read too, is refused") {
  const auto f = [](const Tensors& in) {
    const Tensor logs = call("aten::log10", {in[0]})[0];
    const Tensor part = call("aten::unsafe_split.Tensor", {logs, 2})[0];
    return call("aten::addcmul_", {part, in[0], logs});
  };
  const Stack inputs{tensor_with({2, 2}, DType::Float32, {1, 2, 0.5, 4})};
  for (const std::string_view layers : kGradOutside) {
    const Verdict v = Judge(f, internal::ArgumentPlan::of(inputs)).judge(parse_stack(layers));
    CHECK(v.kind == Verdict::Kind::Refused);
    CHECK(v.op == "aten::addcmul_");
  }
  // Without gradients nobody saves it.
  CHECK(verdicts({"functionalize", "functional_mode"}, f, {inputs[0].to_tensor()}) ==
        "passed, passed");
}

TEST_CASE("Where a write has made a gradient no number, a program without writes may have one") {
  // The one that is written to has its own memory, of which another input is a view.
  const auto compares = [](const Tensors& in) {
    call("aten::le_.Scalar", {in[0], 0});
    return call("aten::_foreach_pow.List", {Tensors{in[1]}, Tensors{in[0]}});
  };
  const Tensor memory = tensor_with({1}, DType::Float32, {0});
  CHECK(verdicts(kGradOutside, compares,
                 {view_of(memory, {}, {}), number(0), view_of(memory, {}, {})}) ==
        "passed, passed");
}

TEST_CASE("What is left of gradients that cancel is judged by the digits of these") {
  const auto f = [](const Tensors& in) {
    const Tensor square = call("aten::multiply.Tensor", {in[0], in[0]})[0];
    return call("aten::binary_cross_entropy_backward", {in[0], square, in[0], in[0]});
  };
  CHECK(verdicts({"custom, grad", "functionalize, custom, grad"}, f, {number(2)}) ==
        "passed, passed");
}

TEST_CASE("A function that captured a tensor derives by it as it was, whatever detach_ did since") {
  const Tensor x = tensor_with({}, DType::Float32, {1});
  const auto captured = [](const Tensors& in) {
    const Tensors results = cond(
        in[0], [&](const Tensors&) { return call("aten::clone", {in[0]}); },
        [&](const Tensors&) { return call("aten::neg", {in[0]}); }, {});
    call("aten::detach_", {in[0]});
    return results;
  };
  CHECK(verdicts({"grad", "grad, trace", "grad, fake"}, captured, {x}) == "passed, passed, passed");
}

TEST_CASE("detach_ of what a graph's branch hands on is refused: it may be two tensors there") {
  const Tensor x = tensor_with({}, DType::Float32, {1});
  const auto f = [](const Tensors& in) {
    const auto same = [](const Tensors& now) { return Tensors{now[0]}; };
    const Tensors results = cond(in[0], same, same, {in[0]});
    call("aten::detach_", {in[0]});
    return results;
  };
  CHECK(verdicts({"grad, trace"}, f, {x}) == "refused by aten::detach_");
}

TEST_CASE("What a scan carries in the end has a gradient only if the last step gave it one") {
  const auto f = [](const Tensors& in) {
    const Tensors results = scan(
        [](const Tensors& now) {
          const Tensor zeros = call("aten::zeros_like", {now[0]})[0];
          return Tensors{zeros, zeros};
        },
        {in[0]}, {in[0]});
    const Tensor row = call("aten::unbind.int", {results[1]})[0];
    call("aten::copy_", {row, results[0]});
    return Tensors{};
  };
  CHECK(verdicts({"grad", "grad, fake", "grad, trace"}, f,
                 {tensor_with({1}, DType::Float32, {0})}) == "passed, passed, passed");
}

TEST_CASE(
    "A graph gives what was detached, and written to since, and not what it was detached from") {
  const auto f = [](const Tensors& in) {
    const Tensor apart = call("aten::detach", {in[0]})[0];
    call("composition::add_to", {apart, in[0]});
    return Tensors{apart};
  };
  CHECK(verdicts({"trace, grad", "trace_symbols, grad", "grad, trace"}, f, {number(0)}) ==
        "does not apply, does not apply, does not apply");
}

TEST_CASE("A write to complex memory, as it lies, has the gradient of the real tensor that it is") {
  const auto f = [](const Tensors& in) {
    const Tensor view = call("aten::view_as_complex", {in[0]})[0];
    const std::vector<int64_t> size{1}, stride{0};
    call("aten::neg_", {call("aten::_reshape_alias", {view, size, stride})[0]});
    return Tensors{};
  };
  CHECK(verdicts(kGradOutside, f, {tensor_with({2}, DType::Float32, {0, 0})}) == "passed, passed");
}

}  // namespace
}  // namespace sb::composition
