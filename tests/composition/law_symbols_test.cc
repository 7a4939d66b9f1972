// What broke the law once, in traces with symbols. As law_test.cc.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/tests/composition/law.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/scan.h"

namespace sb::composition {
namespace {

using Tensors = std::vector<Tensor>;
using Ints = std::vector<int64_t>;

Tensor number(double x) { return tensor_with({}, DType::Float32, {x}); }

TEST_CASE("A graph whose sizes data tell runs on symbols of others") {
  const auto f = [](const Tensors& in) { return Tensors{call("aten::_unique", {in[0]})[0]}; };
  CHECK(verdicts({"trace, trace_symbols", "functionalize, trace, trace_symbols"}, f,
                 {tensor_with({2}, DType::Float32, {0, 0})}) == "passed, passed");
}

TEST_CASE("A body may be given one tensor twice") {
  const auto f = [](const Tensors&) { return Tensors{}; };
  const Tensor x = number(0);
  CHECK(verdicts({"trace, body, trace_symbols", "trace, body, trace", "trace, body, fake"}, f,
                 {x, x}) ==
        "refused by higher_order::map_impl, refused by higher_order::map_impl, passed");
}

TEST_CASE("An out of symbols takes what is computed of none") {
  const auto f = [](const Tensors& in) {
    const Tensor window = call("aten::hann_window", {0})[0];
    call("aten::_unique", {in[0]});
    call("aten::linear.out", {window, window}, {{"out", in[0]}});
    return Tensors{};
  };
  CHECK(verdicts({"trace_symbols"}, f, {number(0)}) == "passed");
}

TEST_CASE("An out gets other sizes than it had, and who stands above sees that") {
  const auto f = [](const Tensors& in) {
    return call("aten::kron.out", {in[0], in[0]}, {{"out", in[0]}});
  };
  CHECK(verdicts({"trace_symbols", "functionalize, trace_symbols", "functional_mode, trace_symbols",
                  "functionalize, fake"},
                 f,
                 {tensor_with({2}, DType::Float32, {3, 5})}) == "passed, passed, passed, passed");
  const auto longer = [](const Tensors& in) {
    return call("aten::kron.out", {in[0], in[0]}, {{"out", in[1]}});
  };
  CHECK(verdicts({"trace_symbols", "functionalize, trace_symbols"}, longer,
                 {tensor_with({2}, DType::Float32, {3, 5}),
                  tensor_with({3}, DType::Float32, {0, 0, 0})}) == "passed, passed");
}

TEST_CASE("A tensor without elements overlaps with nothing, with symbols too") {
  const auto f = [](const Tensors& in) {
    const Tensors parts = call("aten::hsplit.array", {in[0], Ints{0, 0}});
    return call("aten::scatter_.src", {in[0], 0, parts[2], parts[1]});
  };
  CHECK(verdicts({"trace_symbols", "functional_mode, trace_symbols"}, f,
                 {tensor_with({2, 0}, DType::Float32, {})}) == "passed, passed");
}

TEST_CASE("A sum to a size that data tell is checked when the graph runs") {
  const auto f = [](const Tensors& in) {
    const Tensor counts = call("aten::unique_dim_consecutive", {in[0], 0, false, true})[2];
    return call("aten::sum_to_size", {counts, Ints{2}});
  };
  CHECK(verdicts({"trace_symbols"}, f, {tensor_with({2}, DType::Float32, {0, 1})}) == "passed");
}

TEST_CASE("An integral over as many points as data tell is checked when the graph runs") {
  const auto f = [](const Tensors& in) {
    return call("aten::trapz.dx", {call("aten::where", {in[0]})[1]});
  };
  CHECK(verdicts({"trace_symbols"}, f, {tensor_with({1, 1}, DType::Float32, {0})}) ==
        "refused by aten::nonzero");
  CHECK(verdicts({"trace_symbols"}, f, {tensor_with({1, 2}, DType::Float32, {1, 2})}) == "passed");
}

TEST_CASE("A window in the place of a negated view, of another shape, is written there") {
  const auto f = [](const Tensors& in) {
    const Tensor negated = call("aten::_neg_view", {in[0]})[0];
    return call("aten::hamming_window.out", {0}, {{"out", negated}});
  };
  CHECK(verdicts({"functional_mode, trace_symbols", "trace_symbols"}, f,
                 {tensor_with({2, 1}, DType::Float32, {0, 0})}) == "passed, passed");
}

TEST_CASE("A write to what a size of data fits is checked when the graph runs") {
  const auto f = [](const Tensors& in) {
    const Tensor row = call("aten::ravel", {in[0]})[0];
    const Tensor unique = call("aten::unique_dim", {row, 0})[0];
    call("aten::_foreach_clamp_min_.List", {Tensors{row}, Tensors{unique}});
    return Tensors{};
  };
  CHECK(verdicts({"trace_symbols"}, f, {number(0)}) == "passed");
}

TEST_CASE("Fake tensors refuse a write whose gradient goes where only the data tell") {
  const auto f = [](const Tensors& in) {
    const Tensor chosen = cond(
        in[1], [](const Tensors& now) { return Tensors{now[0]}; },
        [](const Tensors& now) { return call("aten::mT", {now[0]}); }, {in[0]})[0];
    call("aten::_foreach_expm1_", {Tensors{chosen}});
    return Tensors{};
  };
  const Tensor x = tensor_with({2, 1}, DType::Float32, {0, 0});
  CHECK(verdicts({"grad, trace_symbols", "trace_symbols", "fake"}, f, {x, number(0)}) ==
        "refused by aten::expm1_, passed, refused by higher_order::cond");
}

TEST_CASE("Fake tensors take a write to what a branch has made") {
  const auto f = [](const Tensors& in) {
    const Tensor chosen = cond(
        in[1], [](const Tensors& now) { return call("aten::sin", {now[0]}); },
        [](const Tensors& now) { return call("aten::cos", {now[0]}); }, {in[0]})[0];
    return call("aten::mul_.Scalar", {chosen, 2});
  };
  CHECK(verdicts({"grad, trace_symbols"}, f, {number(3), number(0)}) == "passed");
}

TEST_CASE("Fake tensors refuse another shape for what only the data tell") {
  const auto f = [](const Tensors& in) {
    const Tensor chosen = cond(
        in[0],
        [&](const Tensors&) {
          return call("aten::split_with_sizes", {in[0], Ints{1}});
        },
        [&](const Tensors&) { return Tensors{in[0]}; }, {})[0];
    call("aten::squeeze_.dims", {chosen, Ints{0}});
    return Tensors{};
  };
  CHECK(verdicts({"fake", "trace_symbols"}, f, {tensor_with({1}, DType::Float32, {0})}) ==
        "refused by aten::squeeze_.dims, refused by aten::squeeze_.dims");
}

TEST_CASE("A graph's function gets symbolic tensors that lie as those of the program") {
  const Tensor memory = tensor_with({3}, DType::Float32, {0, 0, 0});
  const auto f = [](const Tensors& in) {
    const Tensor row = call("aten::ravel", {in[0]})[0];
    call("aten::exp2_", {row});
    return Tensors{};
  };
  CHECK(verdicts({"functional_mode, body, trace_symbols", "body, trace_symbols"}, f,
                 {view_of(memory, {2}, {2})}) == "passed, passed");
}

TEST_CASE("Branches whose layouts differ where their sizes do are refused by name") {
  const Tensor memory = tensor_with({4}, DType::Float32, {0, 0, 0, 0});
  const auto f = [](const Tensors& in) {
    return cond(
        in[0], [&](const Tensors&) { return Tensors{in[1]}; },
        [&](const Tensors&) {
          return Tensors{call("aten::unique_dim_consecutive", {in[1], 0})[0]};
        },
        {});
  };
  CHECK(verdicts({"trace_symbols"}, f, {number(0), view_of(memory, {2, 2}, {1, 2})}) ==
        "refused by higher_order::cond");
}

TEST_CASE("A view beyond a view has the gradient of the memory that both view, with symbols too") {
  const auto f = [](const Tensors& in) {
    const Tensor last = call("aten::tensor_split.indices", {in[0], Ints{0, 1}})[2];
    return call("aten::as_strided", {last, Ints{1, 1}, Ints{0, 0}, 0});
  };
  CHECK(verdicts({"grad, trace_symbols"}, f, {tensor_with({2}, DType::Float32, {0, 0})}) ==
        "passed");
  CHECK(verdicts({"grad, trace_symbols"}, f, {tensor_with({3}, DType::Float32, {0, 0, 0})}) ==
        "passed");
  const auto diagonal = [](const Tensors& in) {
    const Tensor part = call("aten::linalg_diagonal", {in[0]})[0];
    return call("aten::as_strided_", {part, Ints{2}, Ints{1}});
  };
  CHECK(verdicts({"grad, trace_symbols"}, diagonal,
                 {tensor_with({1, 2}, DType::Float32, {0, 0})}) == "passed");
}

TEST_CASE("A functionalised graph of symbols has the gradients of comparisons in place") {
  const auto f = [](const Tensors& in) {
    const Tensor copy = call("aten::clone", {in[0]})[0];
    call("aten::logical_or_", {copy, in[0]});
    call("aten::_foreach_minimum_.Scalar", {Tensors{in[0]}, 0});
    call("aten::logical_and_", {in[0], in[0]});
    return Tensors{copy};
  };
  CHECK(verdicts({"functional_mode, trace_symbols, grad", "trace_symbols, grad"}, f,
                 {number(-1)}) == "passed, passed");
}

TEST_CASE("Sizes that were asked to be the same are so: a tensor is itself") {
  const auto f = [](const Tensors& in) {
    const Tensors parts = call("aten::chunk", {in[0], 3});
    const Tensors same = call("aten::broadcast_tensors", {Tensors{parts[1], parts[2]}});
    return Tensors{parts[2], same[1]};
  };
  CHECK(verdicts({"trace_symbols"}, f, {tensor_with({3}, DType::Float32, {0, 0, 0})}) == "passed");
}

TEST_CASE("A tensor that has no elements now is contiguous, and a graph rests on that") {
  const auto f = [](const Tensors& in) {
    const Tensor none = call("aten::hsplit.array", {in[0], Ints{0, 3}})[2];
    return call("aten::contiguous", {none}, {{"memory_format", MemoryFormat::Preserve}});
  };
  CHECK(verdicts({"trace_symbols"}, f,
                 {tensor_with({3, 3}, DType::Float32, {0, 0, 0, 0, 0, 0, 0, 0, 0})}) == "passed");
}

TEST_CASE("A graph's loop that carries no elements where strides differ has an end") {
  const auto f = [](const Tensors& in) {
    return scan(
        [&](const Tensors& now) {
          return Tensors{call("aten::sinh", {now[0]})[0], call("aten::clone", {now[1]})[0]};
        },
        {call("aten::swapaxes", {in[0], -1, 0})[0]}, {in[1]});
  };
  CHECK(verdicts({"trace_symbols"}, f,
                 {tensor_with({0, 2}, DType::Float32, {}),
                  tensor_with({2}, DType::Float32, {1, 2})}) == "passed");
}

TEST_CASE("A graph's loop that carries other sizes than it is given is refused") {
  const auto f = [](const Tensors& in) {
    return scan(
        [](const Tensors& now) {
          return Tensors{call("aten::_unique", {now[1]})[0], call("aten::clone", {now[1]})[0]};
        },
        {call("aten::as_strided", {in[0], Ints{1}, Ints{4}})[0]}, {in[1]});
  };
  CHECK(verdicts({"trace_symbols"}, f,
                 {tensor_with({4}, DType::Float64, {2, -1, 2, -1}),
                  tensor_with({1}, DType::Float64, {1.75})}) == "refused by aten::_unique");
}

TEST_CASE("What needs a size in which branches differ is refused by the name of who has them") {
  const auto f = [](const Tensors& in) {
    const Tensor chosen = cond(
        in[0], [&](const Tensors&) { return Tensors{in[0]}; },
        [&](const Tensors&) {
          return call("aten::masked_select", {in[0], in[0]});
        },
        {})[0];
    return scan([](const Tensors& now) { return Tensors{now[0]}; }, {}, {in[0], chosen});
  };
  CHECK(verdicts({"trace_symbols"}, f, {tensor_with({1}, DType::Bool, {1})}) ==
        "refused by higher_order::cond");
}

TEST_CASE("A graph's bincount of no elements looks at no weights") {
  const auto f = [](const Tensors& in) {
    const Tensors parts = call("aten::tensor_split.indices", {in[0], Ints{2}});
    return call("aten::bincount", {parts[1], parts[0]});
  };
  CHECK(verdicts({"trace_symbols"}, f, {tensor_with({2}, DType::Int64, {0, 0})}) == "passed");
}

TEST_CASE("An out that gets another shape is laid out anew, also where its sizes are symbols") {
  const auto f = [](const Tensors& in) {
    return call("aten::greater_equal.Tensor_out", {in[0], in[0]}, {{"out", in[1]}});
  };
  const Tensor x = tensor_with({2, 3}, DType::Float32, {0, 0, 0, 0, 0, 0});
  const Tensor out = view_of(tensor_with({6}, DType::Float32, {0, 0, 0, 0, 0, 0}), {3, 2}, {1, 3});
  CHECK(verdicts({"trace_symbols", "functional_mode, trace_symbols"}, f, {x, out}) ==
        "passed, passed");
}

}  // namespace
}  // namespace sb::composition
