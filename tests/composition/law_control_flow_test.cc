// What broke the law once, with branches and loops. As law_test.cc.

#include <functional>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/tests/composition/judge.h"
#include "switchboard/tests/composition/law.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::composition {
namespace {

using Tensors = std::vector<Tensor>;

Tensor number(double x) { return tensor_with({}, DType::Float32, {x}); }
// Runs the body so many times, on a number that counts and on what it gave before.
Tensors trips(double count, const std::function<Tensors(const Tensors&)>& body, Tensors carried) {
  carried.insert(carried.begin(), call("aten::full", {std::vector<int64_t>{}, 0})[0]);
  return while_loop(
      [=](const Tensors& of) {
        return call("aten::lt.Scalar", {of[0], count});
      },
      [=](const Tensors& of) {
        Tensors next = body(of);
        next.insert(next.begin(), call("aten::add.Scalar", {of[0], 1})[0]);
        return next;
      },
      carried);
}
const std::vector<std::string_view> kFunctional = {"functionalize", "functional_mode",
                                                   "functionalize, trace", "functional_mode, fake"};

TEST_CASE("Modes that watch see control flow in functions of a functionalised program") {
  const auto f = [](const Tensors& in) {
    const Tensor pred = call("aten::gt.Scalar", {in[0], 0})[0];
    const auto same = [](const Tensors& of) { return call("aten::clone", {of[0]}); };
    const auto inner = [&](const Tensors& of) { return cond(pred, same, same, {of[0]}); };
    return cond(pred, inner, inner, {in[0]});
  };
  CHECK(broken({"functional_mode, watch", "functional_mode, grad, watch",
                "grad, watch, functional_mode", "functionalize, grad, watch"},
               f, {number(1)}) == "");
}

TEST_CASE("A traced function may look at the memory around what it is given") {
  const auto f = [](const Tensors& in) {
    const auto second = [](const Tensors& of) {
      const std::vector<int64_t> size{2}, stride{1};
      return Tensors{of[0], call("aten::as_strided", {of[1], size, stride, 3})[0]};
    };
    return scan(second, {in[0]}, {in[1]});
  };
  const Stack inputs = {number(0), tensor_with({3, 2}, DType::Float32, {1, 2, 3, 4, 5, 6})};
  const Tensors tensors{inputs[0].to_tensor(), inputs[1].to_tensor()};
  CHECK(broken({"trace", "functionalize", "fake"}, f, tensors) == "");
  // A graph without mutation has the slice alone.
  const Verdict v =
      Judge(f, internal::ArgumentPlan::of(inputs)).judge(parse_stack("functionalize, trace"));
  CHECK(v.kind == Verdict::Kind::Refused);
  CHECK(v.op == "higher_order::scan");
}

TEST_CASE("The gradient of a branch has the elements of the result, whatever strides that has") {
  const auto f = [](const Tensors& in) {
    const auto viewed = [](const Tensors& of) { return call("aten::view_as", {of[0], of[0]}); };
    const auto same = [](const Tensors& of) { return Tensors{of[0]}; };
    const Tensor pred = call("aten::gt.Scalar", {call("aten::sum", {in[0]})[0], 0})[0];
    return cond(pred, viewed, same, {in[0]});
  };
  const Tensor memory = tensor_with({4}, DType::Float32, {1, 1, 1, 1});
  CHECK(broken({"grad, trace", "trace, grad"}, f, {view_of(memory, {2, 2}, {1, 2})}) == "");
}

TEST_CASE("What a loop gives as it was captured has its gradient in a trace") {
  const auto f = [](const Tensors& in) {
    const auto captured = [&](const Tensors& of) { return Tensors{in[0], of[0]}; };
    return scan(captured, {in[0]}, {in[0]});
  };
  CHECK(broken({"grad, trace", "trace, grad"}, f, {tensor_with({2}, DType::Float32, {1, 2})}) ==
        "");
}

TEST_CASE("A loop on fake tensors of which only the data tell the strides is refused") {
  const auto f = [](const Tensors& in) {
    const auto never = [](const Tensors& of) { return call("aten::lt.Scalar", {of[0], 0}); };
    const auto turned = [](const Tensors& of) { return Tensors{of[0], of[2], of[2]}; };
    return while_loop(never, turned, {in[0], call("aten::transpose.int", {in[1], 0, 1})[0], in[1]});
  };
  const Stack inputs = {number(0), tensor_with({2, 2}, DType::Float32, {1, 2, 3, 4})};
  const Verdict v = Judge(f, internal::ArgumentPlan::of(inputs)).judge(parse_stack("fake"));
  CHECK(v.kind == Verdict::Kind::Refused);
  CHECK(v.op == "higher_order::while_loop");
}

TEST_CASE("Below a trace, what a function captures of a leaf of the program is refused by name") {
  const auto f = [](const Tensors& in) {
    const Tensor pred = call("aten::gt.Scalar", {in[0], 0})[0];
    const auto given = [&](const Tensors&) { return Tensors{in[0]}; };
    const auto used = [&](const Tensors&) { return call("aten::neg", {in[0]}); };
    return cond(pred, given, used, {});
  };
  for (const char* layers : {"grad, functionalize, trace", "grad, functional_mode, fake"}) {
    const Stack inputs = {number(1)};
    const Verdict v = Judge(f, internal::ArgumentPlan::of(inputs)).judge(parse_stack(layers));
    CHECK(v.kind == Verdict::Kind::Refused);
    CHECK(v.op == "higher_order::cond");
  }
}

TEST_CASE("Control flow takes lazily negated tensors, captured ones too") {
  const auto f = [](const Tensors& in) {
    const Tensor negative = call("aten::_neg_view", {in[0]})[0];
    const Tensor pred = call("aten::gt.Scalar", {in[0], 0})[0];
    const auto sum = [&](const Tensors& of) { return call("aten::add.Tensor", {of[0], negative}); };
    const auto same = [](const Tensors& of) { return call("aten::clone", {of[0]}); };
    return cond(pred, sum, same, {negative});
  };
  CHECK(broken({"trace", "grad, trace", "functionalize, trace", "fake"}, f, {number(3)}) == "");
}

TEST_CASE("What a loop gives is written to without a write to what it was given") {
  const auto loop = [](const Tensors& in) {
    const auto small = [](const Tensors& of) { return call("aten::lt.Scalar", {of[0], 2}); };
    const auto next = [](const Tensors& of) {
      return Tensors{call("aten::add.Scalar", {of[0], 1})[0], of[1], of[1]};
    };
    const Tensors results = while_loop(small, next, {in[0], in[1], in[1]});
    call("aten::mul_.Scalar", {results[1], 5});
    return results;
  };
  const auto steps = [](const Tensors& in) {
    const auto add = [](const Tensors& of) { return Tensors{of[0], of[1]}; };
    const Tensors results = scan(add, {in[0]}, {call("aten::unsqueeze", {in[1], 0})[0]});
    call("aten::mul_.Scalar", {results[0], 5});
    return results;
  };
  for (const auto& program : {TensorFunction(loop), TensorFunction(steps)})
    CHECK(broken({"trace", "grad, trace", "trace, grad", "grad, fake", "functionalize"}, program,
                 {number(1), number(2)}) == "");
}

TEST_CASE("The strides that a loop's body gives are those of its recorded results") {
  const auto f = [](const Tensors& in) {
    const auto small = [](const Tensors& of) { return call("aten::lt.Scalar", {of[0], 2}); };
    const auto next = [](const Tensors& of) {
      return Tensors{call("aten::add.Scalar", {of[0], 1})[0], call("aten::exp", {of[1]})[0]};
    };
    return while_loop(small, next, {in[0], call("aten::transpose.int", {in[1], 0, 1})[0]});
  };
  CHECK(broken({"grad", "grad, fake", "grad, trace", "trace, grad"}, f,
               {number(1), tensor_with({2, 3}, DType::Float32, {1, 2, 3, 4, 5, 6})}) == "");
}

TEST_CASE("What all branches give as they captured it is that tensor under functionalisation") {
  const auto f = [](const Tensors& in) {
    const auto given = [&](const Tensors&) { return Tensors{in[0]}; };
    return cond(in[0], given, given, {});
  };
  CHECK(broken(kFunctional, f, {number(0)}) == "");
}

TEST_CASE("A traced loop refuses a function that depends on how what it carries lies in memory") {
  const auto loop = [](const char* op, std::vector<IValue> more, size_t result) {
    return [=](const Tensors& in) {
      const auto step = [&](const Tensors& c) {
        std::vector<IValue> arguments{c[0]};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return Tensors{call(op, arguments)[result], c[0]};
      };
      return scan(step, {in[0]}, {in[1]});
    };
  };
  const Tensors inputs{tensor_with({3, 3}, DType::Float32, {1, -1, -1, 2, -2, 2, 1, 0, 1}),
                       tensor_with({3}, DType::Float32, {0, 0, 0})};
  const std::vector<int64_t> sizes{3, 3}, strides{1, 0};
  for (const TensorFunction& f :
       {TensorFunction(loop("aten::_linalg_slogdet", {}, 2)),
        TensorFunction(loop("aten::_reshape_alias", {sizes, strides}, 0))}) {
    CHECK(broken({"trace"}, f, inputs) == "");
    CHECK_THAT(error_of_graph(f, inputs, inputs),
               Catch::Matchers::Contains("NotImplementedError: higher_order::scan: combine_fn: "
                                         "under TracingMode: its result 0 depends on how"));
  }
  CHECK(error_of_graph(loop("aten::t", {}, 0), inputs, inputs) == "");
}

TEST_CASE("A function that fails where only a trace or a fake mode runs it says so") {
  const auto f = [](const Tensors& in) {
    const auto never = [](const Tensors& c) { return call("aten::lt.Scalar", {c[0], 0}); };
    const auto body = [](const Tensors& c) {
      call("aten::_weight_norm_differentiable_backward", {c[1], c[1], c[1], c[1], 0});
      return c;
    };
    while_loop(never, body, {call("aten::zeros", {std::vector<int64_t>{}})[0], in[0]});
    return Tensors{};
  };
  const Tensor x = view_of(tensor_with({3}, DType::Float32, {1, 2, 3}), {2}, {2});
  CHECK(broken({"fake", "functionalize, trace"}, f, {x}) == "");
}

TEST_CASE("Results of a branch that are one tensor are not two after a write") {
  const auto f = [](const Tensors& in) {
    const auto twice = [](const Tensors& given) {
      const Tensor t = call("aten::clamp_min", {given[0], 1})[0];
      return Tensors{t, t};
    };
    const auto same = [](const Tensors& given) { return Tensors{given[0], given[0]}; };
    const Tensors both = cond(in[0], same, twice, {call("aten::clone", {in[0]})[0]});
    call("aten::mul_.Scalar", {both[1], 5});
    return Tensors{both[0]};
  };
  for (const double x : {0.0, 2.0}) CHECK(broken(kFunctional, f, {number(x)}) == "");
}

TEST_CASE("A loop whose sizes change has no gradient in a graph, which says so") {
  const auto f = [](const Tensors& in) {
    while_loop(
        [](const Tensors& now) {
          return call("aten::lt.Scalar", {now[0], 2});
        },
        [&](const Tensors& now) {
          const Tensor next = call("aten::add.Scalar", {now[0], 1})[0];
          return Tensors{next, call("aten::repeat_interleave.self_Tensor", {in[0], next})[0]};
        },
        {call("aten::full", {std::vector<int64_t>{}, 0})[0], in[0]});
    return Tensors{};
  };
  CHECK(broken({"trace", "trace, grad"}, f, {tensor_with({1}, DType::Float32, {0})}) == "");
}

TEST_CASE("A graph with symbols holds for as many trips as a loop makes") {
  const auto counts = [](const Tensors& in) {
    const auto less = [](const Tensors& c) { return call("aten::lt.Scalar", {c[0], 2}); };
    const auto next = [](const Tensors& c) {
      return Tensors{call("aten::add.Scalar", {c[0], 1})[0], c[1], c[2]};
    };
    return Tensors{while_loop(less, next, {call("aten::zeros_like", {in[0]})[0], in[0], in[1]})[1]};
  };
  CHECK(broken({"trace_symbols", "grad, trace_symbols", "trace_symbols, grad"}, counts,
               {number(0), tensor_with({2}, DType::Int64, {0, 0})}) == "");
}

TEST_CASE("A graph with symbols may get tensors without elements") {
  for (const char* op : {"aten::ravel", "aten::contiguous"}) {
    const auto f = [&](const Tensors& in) { return call(op, {in[0]}); };
    CHECK(broken({"trace_symbols", "trace_symbols, grad"}, f,
                 {tensor_with({2, 0}, DType::Float32, {})}) == "");
    CHECK(broken({"trace_symbols", "trace_symbols, grad"}, f,
                 {tensor_with({0, 2}, DType::Float32, {})}) == "");
  }
}

TEST_CASE("A graph refuses to look at the memory of what a loop carries with other strides") {
  // What this gives lies by columns; a graph carries it by rows.
  const auto factorize = [](const Tensors& in) {
    return scan(
        [](const Tensors& of) { return Tensors{call("aten::linalg_cholesky_ex", {of[0]})[0]}; },
        {in[0]}, {in[0]});
  };
  const auto flat = [](const Tensor& t) {
    return call("aten::_reshape_alias", {t, std::vector<int64_t>{3}, std::vector<int64_t>{1}});
  };
  const auto looks = [&](const Tensors& in) { return flat(factorize(in)[0]); };
  const auto looks_at_more = [&](const Tensors& in) {
    return flat(call("aten::add.Scalar", {factorize(in)[0], 1})[0]);
  };
  const auto captures = [&](const Tensors& in) {
    const Tensor carried = factorize(in)[0];
    const auto branch = [&] { return call("aten::clone", {flat(carried)[0]}); };
    return cond(in[1], branch, branch);
  };
  const auto hands_on = [&](const Tensors& in) {
    const auto branch = [&](const Tensors& of) { return call("aten::clone", {flat(of[0])[0]}); };
    return cond(in[1], branch, branch, factorize(in));
  };
  const Tensors inputs{tensor_with({2, 2}, DType::Float32, {2, 1, 1, 2}), number(1)};
  for (const TensorFunction& f : {TensorFunction(looks), TensorFunction(looks_at_more),
                                  TensorFunction(captures), TensorFunction(hands_on)}) {
    CHECK(broken({"trace"}, f, inputs) == "");
    CHECK_THROWS_WITH(trace(f, inputs), Catch::Contains("aten::_reshape_alias") &&
                                            Catch::Contains("higher_order::scan: combine_fn"));
  }
  // By its elements it is the same.
  const auto by_elements = [&](const Tensors& in) {
    return call("aten::reshape", {factorize(in)[0], std::vector<int64_t>{4}});
  };
  CHECK(broken({"trace"}, by_elements, inputs) == "");
}

TEST_CASE("A branch that gives an operand without elements gives that operand") {
  const auto part = [](const Tensors& in) {
    const Tensor none = call("aten::tensor_split.sections", {in[0], 2})[1];
    const auto itself = [](const Tensors& of) { return Tensors{of[1], of[1]}; };
    return Tensors{cond(in[0], itself, itself, {in[0], none})[1]};
  };
  CHECK(broken(kFunctional, part, {tensor_with({1}, DType::Float32, {0})}) == "");
  // Or, where only the data tell, functionalisation says so.
  const auto either = [](const Tensors& in) {
    const auto other = [](const Tensors& of) { return call("aten::clone", {of[0]}); };
    const auto itself = [](const Tensors& of) { return Tensors{of[0]}; };
    return cond(call("aten::sum", {in[0]})[0], other, itself, {in[0]});
  };
  const Tensor empty = tensor_with({0}, DType::Float32, {});
  CHECK(broken(kFunctional, either, {empty}) == "");
  CHECK_THROWS_WITH(trace(functionalize(either), {empty}), Catch::Contains("only the data tell"));
}

TEST_CASE("On fake tensors a branch gives no view where the other branch may give none") {
  const auto f = [](const Tensors& in) {
    const auto view = [&] { return call("aten::squeeze", {in[0]}); };
    const auto itself = [&] { return Tensors{in[0]}; };
    call("aten::detach_", {cond(in[0], view, itself)[0]});
    return Tensors{};
  };
  CHECK(broken({"fake", "watch, fake"}, f, {number(0)}) == "");
}

TEST_CASE("What a loop gives lies in a graph as it does alone: a copy of it is a copy") {
  const Tensor x = tensor_with({3, 3}, DType::Float32, {-1, 0, -1, 0, 1, -1, 2, 1, 0});
  const auto scans = [](const Tensors& in) {
    const Tensor last = scan([](const Tensors& now) { return call("aten::inverse", {now[0]}); },
                             {in[0]}, {in[1]})[0];
    const Tensor copy = call("aten::contiguous", {last})[0];
    call("aten::fill_.Scalar", {copy, 0});
    return Tensors{last};
  };
  CHECK(verdicts({"trace", "trace_symbols"}, scans, {x, tensor_with({1}, DType::Float32, {0})}) ==
        "passed, passed");
  for (const double limit : {0.0, 1.0, 2.0}) {
    const auto loops = [&](const Tensors& in) {
      const Tensor count = call("aten::full", {std::vector<int64_t>{}, 0})[0];
      const Tensor last = while_loop(
          [&](const Tensors& now) {
            return call("aten::lt.Scalar", {now[0], limit});
          },
          [](const Tensors& now) {
            return Tensors{call("aten::add.Scalar", {now[0], 1})[0],
                           call("aten::inverse", {now[1]})[0]};
          },
          {count, in[0]})[1];
      const Tensor copy = call("aten::contiguous", {last})[0];
      call("aten::fill_.Scalar", {copy, 0});
      return Tensors{last};
    };
    CHECK(verdicts({"trace"}, loops, {x}) == "passed");
  }
}

TEST_CASE("Stacked results of a loop that changes strides lie in a graph as it stacks them") {
  const Tensor x = tensor_with({3, 3}, DType::Float32, {-1, 0, -1, 0, 1, -1, 2, 1, 0});
  const auto f = [](const Tensors& in) {
    const Tensor count = call("aten::full", {std::vector<int64_t>{}, 0})[0];
    return while_loop_stack_output(
        [](const Tensors& now) {
          return call("aten::lt.Scalar", {now[0], 2});
        },
        [](const Tensors& now) {
          return Tensors{call("aten::add.Scalar", {now[0], 1})[0],
                         call("aten::inverse", {now[1]})[0]};
        },
        {count, in[0]});
  };
  CHECK(verdicts({"trace", "trace_symbols"}, f, {x}) == "passed, passed");
}

TEST_CASE("A factorization that a loop gives hangs on how its matrix lies; a solution does not") {
  const auto program = [](size_t result) {
    return [=](const Tensors& in) {
      return scan(
          [=](const Tensors& now) {
            const Tensors all = call("aten::_linalg_solve_ex", {now[0], now[0]});
            return Tensors{all[result], now[0]};
          },
          {in[0]}, {in[0]});
    };
  };
  const std::vector<IValue> inputs{
      tensor_with({3, 3}, DType::Float32, {2, -1, 0, 0, 1, 1, -1, -1, 1})};
  const auto verdict = [&](size_t result) {
    return Judge(program(result), internal::ArgumentPlan::of(inputs))
        .judge(parse_stack("trace_symbols"))
        .kind;
  };
  CHECK(verdict(0) == Verdict::Kind::Passed);
  CHECK(verdict(1) == Verdict::Kind::Refused);
}

TEST_CASE("A factorization inside of an operator made of others is found in a loop's function") {
  const auto f = [](const Tensors& in) {
    return scan(
        [](const Tensors& of) {
          return call("aten::linalg_solve_ex", {of[0], of[0]});
        },
        {in[0]}, {in[1]});
  };
  const Tensor memory = tensor_with({5}, DType::Float32, {1.75, 0.75, 1.5, 1.75, -1.75});
  CHECK(verdicts({"trace_symbols"}, f,
                 {view_of(memory, {2, 2}, {0, 2}), tensor_with({2}, DType::Float32, {0, 0})}) ==
        "refused by higher_order::scan");
}

TEST_CASE("A loop in whose trips data tell other sizes is refused where it is traced on data") {
  const auto f = [](const Tensors& in) {
    return trips(3,
                 [](const Tensors& of) {
                   const Tensor next = call("aten::add.Scalar", {of[0], 1})[0];
                   return Tensors{call("aten::repeat_interleave.self_Tensor", {of[1], next})[0]};
                 },
                 {in[0]});
  };
  CHECK(verdicts({"trace"}, f, {tensor_with({1}, DType::Float32, {0})}) ==
        "refused by higher_order::while_loop");
}

TEST_CASE("What may be one tensor with another result of cond keeps its place in a fake mode") {
  const auto f = [](const Tensors& in) {
    const Tensors both = cond(
        in[0],
        [](const Tensors& of) {
          return Tensors{call("aten::clone", {of[0]})[0], of[0]};
        },
        [](const Tensors& of) {
          const Tensor t = call("composition::triple", {of[0]})[0];
          return Tensors{t, t};
        },
        {in[0]});
    call("aten::set_", {both[0]});
    return Tensors{both[1]};
  };
  CHECK(verdicts({"fake"}, f, {number(0)}) == "refused by aten::set_");
}

TEST_CASE(
    "What a trace refuses for the gradient of a function is refused by that function's name") {
  const auto f = [](const Tensors& in) {
    const Tensor product = call("composition::product", {in[0], in[0]})[0];
    const Tensors in_the_end = trips(0, [&](const Tensors&) { return Tensors{product}; }, {in[0]});
    call("aten::set", {in_the_end[1]});
    return Tensors{};
  };
  const Tensor memory = tensor_with({3}, DType::Float32, {0, 0, 0});
  CHECK(verdicts({"body, grad, fake"}, f, {view_of(memory, {2}, {2})}) ==
        "refused by higher_order::cond");
}

TEST_CASE("A factorization of what a loop hands on to another carried tensor is refused") {
  const auto f = [](const Tensors& in) {
    return trips(3,
                 [](const Tensors& of) {
                   return Tensors{call("aten::_linalg_det", {of[2]})[1], of[1]};
                 },
                 {in[0], in[0]});
  };
  CHECK(verdicts({"trace"}, f, {tensor_with({2, 2}, DType::Float32, {0, 1, 2, 3})}) ==
        "refused by higher_order::while_loop");
}

TEST_CASE(
    "A factorization in a loop is refused though the matrix is symmetric in the trips traced") {
  const auto f = [](const Tensors& in) {
    return trips(3,
                 [](const Tensors& of) { return Tensors{call("aten::_linalg_det", {of[1]})[1]}; },
                 {in[0]});
  };
  CHECK(verdicts({"trace"}, f, {tensor_with({2, 2}, DType::Float32, {-2, -2, 1, 1})}) ==
        "refused by higher_order::while_loop");
}

TEST_CASE("A functionalised loop in a graph refuses copies of memory that may lie otherwise") {
  const Tensor x = view_of(tensor_with({4}, DType::Float32, {0, 2, 1, 1}), {2, 2}, {1, 2});
  const auto resize = [](const Tensors& in) {
    return trips(1,
                 [](const Tensors& of) {
                   return call("aten::resize_as", {of[1], of[1]},
                               {{"memory_format", MemoryFormat::Preserve}});
                 },
                 {in[0]});
  };
  CHECK(verdicts({"functional_mode, trace_symbols"}, resize, {x}) ==
        "refused by higher_order::while_loop");
  const auto copies = [](const Tensors& in) {
    return scan(
        [](const Tensors& of) {
          const std::vector<int64_t> sizes{2, 2}, strides{2, 1};
          return Tensors{call("aten::_reshape_alias_copy", {of[0], sizes, strides})[0], of[0]};
        },
        {in[0]}, {in[0]});
  };
  CHECK(verdicts({"functionalize, trace_symbols"}, copies, {x}) == "refused by higher_order::scan");
}

TEST_CASE("That two carried tensors are one holds for the first trip of a functionalised loop") {
  const auto loop = [](const auto& body) {
    return [body](const Tensors&) {
      const Tensor t =
          call("aten::full", {std::vector<int64_t>{}, 0}, {{"dtype", DType::Int64}})[0];
      return while_loop(
          [](const Tensors& of) {
            return call("aten::lt.Scalar", {of[0], 1});
          },
          body, {t, t});
    };
  };
  const auto three = [](const Tensor& like) {
    return call("aten::new_full", {like, std::vector<int64_t>{}, 3})[0];
  };
  const auto moves = [=](const Tensors& of) {
    const Tensor next = call("aten::add.Scalar", {of[0], 1})[0];
    call("aten::set_.source_Tensor", {next, of[1]});
    return Tensors{next, three(of[1])};
  };
  const auto writes = [=](const Tensors& of) {
    call("aten::add_.Scalar", {of[0], 1});
    return Tensors{call("aten::clone", {of[1]})[0], three(of[1])};
  };
  const std::vector<std::string_view> stacks{"functional_mode, trace_symbols",
                                             "functionalize, trace", "functionalize"};
  CHECK(verdicts(stacks, loop(moves), {number(0)}) == "passed, passed, passed");
  CHECK(verdicts(stacks, loop(writes), {number(0)}) ==
        "refused by higher_order::while_loop, refused by higher_order::while_loop, passed");
}

TEST_CASE(
    "A functionalised write that autograd does not see keeps the gradient in a traced function") {
  const auto f = [](const Tensors& in) {
    return map(
        [](const Tensors& of) {
          return call("aten::logical_and_", {call("aten::clone", {of[0]})[0], of[0]});
        },
        {in[0]}, {});
  };
  CHECK(verdicts({"functional_mode, trace, grad", "functionalize, trace_symbols, grad"}, f,
                 {tensor_with({1, 1}, DType::Float32, {0})}) == "passed, passed");
}

TEST_CASE(
    "Memory that a functionalised program looks at lies as in its graph, or that is refused") {
  const auto f = [](const Tensors& in) {
    const Tensors last = scan(
        [](const Tensors& of) {
          return call("aten::cholesky_solve", {of[0], of[0]});
        },
        {in[0]}, {in[0]});
    return call("aten::resize_as_", {last[0], in[0]},
                {{"memory_format", MemoryFormat::Contiguous}});
  };
  CHECK(verdicts({"functional_mode", "functional_mode, trace_symbols"}, f,
                 {tensor_with({2, 2}, DType::Float32, {0.75, -1.5, 0, -0.75})}) ==
        "passed, refused by aten::resize_as_");
}

TEST_CASE("An error of a body that does not run alone says that it runs for its gradient") {
  const auto f = [](const Tensors& in) {
    return trips(0,
                 [&](const Tensors& of) {
                   call("aten::contiguous", {in[0]}, {{"memory_format", MemoryFormat::Preserve}});
                   return call("aten::clone", {of[1]});
                 },
                 {in[0]});
  };
  const Tensor x = view_of(tensor_with({3}, DType::Float32, {0, 0, 0}), {2}, {2});
  CHECK(verdicts({"grad, fake"}, f, {x}) == "refused by higher_order::while_loop");
}

TEST_CASE("On fake tensors memory grows by what the last slice of a map reaches") {
  const auto f = [](const Tensors& in) {
    const Tensor sum = call("aten::sum", {in[0]})[0];
    map(
        [&](const Tensors& row) {
          call("aten::set_.source_Tensor_storage_offset", {sum, row[0], 1, std::vector<int64_t>{}});
          return Tensors{row[0]};
        },
        {in[0]}, {});
    return Tensors{};
  };
  CHECK(verdicts({"fake"}, f, {tensor_with({2}, DType::Float64, {0, 0})}) == "passed");
}

}  // namespace
}  // namespace sb::composition
