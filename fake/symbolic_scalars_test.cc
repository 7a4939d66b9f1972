// Symbols where operators take numbers.

#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/symbols/symbolic_number.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/inspect/call_text.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/elementwise/pow.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

const Device kCuda(DeviceType::CUDA, 0);

struct Fixture {
  IntrusivePtr<ShapeEnv> env = ShapeEnv::create();
  FakeTensorMode fake{{.shape_env = env}};
  Tensor x = fake.from_tensor(zeros({5, 7}), {.device = kCuda, .source = "x"});
  SymInt s0 = x.sym_size(0), s1 = x.sym_size(1);
};

std::string sizes_text(const Tensor& t) {
  std::string text;
  for (const SymInt& s : t.sym_sizes()) text += (text.empty() ? "" : ", ") + s.to_string();
  return text;
}

TEST_CASE("arithmetic with a symbol is arithmetic with a number that is not known",
          "[fake][symbolic]") {
  Fixture f;
  const Tensor same[] = {mul_Scalar(f.x, f.s0),
                         div_Scalar(f.x, f.s0),
                         add_Scalar(f.x, f.s0, f.s1),
                         sub_Scalar(f.x, f.s0),
                         rsub_Scalar(f.x, f.s0),
                         add(f.x, f.x, f.s0),
                         pow_Tensor_Scalar(f.x, sym_float(f.s0)),
                         clamp(f.x, Scalar(f.s0), std::nullopt),
                         masked_fill(f.x, gt_Scalar(f.x, f.s0), f.s0),
                         where_ScalarOther(eq_Scalar(f.x, f.s0), f.x, sym_float(f.s0)),
                         f.x / sym_true_div(f.s0, f.s1)};
  for (const Tensor& t : same) CHECK(t.describe() == "float32[s0, s1] on cuda:0");
  CHECK(f.env->guards().empty());
}

TEST_CASE("a symbol's kind promotes as a number's does", "[fake][symbolic]") {
  Fixture f;
  const Tensor ints = f.fake.from_tensor(zeros({3}, DType::Int32));
  CHECK(mul_Scalar(ints, f.s0).dtype() == DType::Int32);
  CHECK(mul_Scalar(ints, sym_float(f.s0)).dtype() == DType::Float32);
  CHECK(div_Scalar(ints, f.s0).dtype() == DType::Float32);
  CHECK(f.env->guards().empty());
}

TEST_CASE("a mean by a symbolic count needs no number", "[fake][symbolic]") {
  Fixture f;
  CHECK(div_Scalar(sum(f.x), f.x.sym_numel()).describe() == "float32[] on cuda:0");
  const SymInt u = f.env->create_unbacked_symint();
  CHECK(div_Scalar(f.x, u).describe() == "float32[s0, s1] on cuda:0");
  CHECK(f.env->guards().empty());
}

TEST_CASE("fresh tensors take symbols for their elements", "[fake][symbolic]") {
  Fixture f;
  FakeTensorModeGuard active(f.fake);
  CHECK(full({f.s0, 2}, f.s1).describe() == "int64[s0, 2] on cpu");
  CHECK(full({2}, sym_float(f.s1)).dtype() == DType::Float32);
  CHECK(full({2}, f.s0 > 3).dtype() == DType::Bool);
  CHECK(scalar_tensor(f.s0).dim() == 0);
  CHECK(full_like(f.x, f.s0).describe() == "float32[s0, s1] on cuda:0");
  CHECK(f.env->guards().empty());
}

TEST_CASE("a range has a symbolic length", "[fake][symbolic]") {
  Fixture f;
  FakeTensorModeGuard active(f.fake);
  CHECK(sizes_text(arange(f.s0)) == "s0");
  CHECK(arange(f.s0).dtype() == DType::Int64);
  CHECK(arange(f.s0, DType::Float32).describe() == "float32[s0] on cpu");
  CHECK(sizes_text(arange_start(0, f.s0)) == "s0");
  CHECK(sizes_text(arange_start_step(0, f.s0, 2)) == "(s0 + 1)//2");
  CHECK(sizes_text(arange_start_step(1, f.s0 + 1, 1)) == "s0");
  CHECK(sizes_text(arange_start_step(f.s0, 0, -1)) == "s0");
  CHECK(f.env->guards().empty());
  CHECK(sizes_text(arange_start(f.s0, f.s1)) == "-s0 + s1");
  CHECK(f.env->guards()[0].text == "s0 <= s1");
  const SymInt u = f.env->create_unbacked_symint();
  constrain_range_for_size(u);
  CHECK(sizes_text(arange(u)) == "u0");
}

