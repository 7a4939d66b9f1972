// A functionalised program on tensors with symbols for sizes is one for all sizes.

#include <algorithm>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/functionalize/programs.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/switch.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::test {
namespace {

struct SymbolicProgram {
  const char* name;
  TensorFunction run;  // of a matrix of at least 4 rows and columns
};
using Programs = std::vector<SymbolicProgram>;

struct Size {
  int64_t rows, columns;
};
constexpr Size kTraced = {5, 7};
constexpr Size kOthers[] = {{4, 6}, {6, 4}, {9, 5}};

Tensors inputs_of(Size size) { return {counting({size.rows, size.columns}, DeviceType::CPU)}; }

Graph traced(const TensorFunction& f, const IntrusivePtr<ShapeEnv>& env) {
  FakeTensorMode fake({.shape_env = env});
  const Tensors inputs = fake.from_tensors(inputs_of(kTraced));
  const FakeTensorModeGuard active(fake);
  return trace(f, inputs);
}

std::vector<std::string> guards_of(const IntrusivePtr<ShapeEnv>& env) {
  std::vector<std::string> texts;
  for (const Guard& guard : env->guards()) texts.push_back(guard.text);
  return texts;
}

void check_run(const Graph& graph, const TensorFunction& written, Size size) {
  INFO(size.rows << " x " << size.columns);
  const Tensors expected_inputs = inputs_of(size), inputs = inputs_of(size);
  std::string expected, got;
  CHECK_NOTHROW(expected = text_of(written(expected_inputs)));
  CHECK_NOTHROW(got = text_of(graph.run(inputs)));
  CHECK(got == expected);
  CHECK(text_of(inputs) == text_of(expected_inputs));
}

// The gradient of what f makes of twice its input, with respect to that.
TensorFunction gradient_of(const TensorFunction& f) {
  return [f](const Tensors& in) {
    const Tensor x = alias(in[0]);
    set_requires_grad(x);
    Tensors results, ones;
    for (const Tensor& y : f({x * 2}))
      if (requires_grad(y)) results.push_back(y * y);
    for (const Tensor& y : results) ones.push_back(ones_like(y));
    return grad(results, {x}, ones);
  };
}

void check_keep_symbols(const Programs& programs) {
  const Route route = GENERATE(Route::Key, Route::Mode);
  for (const SymbolicProgram& program : programs) {
    INFO(program.name << ", " << (route == Route::Key ? "by the key" : "by the mode"));
    const TensorFunction functional = functionalized(route, program.run);
    for (const bool derived : {false, true}) {
      INFO((derived ? "its gradient" : "itself"));
      const TensorFunction run = derived ? gradient_of(functional) : functional;
      const auto env = ShapeEnv::create();
      Graph graph;
      CHECK_NOTHROW(graph = traced(run, env));
      INFO(graph.to_string());
      const TensorFunction written = derived ? gradient_of(program.run) : program.run;
      const auto asked = ShapeEnv::create();
      traced(written, asked);
      for (const std::string& guard : guards_of(env))  // and the program as written asks it, too
        CHECK_THAT(guards_of(asked), Catch::Matchers::VectorContains(guard));
      for (const Size size : kOthers) check_run(graph, written, size);
    }
  }
}

TEST_CASE("views keep the symbols of what they view") {
  check_keep_symbols({
      {"a row and a column",
       [](const Tensors& in) {
         return Tensors{select(in[0], 0, 1), select(in[0], 1, -1) * 2};
       }},
      {"parts of rows and columns",
       [](const Tensors& in) {
         return Tensors{slice(in[0], 0, 1, std::nullopt, 1), slice(in[0], 1, 0, -1, 1),
                        narrow(in[0], 1, 1, 2)};
       }},
      {"other orders of dimensions",
       [](const Tensors& in) {
         return Tensors{t(in[0]), permute(unsqueeze(in[0], 0), {2, 0, 1}),
                        transpose(in[0], 0, 1) + 1};
       }},
      {"the same elements in another shape",
       [](const Tensors& in) {
         return Tensors{view(in[0], std::vector<SymInt>{in[0].sym_numel()}), flatten(in[0]),
                        squeeze_dim(unsqueeze(in[0], 1), 1)};
       }},
      {"dimensions that are repeated",
       [](const Tensors& in) {
         return Tensors{expand(unsqueeze(in[0], 0),
                               std::vector<SymInt>{2, in[0].sym_size(0), in[0].sym_size(1)}) *
                        3};
       }},
      {"as_strided",
       [](const Tensors& in) {
         return Tensors{as_strided(in[0], std::vector<SymInt>{in[0].sym_size(1)},
                                   std::vector<SymInt>{1}, in[0].sym_size(1)) *
                        1};
       }},
      {"a diagonal",
       [](const Tensors& in) { return Tensors{diagonal(slice(in[0], 0, 0, 4, 1), -1) * 1}; }},
      {"conjugates and other dtypes",
       [](const Tensors& in) {
         return Tensors{view_dtype(view_dtype(in[0], DType::Int32), DType::Float32) * 2,
                        alias(in[0]), detach(in[0])};
       }},
  });
}

TEST_CASE("writes through views keep symbols") {
  check_keep_symbols({
      {"the input",
       [](const Tensors& in) {
         mul_Scalar_(in[0], 3);
         return Tensors{in[0] + in[0], in[0]};
       }},
      {"a row of the input",
       [](const Tensors& in) {
         add_(select(in[0], 0, 1), select(in[0], 0, 2));
         return Tensors{in[0] * 2};
       }},
      {"a view of a view of a copy",
       [](const Tensors& in) {
         const Tensor x = in[0] * 1;
         const Tensor part = slice(transpose(x, 0, 1), 0, 1, std::nullopt, 1);
         mul_Scalar_(select(part, 1, 2), 10);
         add_(part, part);
         return Tensors{x, part};
       }},
      {"every other column",
       [](const Tensors& in) {
         const Tensor x = in[0] * 1;
         mul_Scalar_(slice(x, 1, 0, std::nullopt, 2), -1);
         return Tensors{x * x};
       }},
      {"the whole, read by a row",
       [](const Tensors& in) {
         const Tensor row = select(in[0], 0, 1);
         mul_Scalar_(in[0], 3);
         return Tensors{row, row + row};
       }},
      {"as a vector",
       [](const Tensors& in) {
         const Tensor x = in[0] * 1;
         const Tensor flat = view(x, std::vector<SymInt>{x.sym_numel()});
         copy_(slice(flat, 0, 1, std::nullopt, 1), slice(flat, 0, 0, -1, 1) * 2);
         return Tensors{x, flat};
       }},
      {"a permuted tensor",
       [](const Tensors& in) {
         const Tensor x = in[0] * 1;
         const Tensor y = permute(unsqueeze(x, 1), {2, 1, 0});
         add_(select(y, 0, 1), select(y, 0, 0));
         return Tensors{y, x};
       }},
      {"a diagonal",
       [](const Tensors& in) {
         const Tensor x = in[0] * 1;
         mul_Scalar_(diagonal(slice(x, 0, 0, 4, 1), -1), 2);
         return Tensors{x};
       }},
      {"by as_strided",
       [](const Tensors& in) {
         const Tensor x = in[0] * 1;
         mul_Scalar_(as_strided(x, std::vector<SymInt>{x.sym_size(1)}, std::vector<SymInt>{1},
                                x.sym_size(1)),
                     5);
         return Tensors{x * 2, select(x, 0, 1)};
       }},
      {"what an expanded tensor shows",
       [](const Tensors& in) {
         const Tensor x = select(in[0], 0, 0) * 1;
         const Tensor wide = expand(unsqueeze(x, 0), std::vector<SymInt>{3, x.sym_size(0)});
         mul_Scalar_(x, 2);
         mul_Scalar_(select(wide, 0, 1), 3);
         return Tensors{wide * 1, x};
       }},
      {"a fresh tensor of the same sizes",
       [](const Tensors& in) {
         const Tensor x = zeros_like(in[0]);
         copy_(x, in[0]);
         copy_(select(x, 0, 0), select(in[0], 0, 1) * 2);
         fill_(select(x, 0, 1), 7);
         zero_(select(x, 0, 2));
         return Tensors{x};
       }},
      {"the parts of a split",
       [](const Tensors& in) {
         const Tensor x = detach(in[0]) * 1;
         const SymInt n = x.sym_size(1);
         const std::vector<Tensor> parts = split_with_sizes(x, std::vector<SymInt>{2, n - 3, 1}, 1);
         mul_Scalar_(parts[1], 4);
         mul_Scalar_(parts[2], 5);
         return Tensors{x * in[0], parts[0] * 1};
       }},
      {"shapes that change in place",
       [](const Tensors& in) {
         const Tensor x = in[0] * 1;
         t_(x);
         unsqueeze_(x, 0);
         mul_Scalar_(x, 2);
         squeeze__dim(x, 0);
         return Tensors{x};
       }},
      {"the shape of the input",
       [](const Tensors& in) {
         t_(in[0]);
         mul_Scalar_(in[0], 2);
         return Tensors{in[0] * 1};
       }},
      {"what autograd does not see",
       [](const Tensors& in) {
         const Tensor x = in[0] * 1;
         mul_Scalar_(detach(select(x, 0, 0)), 3);
         return Tensors{x * x};
       }},
  });
}

TEST_CASE("out= of the right size keeps symbols") {
  check_keep_symbols({
      {"a fresh tensor",
       [](const Tensors& in) {
         const Tensor out = empty_like(detach(in[0]));
         mul_out(detach(in[0]), detach(in[0]), out);
         return Tensors{out * in[0]};
       }},
      {"a view",
       [](const Tensors& in) {
         const Tensor x = zeros_like(detach(in[0]));
         mul_out(detach(select(in[0], 0, 0)), detach(select(in[0], 0, 1)), select(x, 0, 2));
         return Tensors{x * in[0]};
       }},
      {"one that has no elements, and grows",
       [](const Tensors& in) {
         const Tensor out = new_empty(in[0], {0});
         mul_out(detach(in[0]), detach(in[0]), out);
         add_Scalar_(out, 1);
         return Tensors{out * in[0]};
       }},
  });
}

TEST_CASE("control flow keeps symbols") {
  check_keep_symbols({
      {"cond by data",
       [](const Tensors& in) {
         return cond(
             sum(in[0]) > 300, [](const Tensor& x) { return x * 2; },
             [](const Tensor& x) { return x - 1; }, {in[0]});
       }},
      {"cond by sizes",
       [](const Tensors& in) {
         return cond(
             in[0].sym_size(0) > 4, [](const Tensor& x) { return t(x) * 2; },
             [](const Tensor& x) { return t(x) - 1; }, {in[0]});
       }},
      {"switch",
       [](const Tensors& in) {
         const auto times = [](int64_t n) { return [n](const Tensor& x) { return x * n; }; };
         return switch_on(in[0].sym_size(0) - 4, branches(times(2), times(3), times(4)), {in[0]});
       }},
      {"while_loop",
       [](const Tensors& in) {
         return while_loop([](const Tensor& x) { return sum(x) < 10000; },
                           [](const Tensor& x) { return x * 3; }, {in[0] * 1});
       }},
      {"a function that writes to what it has made",
       [](const Tensors& in) {
         const auto rows_doubled = [](const Tensor& x) {
           const Tensor y = x * 1;
           mul_Scalar_(select(y, 0, 0), 2);
           return y;
         };
         return cond(in[0].sym_size(0) > 4, rows_doubled, [](const Tensor& x) { return x * 1; },
                     {in[0]});
       }},
  });
}

}  // namespace
}  // namespace sb::test
