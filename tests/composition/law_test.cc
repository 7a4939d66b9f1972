// What broke the law once. Each case is a program that the random ones were made small to.

#include "switchboard/tests/composition/law.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/tests/composition/judge.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::composition {
namespace {

using Tensors = std::vector<Tensor>;

Tensor number(double x) { return tensor_with({}, DType::Float32, {x}); }
// A view of four elements, of a memory of six.
Tensor part() { return view_of(tensor_with({6}, DType::Float32, {1, 2, 3, 4, 5, 6}), {4}, {1}, 1); }
const std::vector<std::string_view> kFunctional = {"functionalize", "functional_mode",
                                                   "functionalize, trace", "functional_mode, fake"};
const std::vector<std::string_view> kGradOutside = {"functionalize, grad", "functional_mode, grad"};
const std::vector<std::string_view> kGradInside = {"grad, functionalize", "grad, functional_mode"};

TEST_CASE("A result that is saved, of a functional tensor that was written to, stays functional") {
  for (const char* op : {"aten::acos_", "aten::sqrt_", "aten::renorm_", "aten::sgn_"}) {
    const auto f = [&](const Tensors& in) {
      if (std::string_view(op) == "aten::renorm_") return call(op, {in[0], 2, 0, 1});
      return call(op, {in[0]});
    };
    CHECK(broken(kGradInside, f, {tensor_with({2, 2}, DType::Float32, {0.5, 0.25, 0.75, 1})}) ==
          "");
  }
}

TEST_CASE("The gradient that a custom operator has passes through functionalisation") {
  const auto f = [](const Tensors& in) { return call("composition::twice", {in[0]}); };
  CHECK(broken(kGradOutside, f, {number(1)}) == "");
  CHECK(broken(kGradInside, f, {number(1)}) == "");
}

TEST_CASE("A write without a gradient leaves a tensor the gradient that it has in the program") {
  // This one is recorded as zero,
  const auto gt = [](const Tensors& in) { return call("aten::gt_.Scalar", {in[0], 0.5}); };
  CHECK(broken(kGradOutside, gt, {number(1)}) == "");
  // and this one passes by autograd.
  const auto either = [](const Tensors& in) { return call("aten::logical_or_", {in[0], in[0]}); };
  CHECK(broken(kGradOutside, either, {number(1)}) == "");
  // Nor does autograd see a write to the bits.
  const auto bits = [](const Tensors& in) {
    return call("aten::gcd_", {call("aten::view.dtype", {in[0], DType::Int32})[0], in[1]});
  };
  CHECK(broken(kGradOutside, bits, {number(1), tensor_with({}, DType::Int32, {6})}) == "");
}

TEST_CASE("A write to an input that is a view leaves the rest of its memory the gradient") {
  for (const char* op : {"aten::gt_.Scalar", "aten::mul_.Scalar", "aten::div_.Scalar"}) {
    const auto f = [&](const Tensors& in) { return call(op, {in[0], 2.0}); };
    CHECK(broken(kGradOutside, f, {part()}) == "");
  }
}

TEST_CASE("A result that is a view of the second input on a memory has its gradient") {
  const Tensor memory = tensor_with({2}, DType::Float32, {1, 2});
  const auto f = [](const Tensors& in) { return call("aten::pow_.Scalar", {in[1], 1}); };
  CHECK(broken(kGradOutside, f, {view_of(memory, {0}, {2}), view_of(memory, {}, {}, 1)}) == "");
}

TEST_CASE("Backward inside of a functionalised program passes control flow") {
  const auto branches = [](const Tensors& in) {
    const Tensor pred = call("aten::gt.Scalar", {in[0], 0})[0];
    const auto times_input = [&](const Tensors& of) {
      return call("aten::mul.Tensor", {of[0], in[0]});
    };
    return cond(pred, times_input, [](const Tensors& of) { return Tensors{of[0]}; }, {in[0]});
  };
  CHECK(broken(kGradInside, branches, {number(3)}) == "");
  CHECK(broken(kGradInside, branches, {number(-3)}) == "");
  const auto sums = [](const Tensors& in) {
    const auto add = [](const Tensors& of) {
      const Tensor sum = call("aten::add.Tensor", {of[0], of[1]})[0];
      return Tensors{sum, call("aten::mul.Tensor", {sum, of[0]})[0]};
    };
    return scan(add, {in[0]}, {in[1]});
  };
  CHECK(broken(kGradInside, sums, {number(2), tensor_with({3}, DType::Float32, {1, 2, 3})}) == "");
}

TEST_CASE("An out= form that is composed tells the layers what shape its out gets") {
  for (const char* op : {"aten::linear.out", "aten::inner.out", "aten::linalg_matmul.out"}) {
    const auto f = [&](const Tensors& in) { return call(op, {in[0], in[0]}, {{"out", in[1]}}); };
    const Tensors inputs = {tensor_with({2}, DType::Float32, {1, 2}),
                            tensor_with({0}, DType::Float32, {})};
    CHECK(broken(kFunctional, f, inputs) == "");
    CHECK(broken({"trace", "fake"}, f, inputs) == "");
  }
}

TEST_CASE("An out= of as many elements as are made may keep its shape") {
  const auto f = [](const Tensors& in) { return call("aten::arange.out", {1}, {{"out", in[0]}}); };
  CHECK(broken(kFunctional, f, {number(5)}) == "");
}

TEST_CASE("An out= whose shape the data says is written to under functionalisation") {
  const auto f = [](const Tensors& in) {
    return call("aten::_unique.out", {in[0]}, {{"out0", in[1]}, {"out1", in[2]}});
  };
  CHECK(broken({"functionalize", "functional_mode"}, f,
               {tensor_with({3}, DType::Float32, {1, 2, 1}), tensor_with({0}, DType::Float32, {}),
                tensor_with({0}, DType::Int64, {})}) == "");
}

TEST_CASE("A view of an input whose memory has grown is one of that memory") {
  const auto f = [](const Tensors& in) {
    call("aten::new_ones.out", {in[1], std::vector<int64_t>{3}}, {{"out", in[0]}});
    return call("aten::slice.Tensor", {in[0], 0, 1});
  };
  CHECK(broken({"functionalize", "functional_mode"}, f, {number(0), number(0)}) == "");
}

TEST_CASE("Views that no schema declares are views under functionalisation too") {
  const auto f = [](const Tensors& in) {
    const Tensor v = call("aten::_unsafe_view", {in[0], std::vector<int64_t>{4}})[0];
    call("aten::mul_.Scalar", {in[0], 2});
    call("aten::add_.Scalar", {v, 1});
    return call("aten::unsafe_split.Tensor", {in[0], 1});
  };
  CHECK(broken({"functionalize", "functional_mode"}, f,
               {tensor_with({2, 2}, DType::Float32, {1, 2, 3, 4})}) == "");
}

TEST_CASE("A composed operator reads the numbers of a functional tensor") {
  const auto f = [](const Tensors& in) {
    return call("aten::_pad_packed_sequence", {in[0], in[1], false, 0.0, 0});
  };
  CHECK(broken({"functionalize", "functional_mode", "functionalize, grad", "trace", "fake"}, f,
               {tensor_with({3, 1}, DType::Float32, {1, 2, 3}),
                tensor_with({2}, DType::Int64, {2, 1})}) == "");
}

TEST_CASE("A second gradient by a result that was written to a view, which is gone, is there") {
  const auto f = [](const Tensors& in) {
    const Tensor view = call("aten::unsqueeze", {in[0], 0})[0];
    return call("aten::tanh_", {view});
  };
  const auto whole = [](const Tensors& in) {
    const Tensors results = call("aten::tanh_", {in[0]});
    return call("aten::unsqueeze", {results[0], 0});
  };
  for (const auto& program : {TensorFunction(f), TensorFunction(whole)})
    CHECK(broken(kGradOutside, program, {number(0.5)}) == "");
}

TEST_CASE("An operator that autograd goes through may return its argument") {
  const auto f = [](const Tensors& in) { return call("aten::lift_fresh", {in[0]}); };
  CHECK(broken({"watch"}, f, {number(1)}) == "");
}

TEST_CASE("Below a trace, backward inside of a functionalised program is refused at control flow") {
  const auto f = [](const Tensors& in) {
    const auto same = [](const Tensors& of) { return Tensors{of[0], of[0]}; };
    return scan(same, {}, {in[0]});
  };
  for (const char* layers : {"grad, functionalize, trace", "grad, functional_mode, trace"}) {
    const Stack inputs = {tensor_with({1}, DType::Float32, {0})};
    const Verdict v = Judge(f, internal::ArgumentPlan::of(inputs)).judge(parse_stack(layers));
    CHECK(v.kind == Verdict::Kind::Refused);
    CHECK(v.op == "higher_order::scan");
  }
}

TEST_CASE("A Function has its gradient under functionalisation, as an operator's kernel too") {
  const auto f = [](const Tensors& in) {
    const Tensor three = call("composition::triple", {in[0]})[0];
    return Tensors{three, call("aten::mul.Tensor", {three, in[0]})[0]};
  };
  CHECK(broken(kGradOutside, f, {number(2)}) == "");
  CHECK(broken(kGradInside, f, {number(2)}) == "");
  CHECK(broken({"functionalize, grad, trace", "functionalize, trace, grad"}, f, {number(2)}) == "");
}

TEST_CASE("A write that autograd does not see is in a functionalised graph as such") {
  const auto either = [](const Tensors& in) { return call("aten::logical_or_", {in[0], in[0]}); };
  const auto detached = [](const Tensors& in) { return call("aten::detach_", {in[0]}); };
  for (const auto& program : {TensorFunction(either), TensorFunction(detached)}) {
    CHECK(broken(kGradOutside, program, {number(1)}) == "");
    CHECK(broken({"functionalize, trace, grad", "functional_mode, trace, grad"}, program,
                 {number(1)}) == "");
  }
}

TEST_CASE("An operator that writes to a tensor twice does so under functionalisation") {
  const auto twice = [](const Tensors& in) {
    call("aten::_foreach_cosh_", {Tensors{in[0], in[0]}});
    return Tensors{};
  };
  // Each reads what the other one writes.
  const auto crosswise = [](const Tensors& in) {
    const Tensor tail = call("aten::slice.Tensor", {in[0], 0, 1})[0];
    const Tensor head = call("aten::slice.Tensor", {in[0], 0, 0, 3})[0];
    call("aten::_foreach_add_.List", {Tensors{head, in[1]}, Tensors{in[1], tail}});
    return Tensors{};
  };
  const Tensor three = tensor_with({3}, DType::Float32, {1, 2, 3});
  CHECK(broken(kFunctional, twice, {part()}) == "");
  CHECK(broken(kFunctional, crosswise, {part(), three}) == "");
  CHECK(broken(kGradInside, twice, {part()}) == "");
  CHECK(broken(kGradInside, crosswise, {part(), three}) == "");
}

TEST_CASE("A view has its base written to by an operator that writes to several tensors") {
  const auto f = [](const Tensors& in) {
    call("aten::_foreach_neg_", {Tensors{call("aten::clone", {in[0]})[0], in[0]}});
    return Tensors{};
  };
  CHECK(broken({"grad"}, f, {part()}) == "");
  CHECK(broken(kGradInside, f, {part()}) == "");
}

TEST_CASE("A tensor that gets another one's memory has it in a functionalised graph") {
  const auto f = [](const Tensors& in) {
    return call("aten::set_.source_Tensor_storage_offset",
                {in[0], in[1], 1, std::vector<int64_t>{2}});
  };
  CHECK(broken(kFunctional, f, {number(0), tensor_with({3}, DType::Float32, {1, 2, 3})}) == "");
  const auto same = [](const Tensors& in) {
    return call("aten::set_.source_Tensor", {in[0], call("aten::clone", {in[1]})[0]});
  };
  CHECK(broken(kFunctional, same, {number(0), part()}) == "");
}

TEST_CASE("A write to a view that looks at the memory, not at a tensor, reaches all of it") {
  const auto strided = [](const Tensors& in) {
    return call("aten::_reshape_alias", {in[0], std::vector<int64_t>{2}, std::vector<int64_t>{2}});
  };
  const auto set = [](const Tensors& in) {
    return call("aten::set.source_Tensor", {in[0], in[0]});
  };
  for (const auto& view : {TensorFunction(strided), TensorFunction(set)}) {
    const auto f = [&](const Tensors& in) {
      const Tensor v = view(in)[0];
      call("aten::mul_.Scalar", {in[0], 2});
      call("aten::add_.Scalar", {v, 1});
      return call("aten::clone", {in[0]});
    };
    CHECK(broken({"functionalize", "functional_mode"}, f, {part()}) == "");
  }
}

TEST_CASE("one_hot counts the classes of a functional tensor") {
  const auto f = [](const Tensors& in) { return call("aten::one_hot", {in[0]}); };
  CHECK(broken(kFunctional, f, {tensor_with({2}, DType::Int64, {0, 2})}) == "");
}

TEST_CASE("A tensor that is given twice is one tensor in a trace") {
  const auto f = [](const Tensors& in) {
    call("aten::squeeze_", {in[0]});
    return call("aten::clone", {in[1]});
  };
  const Tensor x = tensor_with({1, 2}, DType::Float32, {1, 2});
  CHECK(broken({"trace", "grad, trace", "trace, grad"}, f, {x, x}) == "");
}

TEST_CASE("A trace inside of a functionalised program is refused") {
  const auto f = functionalize([](const Tensors& in) {
    const auto clone = [](const Tensors& of) { return call("aten::clone", {of[0]}); };
    return trace(clone, in).run(in);
  });
  CHECK_THROWS_WITH(f({number(1)}),
                    "trace: input 0, float32[] on cpu, belongs to a program that "
                    "runs functionalised, and a trace sees what lies below that: "
                    "trace outside of it");
}

TEST_CASE("An out= of a wider dtype than its functional form would have takes the result") {
  const auto f = [](const Tensors& in) {
    return call("aten::soft_margin_loss_backward.grad_input", {in[1], in[1], in[0], 0},
                {{"grad_input", in[0]}});
  };
  CHECK(broken(kFunctional, f, {number(1), tensor_with({}, DType::Int64, {2})}) == "");
}

TEST_CASE("A lazily negated out= takes the shape of the result under functionalisation") {
  const auto f = [](const Tensors& in) {
    const Tensor out = call("aten::_neg_view", {in[1]})[0];
    return call("aten::not_equal.Tensor_out", {in[0], in[0]}, {{"out", out}});
  };
  CHECK(broken({"functionalize", "functional_mode"}, f,
               {tensor_with({0}, DType::Float32, {}), number(0)}) == "");
}

TEST_CASE("A graph says which operator gives fewer tensors than when it was made") {
  const auto f = [](const Tensors& in) {
    return call("aten::unbind.int", {call("aten::_unique2", {in[0]})[0]});
  };
  CHECK(error_of_graph(f, {tensor_with({3}, DType::Float32, {1, 2, 3})},
                       {tensor_with({3}, DType::Float32, {1, 2, 2})}) ==
        "RuntimeError: graph: node 'getitem_5': aten::unbind.int: gave 2 tensors, of which the "
        "graph takes number 2: there were more when it was made");
}

TEST_CASE("A graph refuses numbers that were sizes, which the data tell, and are others now") {
  const Tensor memory = tensor_with({4}, DType::Float32, {0.25, 1.25, 0, -0.75});
  const Tensors inputs{view_of(memory, {2}, {1})};
  const auto expands = [](const Tensors& in) {
    const Tensor first = call("aten::select.int", {in[0], 0, 0})[0];
    return call("aten::expand_as", {first, call("aten::argwhere", {in[0]})[0]});
  };
  CHECK(broken({"trace", "functional_mode, trace"}, expands, inputs) == "");
  const auto splits = [](const Tensors& in) {
    return call("aten::hsplit.array",
                {call("aten::where", {in[0]})[0], std::vector<int64_t>{0, 0}});
  };
  CHECK(broken({"trace"}, splits, inputs) == "");

  const Graph counts = trace(
      [](const Tensors& in) {
        return call("aten::mul.Scalar", {call("aten::argwhere", {in[0]})[0], 2});
      },
      {number(0)});
  CHECK(counts.run({number(1)})[0].numel() == 0);
  CHECK(counts.run({number(1)})[0].size(0) == 1);
}

TEST_CASE("A loss in an out writes to no memory beside it") {
  const Tensor memory = tensor_with({5}, DType::Float32, {1, 1, 1, 1, 1});
  for (const std::string_view op : {"aten::soft_margin_loss.out", "aten::huber_loss.out"}) {
    const auto f = [&](const Tensors& in) { return call(op, {in[1], in[0]}, {{"out", in[0]}}); };
    CHECK(verdicts({"functionalize", "functional_mode"}, f,
                   {view_of(memory, {}, {}, 2), tensor_with({2}, DType::Float32, {0, 0})}) ==
          "passed, passed");
  }
}

TEST_CASE("An operator that computes in the dtype of its out does so under functionalisation") {
  const auto f = [](const Tensors& in) {
    return call("aten::cumsum.out", {in[1], 1}, {{"out", in[0]}});
  };
  const Tensor x = tensor_with({1, 3}, DType::Float32, {1.25, -1.75, -0.75});
  CHECK(verdicts({"functionalize", "functional_mode", "functionalize, trace"}, f,
                 {tensor_with({}, DType::Int64, {0}), x}) == "passed, passed, passed");
  CHECK(verdicts({"functionalize", "functional_mode", "functionalize, trace"}, f,
                 {tensor_with({1, 3}, DType::Int64, {0, 0, 0}), x}) == "passed, passed, passed");
}

TEST_CASE("An out is given what the operator computes in its dtype, not what fits in another") {
  const auto f = [](const Tensors& in) {
    return call("aten::smooth_l1_loss_backward.grad_input", {in[0], in[0], in[1], 0, 0.0},
                {{"grad_input", in[1]}});
  };
  CHECK(verdicts({"functionalize", "functional_mode"}, f,
                 {tensor_with({}, DType::UInt8, {1}), tensor_with({}, DType::Int64, {1})}) ==
        "passed, passed");
}

TEST_CASE("A gradient goes through a view of real parts that is given other strides") {
  const auto f = [](const Tensors& in) {
    const Tensor real = call("aten::real", {in[0]})[0];
    const Tensor same =
        call("aten::_reshape_alias", {real, std::vector<int64_t>{1}, std::vector<int64_t>{0}})[0];
    call("aten::lerp_.Scalar", {real, real, 0.0});
    return Tensors{same};
  };
  CHECK(verdicts({"functionalize, grad"}, f, {tensor_with({}, DType::Complex64, {0})}) == "passed");
}

TEST_CASE("index_put_ reads values that overlap what it writes to before it writes") {
  const auto f = [](const Tensors& in) {
    const Tensor index = call("aten::to.dtype_layout", {in[0]}, {{"dtype", DType::Int64}})[0];
    const Tensor same = call("aten::squeeze.dim", {in[0], 0})[0];
    call("aten::index_put_.hacked_twin", {same, Tensors{index}, in[0]});
    return Tensors{};
  };
  const Tensor x = view_of(tensor_with({3}, DType::Float32, {1.25, 0, 0.5}), {2}, {2});
  CHECK(verdicts({"functionalize", "functional_mode", "trace_symbols"}, f, {x}) ==
        "passed, passed, passed");
}

TEST_CASE("A view by another dtype that no schema declares is refused under functionalisation") {
  const auto f = [](const Tensors& in) {
    call("aten::log1p_", {call("aten::set.source_Tensor", {in[0], in[1]})[0]});
    return Tensors{};
  };
  const Tensor memory = tensor_with({3}, DType::Float64, {1, 1, 1});
  CHECK(
      verdicts({"functionalize", "functional_mode"}, f, {number(0), view_of(memory, {}, {}, 1)}) ==
      "refused by aten::set.source_Tensor, refused by aten::set.source_Tensor");
  CHECK(verdicts({"functionalize", "functional_mode"}, f, {number(0), number(1)}) ==
        "passed, passed");
}

TEST_CASE("Functionalised, bytes that are written to a bool by another dtype stay what they are") {
  const auto f = [](const Tensors& in) {
    return call("composition::shift_", {call("aten::view.dtype", {in[0], DType::UInt8})[0]});
  };
  const Tensor memory = tensor_with({7}, DType::Bool, {1, 1, 1, 1, 1, 1, 1});
  CHECK(verdicts({"functionalize", "functional_mode"}, f, {view_of(memory, {2, 2}, {4, 2})}) ==
        "passed, passed");
}

TEST_CASE("An out that drops imaginary parts drops them where the operator computes in its dtype") {
  const auto f = [](const Tensors& in) {
    return call("aten::logsumexp.out", {in[0], std::vector<int64_t>{}}, {{"out", in[1]}});
  };
  CHECK(verdicts({"functionalize", "functional_mode"}, f,
                 {tensor_with({}, DType::Complex64, {{2, -1}}), number(0)}) == "passed, passed");
}

}  // namespace
}  // namespace sb::composition