TEST_CASE("a float range counts in floats", "[fake][symbolic]") {
  Fixture f;
  FakeTensorModeGuard active(f.fake);
  const Tensor t = arange_start_step(0, f.s0, 0.5);
  CHECK(t.dtype() == DType::Float32);
  CHECK(hint(t.sym_size(0)) == 10);
  CHECK(f.env->guards().empty());
}

TEST_CASE("boxed calls keep symbols", "[fake][symbolic]") {
  Fixture f;
  const OperatorHandle op = default_dispatcher().find_op_or_throw("aten::mul.Scalar");
  const std::vector<IValue> results = op.call({f.x, f.s0}, {});
  CHECK(results[0].to_tensor().describe() == "float32[s0, s1] on cuda:0");
  CHECK(f.env->guards().empty());
}

TEST_CASE("a number that stands for a symbol is a tensor among tensors", "[fake][symbolic]") {
  Fixture f;
  const Tensor number = wrapped_scalar_tensor(f.s0);
  CHECK(symbolic_number_of(number)->to_string() == "s0");
  CHECK(wrapped_number_text(number) == "s0");
  CHECK(mul(f.x, number).describe() == "float32[s0, s1] on cuda:0");
  CHECK(mul(number, f.x).describe() == "float32[s0, s1] on cuda:0");
  CHECK(f.env->guards().empty());
}

TEST_CASE("a traced graph prints its symbols and settles none", "[fake][symbolic]") {
  Fixture f;
  const Graph graph = trace(
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{mul_Scalar(in[0], in[0].sym_size(0))};
      },
      {f.x});
  CHECK_THAT(graph.to_string(), Catch::Contains("arg0: float32[s0, s1] on cuda:0"));
  CHECK_THAT(graph.to_string(), Catch::Contains("(arg0, s0)"));
  CHECK(f.env->guards().empty());
}

// A program whose lengths are data: each result has u0 in it, or u0 for an element.
std::vector<Tensor> with_longest(const std::vector<Tensor>& in) {
  const Tensor &x = in[0], &lengths = in[1];
  const Scalar longest = item(max_all(lengths));
  const SymInt n = longest.to_sym_int();
  constrain_range_for_size(n);
  return {arange(longest),
          full({2, 3}, longest),
          clamp(x, std::nullopt, longest),
          div_Scalar(sum(x), longest),
          slice(x, 0, 0, n),
          mean_dim(slice(x, 0, 0, n), {{0}})};
}
std::vector<std::string> descriptions(const std::vector<Tensor>& tensors) {
  std::vector<std::string> texts;
  for (const Tensor& t : tensors) texts.push_back(t.describe());
  return texts;
}

TEST_CASE("a number from data is a length, an element, a bound, a divisor and an end",
          "[fake][symbolic]") {
  Fixture f;
  const Tensor lengths = f.fake.from_tensor(zeros({4}, DType::Int64), {.source = "lengths"});
  const FakeTensorModeGuard active(f.fake);
  CHECK(descriptions(with_longest({f.x, lengths})) ==
        std::vector<std::string>{"int64[u0] on cpu", "int64[2, 3] on cpu",
                                 "float32[s0, s1] on cuda:0", "float32[] on cuda:0",
                                 "float32[Min(s0, u0), s1] on cuda:0", "float32[s1] on cuda:0"});
  CHECK(f.env->guards().empty());
}

TEST_CASE("so it is in a traced graph, where item() is a node", "[fake][symbolic]") {
  Fixture f;
  const Tensor lengths = f.fake.from_tensor(zeros({4}, DType::Int64), {.source = "lengths"});
  const FakeTensorModeGuard active(f.fake);
  const std::string text =
      trace(with_longest, {f.x, lengths}, {.refuse_data_dependent = false}).to_string();
  for (const char* const line :
       {"aten::arange(u0)", "aten::full([2, 3], u0)", "aten::clamp(arg0, max=u0)",
        "aten::div.Scalar(sum, u0)", "aten::slice.Tensor(arg0, start=0, end=u0)"})
    CHECK_THAT(text, Catch::Contains(line));
  CHECK(f.env->guards().empty());
}

TEST_CASE("item() gives the symbol that it is, and tensors take it", "[fake][symbolic]") {
  Fixture f;
  FakeTensorModeGuard active(f.fake);
  const Scalar u = item(sum(f.x));
  CHECK(u.is_symbolic());
  CHECK(u.is_floating_point());
  CHECK(mul_Scalar(f.x, u).describe() == "float32[s0, s1] on cuda:0");
  CHECK(f.env->guards().empty());
}

TEST_CASE("who computes with a symbol's value guards", "[fake][symbolic]") {
  Fixture f;
  const Tensor real = mul_Scalar(ones({2}), f.s0);
  CHECK(real.data<float>()[1] == 5);
  CHECK(f.env->guards().back().text == "s0 == 5");
}

}  // namespace
}  // namespace sb
