// What broke the law once where only data tell a size. As law_test.cc.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/str_cat.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/tests/composition/law.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::composition {
namespace {

using Tensors = std::vector<Tensor>;
using Ints = std::vector<int64_t>;

Tensor number(double x) { return tensor_with({}, DType::Float32, {x}); }
Tensor matrix(std::vector<std::complex<double>> elements) {
  return tensor_with({2, 2}, DType::Float32, std::move(elements));
}

TEST_CASE("An error that rests on what was assumed of a size says whose size it is") {
  const auto broadcast = [](const Tensors& in) {
    const Tensor found = call("aten::nonzero_numpy", {in[0]})[0];
    return call("aten::_foreach_clamp_min.List", {Tensors{in[0], in[1]}, Tensors{found, found}});
  };
  CHECK(verdicts({"trace_symbols"}, broadcast,
                 {tensor_with({2}, DType::Float32, {0, 1}),
                  tensor_with({3}, DType::Float32, {0, 0, 0})}) == "refused by aten::nonzero");
  const auto branches = [](const Tensors& in) {
    const Tensor counts = call("aten::unique_consecutive", {in[0]})[2];
    const Tensor sum = call("aten::sum", {counts})[0];
    return cond(
        in[0], [&](const Tensors&) { return Tensors{counts}; },
        [&](const Tensors&) { return Tensors{sum}; }, {});
  };
  CHECK(verdicts({"trace_symbols"}, branches, {number(0)}) == "refused by higher_order::cond");
}

TEST_CASE("A size that data tell, and that cannot be the other one, is 1 where both broadcast") {
  const auto f = [](const Tensors& in) {
    const Tensor unique = call("aten::unique_dim", {in[0], 1})[0];
    call("aten::add.Tensor", {unique, in[1]});
    call("aten::matmul", {unique, call("aten::transpose.int", {unique, 0, 1})[0]});
    return call("aten::addcdiv", {in[1], unique, in[1]});
  };
  CHECK(verdicts({"trace_symbols", "custom, trace_symbols"}, f,
                 {tensor_with({2, 1}, DType::Float32, {0, 0}), matrix({1, 2, 3, 4})}) ==
        "passed, passed");
}

TEST_CASE("A graph runs where squeeze drops as many dimensions as it did in the trace") {
  const auto f = [](const Tensors& in) {
    return call("aten::squeeze", {call("aten::argwhere", {in[0]})[0]});
  };
  const Tensor three = tensor_with({2, 2}, DType::Float32, {1, 1, 0, 1});
  const Tensor one = tensor_with({2, 2}, DType::Float32, {0, 1, 0, 0});
  CHECK(verdicts({"trace_symbols"}, f, {three}) == "passed");
  CHECK(verdicts({"trace_symbols"}, f, {one}) == "refused by aten::nonzero");
}

TEST_CASE(
    "A contiguous copy of a part in a graph is refused where data tell that it is the whole") {
  const auto f = [](const Tensors& in) {
    const Tensor part = call("aten::tensor_split.tensor_indices_or_sections", {in[1], in[0], 1})[0];
    return call("aten::contiguous", {part});
  };
  const auto split_at = [](double place) {
    return Tensors{tensor_with({1}, DType::Int64, {place}),
                   tensor_with({2, 3}, DType::Int64, {0, 1, 2, 3, 4, 5})};
  };
  CHECK(verdicts({"trace_symbols"}, f, split_at(2)) == "passed");
  CHECK(verdicts({"trace_symbols"}, f, split_at(3)) == "refused by aten::_local_scalar_dense");
}

TEST_CASE("A contiguous copy in a graph is told from its argument only where a program can see") {
  const auto found = [](const Tensors& in) { return call("aten::argwhere", {in[0]})[0]; };
  const auto alone = [&](const Tensors& in) { return call("aten::contiguous", {found(in)}); };
  const auto both = [&](const Tensors& in) {
    const Tensor t = found(in);
    return Tensors{t, call("aten::contiguous", {t})[0]};
  };
  const auto written = [&](const Tensors& in) {
    const Tensor t = found(in);
    call("aten::add_.Scalar", {call("aten::contiguous", {t})[0], 1});
    return Tensors{t};
  };
  const auto reshaped = [&](const Tensors& in) {
    const Tensor t = found(in);
    call("aten::add_.Scalar", {call("aten::reshape", {t, Ints{-1}})[0], 1});
    return Tensors{t};
  };
  const Tensors three{tensor_with({2, 2}, DType::Float32, {1, 1, 0, 1})};
  const Tensors one{tensor_with({2, 2}, DType::Float32, {0, 1, 0, 0})};
  for (const TensorFunction& f : std::vector<TensorFunction>{alone, both, written, reshaped})
    CHECK(verdicts({"trace_symbols"}, f, three) == "passed");
  CHECK(verdicts({"trace_symbols"}, alone, one) == "passed");
  for (const TensorFunction& f : std::vector<TensorFunction>{both, written, reshaped})
    CHECK(verdicts({"trace_symbols"}, f, one) == "refused by aten::nonzero");
}

TEST_CASE("A dimension of at most one element may have any stride in a graph") {
  const auto f = [](const Tensors& in) {
    const Tensor part = call("aten::tensor_split.tensor_indices_or_sections", {in[0], in[0]})[0];
    return call("aten::reshape_as", {part, part});
  };
  const Tensor memory = tensor_with({1}, DType::Int64, {0});
  CHECK(verdicts({"trace_symbols"}, f, {view_of(memory, {1}, {2})}) == "passed");
}

TEST_CASE("prelu of one dimension takes one weight, as many as data tell") {
  const auto f = [](const Tensors& in) {
    const Tensor weight = call("aten::unique_consecutive", {in[0]})[0];
    return call("aten::prelu", {in[0], weight});
  };
  CHECK(verdicts({"trace_symbols"}, f, {tensor_with({1}, DType::Float32, {0})}) == "passed");
}

TEST_CASE("Elements that are not there do not overlap, in a graph with symbols either") {
  const Tensor none = view_of(tensor_with({0}, DType::Float32, {}), {2, 0}, {0, 1});
  const auto f = [](const Tensors& in) { return call("aten::abs_", {in[0]}); };
  CHECK(verdicts({"trace_symbols", "functional_mode, trace_symbols"}, f, {none}) ==
        "passed, passed");
}

TEST_CASE("The slices that unique_dim gives lie in a graph as they do alone") {
  for (const char* op : {"aten::unique_dim", "aten::unique_dim_consecutive"}) {
    CAPTURE(op);
    const auto f = [=](const Tensors& in) {
      const Tensor unique = call(op, {in[0], 1})[0];
      call("aten::expm1_", {unique});
      return Tensors{unique};
    };
    CHECK(verdicts({"trace_symbols", "functional_mode, trace_symbols"}, f,
                   {matrix({0, 1, 2, 3})}) == "passed, passed");
  }
}

TEST_CASE("Ranges between tensors are nodes of a graph, whose gradient is refused as alone") {
  for (const char* op : {"aten::linspace.Tensor_Tensor", "aten::logspace.Tensor_Tensor"}) {
    CAPTURE(op);
    const auto f = [=](const Tensors& in) { return call(op, {in[0], in[0], 2}); };
    CHECK(verdicts({"trace_symbols"}, f, {number(1)}) == "passed");
    CHECK(verdicts({"grad", "trace_symbols, grad"}, f, {number(1)}) ==
          str_cat("refused by ", op, ", does not apply"));
  }
}

// What carries one tensor, transposed, as often as the number says.
Tensor turned(const Tensors& in, int64_t trips) {
  return while_loop(
      [=](const Tensors& now) {
        return call("aten::lt.Scalar", {now[0], trips});
      },
      [](const Tensors& now) {
        return Tensors{call("aten::add.Scalar", {now[0], 1})[0],
                       call("aten::transpose.int", {now[1], 0, 1})[0]};
      },
      {call("aten::full", {Ints{}, 0})[0], in[0]})[1];
}

TEST_CASE("A factorization of what a loop gives is refused where a graph has it lying otherwise") {
  const auto f = [](const Tensors& in) {
    return Tensors{call("aten::_linalg_det", {turned(in, 0)})[1]};
  };
  CHECK(verdicts({"trace", "functionalize, trace"}, f, {matrix({0, 0.5, 0.75, -0.25})}) ==
        "refused by aten::_linalg_det, refused by aten::_linalg_det");
  const auto in_loop = [](const Tensors& in) {
    return scan(
        [](const Tensors& now) {
          return Tensors{call("aten::_linalg_det", {now[0]})[1], call("aten::clone", {now[0]})[0]};
        },
        {in[0]}, {in[1]});
  };
  CHECK(verdicts({"functionalize, trace_symbols"}, in_loop,
                 {matrix({0, 1, 2, 3}), tensor_with({3}, DType::Float32, {0, 0, 0})}) ==
        "refused by higher_order::scan");
}

TEST_CASE("A functionalised loop that carries factors is refused: its values may lie otherwise") {
  const auto f = [](const Tensors& in) {
    return scan([](const Tensors& now) { return Tensors{call("aten::_linalg_det", {now[0]})[1]}; },
                {in[0]}, {in[0]});
  };
  const Tensor memory = tensor_with({9}, DType::Float32, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(verdicts({"functional_mode", "functional_mode, trace"}, f,
                 {view_of(memory, {2, 2, 2}, {5, 2, 1})}) ==
        "passed, refused by higher_order::scan");
}

TEST_CASE("What a loop gives after no trip lies in a graph as the program gave it") {
  const auto f = [](const Tensors& in) {
    const Tensor result = turned(in, 0);
    return Tensors{result, call("aten::flatten.using_ints", {result})[0]};
  };
  const Tensor x = view_of(tensor_with({4}, DType::Float32, {0, 1, 2, 3}), {2, 2}, {1, 2});
  CHECK(verdicts({"trace"}, f, {x}) == "passed");
}

TEST_CASE("What is a view or a copy by how a loop's result lies is refused where only data tell") {
  const auto f = [](const Tensors& in) {
    const Tensor result = while_loop(
        [](const Tensors& now) {
          return call("aten::lt.Scalar", {now[0], 0});
        },
        [](const Tensors& now) {
          return Tensors{now[0], call("aten::clone", {now[1]},
                                      {{"memory_format", MemoryFormat::Contiguous}})[0]};
        },
        {call("aten::full", {Ints{}, 0})[0], in[0]})[1];
    return Tensors{result, call("aten::flatten.using_ints", {result})[0]};
  };
  const Tensor x = view_of(tensor_with({4}, DType::Float32, {0, 1, 2, 3}), {2, 2}, {1, 2});
  CHECK(verdicts({"trace", "trace_symbols"}, f, {x}) == "passed, refused by aten::reshape");
}

TEST_CASE("A loop's result and what may be a copy of it are told apart only where both are seen") {
  const auto result = [](const Tensors& in, bool both) {
    const Tensor turned_twice = turned(in, 2);
    Tensors results = call("aten::contiguous", {turned_twice});
    if (both) results.push_back(turned_twice);
    return results;
  };
  const auto alone = [&](const Tensors& in) { return result(in, false); };
  const auto both = [&](const Tensors& in) { return result(in, true); };
  const Tensor x = matrix({0, 1, 2, 3});
  CHECK(verdicts({"trace", "trace_symbols"}, alone, {x}) == "passed, passed");
  CHECK(verdicts({"trace", "trace_symbols"}, both, {x}) ==
        "refused by aten::contiguous, refused by aten::contiguous");
}

TEST_CASE(
    "as_strided of what a function was given is refused where it need not lie so in a graph") {
  const auto f = [](const Tensors& in) {
    return scan(
        [](const Tensors& now) {
          return Tensors{now[0], call("aten::as_strided", {now[0], Ints{2}, Ints{1}})[0]};
        },
        {in[0]}, {in[0]});
  };
  const Tensor memory = tensor_with({7}, DType::Float32, {0, 1, 2, 3, 4, 5, 6});
  CHECK(verdicts({"functional_mode", "functional_mode, trace"}, f,
                 {view_of(memory, {2, 2}, {4, 2})}) == "passed, refused by higher_order::scan");
  CHECK(verdicts({"functional_mode, trace"}, f, {matrix({0, 1, 2, 3})}) == "passed");
}

TEST_CASE("An error of a function of a fake program says what only data tell, in a trace or not") {
  const auto branches = [](const Tensors& in) {
    cond(
        in[0], [&](const Tensors&) { return call("aten::_unique", {in[0]}); },
        [&](const Tensors&) {
          const Tensor unique = call("aten::_unique", {in[0]})[0];
          call("aten::squeeze.dims", {unique, Ints{0}});
          return Tensors{in[0], unique};
        },
        {});
    return Tensors{};
  };
  const Tensor one = tensor_with({1, 1}, DType::Float32, {1});
  CHECK(verdicts({"trace_symbols"}, branches, {tensor_with({1, 1}, DType::Float32, {0})}) ==
        "refused by higher_order::cond");
  const auto loop = [](const Tensors& in) {
    const Tensors places = call("aten::nonzero_numpy", {in[0]});
    return scan([](const Tensors& of) { return Tensors{of[1]}; },
                call("aten::squeeze.dim", {places[1], 0}), {places[1]});
  };
  CHECK(verdicts({"custom, trace_symbols"}, loop, {one}) == "refused by higher_order::scan");
  const auto index = [](const Tensors& in) {
    const Tensor part = call("aten::tensor_split.tensor_indices_or_sections", {in[0], in[0]})[1];
    return call("aten::_unsafe_masked_index_put_accumulate",
                {part, in[0], std::vector<std::optional<Tensor>>{in[0], in[0]}, in[0]});
  };
  CHECK(verdicts({"custom, trace_symbols"}, index, {tensor_with({2}, DType::Int64, {0, 0})}) ==
        "refused by aten::_local_scalar_dense");
}

TEST_CASE("A sum to a size that data tell is of the dtype that it has, or a run refuses it") {
  const auto sum = [](const Tensors& in) {
    return call("aten::sum_to_size", {call("aten::_unique2", {in[0]})[0], Ints{1}});
  };
  CHECK(verdicts({"trace_symbols"}, sum, {tensor_with({}, DType::Bool, {0})}) ==
        "refused by aten::_unique2");
  CHECK(verdicts({"trace_symbols"}, sum, {tensor_with({2}, DType::Bool, {0, 1})}) == "passed");
}

TEST_CASE("A size that data tell is found equal to the one by which a reshape keeps all elements") {
  const auto f = [](const Tensors& in) {
    return call("aten::reshape_as", {in[0], call("aten::unique_dim", {in[0], 0})[0]});
  };
  CHECK(verdicts({"trace_symbols"}, f,
                 {view_of(tensor_with({4}, DType::Float32, {0, 0, -1, 0}), {2, 2}, {1, 2})}) ==
        "passed");
}

TEST_CASE("Sizes that somebody holds as symbols stay when somebody else settles them") {
  const auto f = [](const Tensors& in) { return call("aten::matmul", {in[0], in[1]}); };
  const Tensor nothing = tensor_with({0}, DType::Float32, {});
  CHECK(verdicts({"trace_symbols, trace, watch"}, f,
                 {view_of(nothing, {0, 2}, {1, 1}), view_of(nothing, {0, 2, 0}, {1, 1, 1})}) ==
        "passed");
}

TEST_CASE("A size that data tell is checked though it is found equal to an input's later") {
  const auto f = [](const Tensors& in) {
    const Tensor part = call("aten::masked_select", {in[0], in[1]})[0];
    const Tensor largest = call("aten::amax", {part, Ints{-1}})[0];
    return call("aten::add.Tensor", {call("aten::mul.Tensor", {part, in[0]})[0], largest});
  };
  const Tensor x = tensor_with({2}, DType::Float32, {1, 2});
  CHECK(verdicts({"trace_symbols"}, f, {x, tensor_with({2}, DType::Bool, {1, 1})}) == "passed");
  CHECK(verdicts({"trace_symbols"}, f, {x, tensor_with({2}, DType::Bool, {1, 0})}) ==
        "refused by aten::masked_select");
}

TEST_CASE("What was traced of a size that is settled has the memory that it takes") {
  const auto f = [](const Tensors& in) {
    call("composition::diagonal_of_two", {call("aten::asinh", {in[0]})[0]});
    call("composition::every_other", {call("aten::mish_backward", {in[0], in[0]})[0]});
    return Tensors{};
  };
  const Tensor x = view_of(tensor_with({2}, DType::Float32, {0, 0}), {1, 2}, {1, 1});
  CHECK(verdicts({"functionalize, trace_symbols, grad"}, f, {x}) == "passed");
}

TEST_CASE("A graph takes matrices to have the elements that data tell, or a run refuses it") {
  const auto places = [](const Tensors& in) {
    return call("aten::to.dtype", {call("aten::nonzero", {in[0]})[0], DType::Float32});
  };
  const auto rank = [&](const Tensors& in) {
    return call("aten::linalg_matrix_rank", {places(in)[0], 0.5});
  };
  const auto condition = [&](const Tensors& in) {
    return call("aten::linalg_cond", {places(in)[0]});
  };
  const Tensor none = tensor_with({2, 2}, DType::Float32, {0, 0, 0, 0});
  const Tensor some = tensor_with({2, 2}, DType::Float32, {1, 0, 0, 1});
  for (const TensorFunction& f : {TensorFunction(rank), TensorFunction(condition)}) {
    CHECK(verdicts({"trace_symbols"}, f, {none}) == "refused by aten::nonzero");
    CHECK(verdicts({"trace_symbols"}, f, {some}) == "passed");
  }
}

TEST_CASE("Functionalised, an out that may keep its shape as only data tell is refused") {
  const auto f = [](const Tensors& in) {
    const Tensor part = call("aten::dsplit.array", {in[1], Ints{1}})[1];
    const Tensor unique = call("aten::unique_dim_consecutive", {part, 1})[0];
    call("aten::lerp.Tensor_out", {in[0], in[0], unique}, {{"out", part}});
    return Tensors{};
  };
  const Tensor memory = tensor_with({9}, DType::Float32, {1, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(verdicts({"functional_mode, trace_symbols", "trace_symbols"}, f,
                 {number(0), view_of(memory, {2, 1, 4}, {4, 4, 1}, 1)}) ==
        "refused by aten::lerp.Tensor_out, passed");
}

}  // namespace
}  // namespace sb::composition
