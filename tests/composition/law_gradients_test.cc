// What broke the law once, with gradients or in the memory around what a function is given. As
// law_test.cc.

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/tests/composition/law.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::composition {
namespace {

using Tensors = std::vector<Tensor>;
using Stacks = std::vector<std::string_view>;

Tensor number(double x) { return tensor_with({}, DType::Float32, {x}); }
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

TEST_CASE("detach_ takes an input off its graph, and not the views that were made of it before") {
  const auto f = [](const Tensors& in) {
    const Tensors view = call("aten::unflatten.int", {in[0], 0, std::vector<int64_t>{1}});
    call("aten::detach_", {in[0]});
    return view;
  };
  CHECK(broken(kGradOutside, f, {tensor_with({1}, DType::Float32, {0})}) == "");
}

TEST_CASE("A write to a view of which no schema speaks leaves what it views its gradient") {
  const auto f = [](const Tensors& in) {
    const Tensors view = call("aten::_unsafe_view", {in[0], std::vector<int64_t>{2, 2}});
    call("aten::log10_", {view[0]});
    return Tensors{};
  };
  CHECK(broken(kGradOutside, f, {tensor_with({2, 2}, DType::Float32, {0, 0, 0, 0})}) == "");
}

TEST_CASE(
    "Branches that give one tensor, as an operand and as what they captured, give that tensor") {
  const auto captured = [](const Tensors& in) {
    const auto itself = [&](const Tensors&) { return Tensors{in[0]}; };
    const auto operand = [](const Tensors& of) { return Tensors{of[0]}; };
    return cond(in[0], itself, operand, {in[0]});
  };
  const auto viewed = [](const Tensors& in) {
    const auto itself = [&](const Tensors&) { return Tensors{in[0]}; };
    const auto view = [&](const Tensors&) { return call("aten::squeeze", {in[0]}); };
    return cond(in[0], itself, view, {});
  };
  for (const double pred : {0, 1}) {
    CHECK(broken(kFunctional, captured, {number(pred)}) == "");
    CHECK(broken(kFunctional, viewed, {number(pred)}) == "");
  }
}

TEST_CASE("Where only the data tell whether a result is an input, functionalisation says so") {
  const auto f = [](const Tensors& in) {
    const auto other = [](const Tensors& of) { return call("aten::asin", {of[0]}); };
    const auto itself = [](const Tensors& of) { return Tensors{of[0]}; };
    return cond(in[0], other, itself, {in[0]});
  };
  CHECK(broken(kFunctional, f, {number(0)}) == "");
  CHECK_THROWS_WITH(trace(functionalize(f), {number(0)}),
                    Catch::Contains("only the data tell") && Catch::Contains("return a clone"));
}

TEST_CASE("A list whose tensors do not all require a gradient has that of those that do") {
  const auto f = [](const Tensors& in) {
    return call("aten::_foreach_round", {Tensors{call("aten::detach", {in[0]})[0], in[0]}});
  };
  CHECK(broken({"grad", "trace, grad"}, f, {number(1.5)}) == "");
  const Tensor x = number(2);
  set_requires_grad(x);
  const Tensors half = call("aten::_foreach_reciprocal", {Tensors{x, number(2)}});
  CHECK_FALSE(requires_grad(half[1]));
  backward(call("aten::add.Tensor", {half[0], half[1]})[0]);
  CHECK(item(grad_of(x)).to<double>() == -0.25);
}

TEST_CASE("What embedding_dense_backward leaves out has a gradient of zeros") {
  const auto f = [](const Tensors& in) {
    return call("aten::embedding_dense_backward", {in[0], in[1], 2, -1, true});
  };
  const Tensor rows = tensor_with({3, 1}, DType::Float32, {1, 2, 3});
  for (const double outside : {2, -1}) {
    const Tensor places = tensor_with({3}, DType::Int64, {1, outside, 1});
    CHECK(broken({"grad", "functionalize, grad", "trace, grad"}, f, {rows, places}) == "");
  }
  const Tensor x = tensor_with({3, 1}, DType::Float32, {1, 2, 3});
  set_requires_grad(x);
  backward(call("aten::sum", {f({x, tensor_with({3}, DType::Int64, {1, 2, 1})})[0]})[0]);
  const Tensor grad = grad_of(x);
  CHECK(std::vector<float>(grad.data<float>(), grad.data<float>() + 3) ==
        std::vector<float>{0.5, 0, 0.5});
}

TEST_CASE("A graph's function that does not run with the data says whose error its operator's is") {
  const auto f = [](const Tensors& in) {
    const auto never = [](const Tensors& of) { return call("aten::lt.Scalar", {of[0], 0}); };
    const auto body = [](const Tensors& of) {
      return call("aten::_weight_norm_interface_backward", {of[0], of[0], of[0], of[0], 0});
    };
    return while_loop(never, body, {in[0]});
  };
  const Tensor x = tensor_with({1}, DType::Float32, {0});
  CHECK(broken({"trace"}, f, {x}) == "");
}

// Zeros times an infinite derivative would be NaN.
TEST_CASE("The gradient of a loop's result is none of its earlier trips'") {
  const auto f = [](const Tensors& in) {
    const Tensor zero = call("aten::zeros", {std::vector<int64_t>{}})[0];
    const auto goes_on = [](const Tensors& c) { return call("aten::lt.Scalar", {c[0], 2}); };
    const auto body = [&](const Tensors& c) {
      return Tensors{call("aten::add.Scalar", {c[0], 1})[0], call("aten::erfinv", {in[0]})[0]};
    };
    return Tensors{while_loop(goes_on, body, {zero, in[0]})[1]};
  };
  CHECK(broken({"trace, grad", "grad, trace"}, f, {number(1)}) == "");
}

TEST_CASE("What no gradient reaches, by what the data say, is not derived") {
  const auto asin = [](const Tensor& x) { return call("aten::asin", {x})[0]; };
  const auto branch = [&](const Tensors& in) {
    const Tensor y = asin(in[0]);
    return cond(
        in[0], [&] { return Tensors{in[0]}; }, [&] { return Tensors{y}; });
  };
  // The first of several results of one operator comes, the other does not.
  const auto of_several = [&](const Tensors& in) {
    const Tensors both = call("aten::_foreach_asin", {Tensors{in[0], in[0]}});
    return cond(
        in[0], [&] { return Tensors{both[1]}; }, [&] { return Tensors{both[0]}; });
  };
  const auto unused = [&](const Tensors& in) {
    const auto step = [&](const Tensors&) { return Tensors{in[0]}; };
    return scan(step, {asin(in[0])}, {in[0]});
  };
  // After one trip what each began with has changed places.
  const auto in_turn = [&](const Tensors& in) {
    const Tensor zero = call("aten::zeros", {std::vector<int64_t>{}})[0];
    const auto goes_on = [](const Tensors& c) { return call("aten::lt.Scalar", {c[0], 1}); };
    const auto body = [](const Tensors& c) {
      return Tensors{call("aten::add.Scalar", {c[0], 1})[0], c[2], c[1]};
    };
    return Tensors{while_loop(goes_on, body, {zero, asin(in[0]), in[0]})[1]};
  };
  for (const TensorFunction& f :
       {TensorFunction(branch), TensorFunction(of_several), TensorFunction(in_turn)})
    CHECK(broken({"grad, trace"}, f, {number(1)}) == "");
  CHECK(broken({"grad, trace"}, unused, {tensor_with({1}, DType::Float32, {1})}) == "");
}

TEST_CASE("A view by strides has the gradient of what lies at its places") {
  const auto view = [](const char* op, std::vector<int64_t> sizes, std::vector<int64_t> strides) {
    return [=](const Tensors& in) {
      call("aten::log2_", {in[0]});
      return call(op, {in[0], sizes, strides});
    };
  };
  const Tensor x = tensor_with({4}, DType::Float32, {1, 2, 3, 4});
  for (const char* op : {"aten::_reshape_alias", "aten::as_strided"}) {
    CHECK(broken(kGradOutside, view(op, {4}, {0}), {x}) == "");
    CHECK(broken(kGradOutside, view(op, {2, 2}, {2, 1}), {x}) == "");
    CHECK(broken(kGradOutside, view(op, {2, 3}, {1, 1}), {x}) == "");
  }
}

TEST_CASE("A view that reaches beyond the view it is made of has the gradient of the memory") {
  const auto f = [](const Tensors& in) {
    const Tensor far =
        call("aten::_reshape_alias", {in[1], std::vector<int64_t>{4}, std::vector<int64_t>{4}})[0];
    return call("aten::sin_", {far});
  };
  const Tensor memory =
      tensor_with({16}, DType::Float32, {1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2});
  const Tensors inputs{view_of(memory, {4, 4}, {4, 1}), view_of(memory, {4}, {1})};
  CHECK(broken(kGradOutside, f, inputs) == "");

  const Tensor x = tensor_with({4}, DType::Float64, {1, 2, 3, 4});
  set_requires_grad(x);
  const Tensor y = call("aten::clone", {x})[0];
  const Tensor first = call("aten::slice.Tensor", {y, 0, 0, 2})[0];
  const Tensor every =
      call("aten::as_strided", {first, std::vector<int64_t>{2}, std::vector<int64_t>{3}})[0];
  CHECK(equal(grad({every}, {x}, {tensor_with({2}, DType::Float64, {5, 7})})[0],
              tensor_with({4}, DType::Float64, {5, 0, 0, 7})));
}

TEST_CASE("A view that gets other memory leaves its base as it is") {
  const auto f = [](const Tensors& in) {
    call("aten::set_.source_Tensor", {in[1], in[2]});
    return call("aten::rsqrt_", {in[1]});
  };
  const Tensor memory = tensor_with({3}, DType::Float32, {1, 2, 3});
  const Tensors inputs{view_of(memory, {3}, {1}), view_of(memory, {}, {}), number(2)};
  CHECK(broken({"grad", "functionalize, grad", "functional_mode, grad"}, f, inputs) == "");

  const Tensor x = tensor_with({3}, DType::Float32, {1, 2, 3});
  set_requires_grad(x);
  const Tensor y = call("aten::clone", {x})[0];
  call("aten::set_.source_Tensor", {call("aten::select.int", {y, 0, 1})[0], number(2)});
  CHECK(equal(grad({y}, {x}, {ones({3})})[0], ones({3})));
}

TEST_CASE("Memory that set_ has shared may be written to where no gradient would miss it") {
  for (const char* given : {"aten::set.source_Tensor", "aten::set_.source_Tensor"}) {
    const auto f = [given](const Tensors& in) {
      const Tensor other = call("aten::clone", {in[0]})[0];
      const Tensor alias = call(given, {other, in[0]})[0];
      call("aten::rsqrt_", {alias});
      return Tensors{};
    };
    CHECK(broken({"grad", "functionalize, grad", "functional_mode, grad", "grad, trace"}, f,
                 {number(0)}) == "");
    CHECK(broken(kFunctional, f, {number(2)}) == "");
  }
}

TEST_CASE("An input gets the memory of another that is given other memory itself") {
  const auto f = [](const Tensors& in) {
    call("aten::set_.source_Tensor", {in[1], in[0]});
    call("aten::set_", {in[0]});
    return Tensors{};
  };
  const Tensor memory = tensor_with({4}, DType::Float32, {0, 0, 0, 0});
  CHECK(broken({"functionalize", "functional_mode"}, f, {view_of(memory, {}, {}), number(0)}) ==
        "");
}

TEST_CASE("What detach_ takes from a tensor its views lose when they are made again") {
  const auto f = [](const Tensors& in) {
    const Tensors views = call("aten::tensor_split.indices", {in[0], std::vector<int64_t>{0}});
    call("aten::detach_", {in[0]});
    call("aten::div_.Tensor", {in[0], in[0]});
    return Tensors{views[1]};
  };
  CHECK(broken(kGradOutside, f, {tensor_with({1}, DType::Float32, {2})}) == "");
  const auto unwritten = [](const Tensors& in) {
    const Tensor view = call("aten::select.int", {in[0], 0, 0})[0];
    call("aten::detach_", {in[0]});
    return Tensors{view};
  };
  CHECK(broken(kGradOutside, unwritten, {tensor_with({1}, DType::Float32, {2})}) == "");
}

TEST_CASE("A custom view may have elements that the tensor it views has not") {
  const auto f = [](const Tensors& in) {
    const Tensors view = call("composition::diagonal_of_two", {in[0]});
    call("aten::_foreach_tanh_", {view});
    return Tensors{};
  };
  const Tensor memory = tensor_with({1}, DType::Float32, {1});
  CHECK(broken(kFunctional, f, {view_of(memory, {1, 2, 0}, {1, 1, 2})}) == "");
}

TEST_CASE("A gradient passes by all of an input's memory into a custom operator") {
  const auto f = [](const Tensors& in) {
    const Tensor half = call("composition::first_half", {in[0]})[0];
    const Tensor all =
        call("aten::as_strided", {half, std::vector<int64_t>{2}, std::vector<int64_t>{1}})[0];
    return call("aten::clone", {all});
  };
  CHECK(broken({"custom, grad"}, f, {tensor_with({2}, DType::Float32, {0, 0})}) == "");
}

TEST_CASE("What autograd takes for a tensor of its own keeps its gradient after writes") {
  const auto f = [](const Tensors& in) {
    call("aten::log2_", {in[0]});
    return call("aten::unsafe_split.Tensor", {in[0], 1});
  };
  CHECK(broken(kGradOutside, f, {tensor_with({1}, DType::Float32, {2})}) == "");
}

TEST_CASE("A Function of what a branch has captured is refused where its gradient would be lost") {
  const auto f = [](const Tensors& in) {
    const auto branch = [&] { return call("composition::triple", {in[0]}); };
    return cond(in[0], branch, branch);
  };
  CHECK(broken({"grad, functionalize, trace", "grad, functional_mode, trace"}, f, {number(1)}) ==
        "");
}

TEST_CASE(
    "What does not come to a branch or a loop is no zero in a gradient's gradient, in a graph") {
  const auto loop = [](const Tensors& in) {
    const Tensor infinite = call("aten::special_polygamma", {0, in[0]})[0];
    const Tensors carried = while_loop(
        [](const Tensors& now) {
          return call("aten::lt.Scalar", {now[0], 1});
        },
        [](const Tensors& now) {
          return Tensors{call("aten::add.Scalar", {now[0], 1})[0], now[0], now[0]};
        },
        {in[0], infinite, in[0]});
    return Tensors{carried[1]};
  };
  CHECK(broken({"grad, trace", "body, grad, trace"}, loop, {number(0)}) == "");
  const auto steps = [](const Tensors& in) {
    const Tensor power = call("aten::pow.Tensor_Scalar", {in[0], 2.5})[0];
    return scan([&](const Tensors&) { return call("aten::special_bessel_y1", {power}); }, {power},
                {in[0]});
  };
  CHECK(broken({"grad, trace", "body, grad, trace"}, steps,
               {tensor_with({1}, DType::Float32, {-2})}) == "");
}

TEST_CASE("A gradient that one of several views has lost is an error that names who wrote") {
  const auto f = [](const Tensors& in) {
    const Tensor zero = call("aten::zeros_like", {in[0]})[0];
    const Tensors views = call("aten::split.Tensor", {zero, 1});
    call("aten::_foreach_add_.List", {Tensors{zero}, Tensors{in[0]}});
    return Tensors{views[0]};
  };
  CHECK(broken({"grad"}, f, {tensor_with({1}, DType::Float32, {1})}) == "");
}

TEST_CASE("A loop in a loop that does not go round gives no gradient, in a graph") {
  const auto f = [](const Tensors& in) {
    const auto body = [&](const Tensors& outer) {
      const Tensors inner = while_loop(
          [](const Tensors& now) {
            return call("aten::lt.Scalar", {now[0], 0});
          },
          [](const Tensors& now) {
            return Tensors{now[0], now[1], now[1]};
          },
          {outer[0], outer[1], in[0]});
      return Tensors{call("aten::add.Scalar", {outer[0], 1})[0], call("aten::asin", {inner[2]})[0]};
    };
    const Tensors carried = while_loop(
        [](const Tensors& now) {
          return call("aten::lt.Scalar", {now[0], 2});
        },
        body, {call("aten::full", {std::vector<int64_t>{}, 0})[0], in[0]});
    return Tensors{carried[1]};
  };
  const auto gradient = [&](const Tensors& in) {
    const Tensor x = call("aten::detach", {in[0]})[0];
    set_requires_grad(x);
    return grad(f({x}), {x}, {}, {.allow_unused = true});
  };
  CHECK(broken({"trace"}, gradient, {number(1)}) == "");
}

TEST_CASE("Parts of a gradient of complex singular vectors add up to that of the whole") {
  const auto f = [](const Tensors& in) {
    const Tensor count = call("aten::full", {std::vector<int64_t>{}, 0})[0];
    const Tensors last = while_loop(
        [](const Tensors& of) {
          return call("aten::lt.Scalar", {of[0], 1});
        },
        [](const Tensors& of) {
          return Tensors{call("aten::add.Scalar", {of[0], 1})[0],
                         call("aten::linalg_svd", {of[1]})[0]};
        },
        {count, in[0]});
    return call("aten::abs", {last[1]});
  };
  CHECK(verdicts({"grad, trace"}, f,
                 {tensor_with({2, 2}, DType::Complex128,
                              {{-1, -0.5}, {-1, 1}, {0.75, -1}, {2.25, 1}})}) == "passed");
}

TEST_CASE(
    "A gradient of a write through a view of what has another shape since is refused by name") {
  const auto f = [](const Tensors& in) {
    const Tensor view = call("aten::moveaxis.int", {in[0], 0, 0})[0];
    const std::vector<int64_t> none{0, 0};
    call("aten::as_strided_", {in[0], none, none});
    call("aten::square_", {view});
    return Tensors{};
  };
  CHECK(verdicts({"grad"}, f, {number(0)}) == "refused by aten::pow_.Scalar");
}

TEST_CASE(
    "A gradient of a view that has memory which its base, given another shape, has not is "
    "refused") {
  const auto f = [](const Tensors& in) {
    const Tensor view = call("aten::adjoint", {in[0]})[0];
    const std::vector<int64_t> sizes{1, 2}, apart{0, 3};
    call("aten::as_strided_", {in[0], sizes, apart});
    call("aten::add_.Scalar", {in[0], 1});
    return call("aten::mul.Scalar", {view, 2});
  };
  const Tensor memory = tensor_with({4}, DType::Float32, {0, 0, 0, 0});
  CHECK(verdicts({"grad"}, f, {view_of(memory, {4, 1}, {1, 0})}) == "refused by aten::as_strided");
}

TEST_CASE("A write of nothing has a gradient, wherever the empty view begins") {
  const auto f = [](const Tensors& in) {
    const Tensor copy = call("aten::clone", {in[0]})[0];
    const Tensor row = call("aten::select.int", {copy, 0, 1})[0];
    call("aten::copy_", {row, call("aten::select.int", {in[0], 0, 0})[0]});
    return Tensors{copy};
  };
  CHECK(verdicts({"grad"}, f, {tensor_with({2, 0}, DType::Float32, {})}) == "passed");
}

TEST_CASE("A functionalised view in place of memory that an input has not is refused by name") {
  const auto f = [](const Tensors& in) {
    const std::vector<int64_t> none;
    return call("aten::as_strided_", {in[0], none, none, 5});
  };
  const Tensor memory = tensor_with({9}, DType::Float32, {0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(verdicts({"functionalize, grad"}, f, {view_of(memory, {2}, {1})}) ==
        "refused by aten::as_strided");
}

TEST_CASE("A view of another dtype beyond its tensor is refused a gradient") {
  const auto f = [](const Tensors& in) {
    const Tensor complex = call("aten::view_as_complex", {in[0]})[0];
    const std::vector<int64_t> none;
    return call("aten::as_strided_", {complex, none, none, 1});
  };
  const Tensor memory = tensor_with({9}, DType::Float32, {0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(verdicts({"grad"}, f, {view_of(memory, {2}, {1})}) == "refused by aten::as_strided");
}

}  // namespace
}  // namespace sb::composition
