// What counts as a write: what a program does to a tensor, not how an operator made it.

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using Ints = std::vector<int64_t>;

struct Made {
  const char* op;
  Arguments arguments;
  KeywordArguments keyword = {};
};
std::vector<Made> factories() {
  const Tensor x = test::tensor_of({2}, {0.25, 0.75});
  const Tensor square = test::tensor_of({2, 2}, {1, 2, 3, 4});
  return {
      {"aten::empty.memory_format", {Ints{2}}},
      {"aten::zeros", {Ints{2}}},
      {"aten::ones", {Ints{2}}},
      {"aten::full", {Ints{2}, 3}},
      {"aten::scalar_tensor", {3}},
      {"aten::arange", {3}},
      {"aten::arange.start", {1, 3}},
      {"aten::arange.start_step", {1, 9, 2}},
      {"aten::linspace", {0, 1, 3}},
      {"aten::logspace", {0, 1, 3}},
      {"aten::eye", {2}},
      {"aten::eye.m", {2, 3}},
      {"aten::empty_like", {x}},
      {"aten::zeros_like", {x}},
      {"aten::ones_like", {x}},
      {"aten::full_like", {x, 3}},
      {"aten::new_empty", {x, Ints{2}}},
      {"aten::new_zeros", {x, Ints{2}}},
      {"aten::new_ones", {x, Ints{2}}},
      {"aten::new_full", {x, Ints{2}, 3}},
      {"aten::rand", {Ints{2}}},
      {"aten::randn", {Ints{2}}},
      {"aten::randint", {3, Ints{2}}},
      {"aten::randint.low", {1, 3, Ints{2}}},
      {"aten::randperm", {3}},
      {"aten::rand_like", {x}},
      {"aten::randn_like", {x}},
      {"aten::randint_like", {x, 3}},
      {"aten::bernoulli", {x}},
      {"aten::normal.Tensor_float", {x}},
      {"aten::poisson", {x}},
      {"aten::multinomial", {x, 1}},
      {"aten::tril_indices", {3, 3}},
      {"aten::triu_indices", {3, 3}},
      {"aten::hann_window", {4}},
      {"aten::clone", {x}},
      {"aten::cumsum", {x, 0}},
      {"aten::cat", {std::vector<Tensor>{x, x}}},
      {"aten::stack", {std::vector<Tensor>{x, x}}},
      {"aten::tril", {square}},
      {"aten::block_diag", {std::vector<Tensor>{square}}},
      {"aten::nonzero", {x}},
      {"aten::repeat", {x, Ints{2}}},
      {"aten::constant_pad_nd", {x, Ints{1, 1}}},
      {"aten::index_add",
       {x, 0, test::tensor_of({1}, {0}, DType::Int64), test::tensor_of({1}, {1})}},
      {"aten::index_fill.int_Scalar", {x, 0, test::tensor_of({1}, {0}, DType::Int64), 1}},
      {"aten::masked_fill.Scalar", {x, test::tensor_of({2}, {0, 1}, DType::Bool), 1}},
      {"aten::scatter.value", {x, 0, test::tensor_of({1}, {0}, DType::Int64), 1}},
      {"aten::index_put",
       {x, std::vector<std::optional<Tensor>>{test::tensor_of({1}, {0}, DType::Int64)},
        test::tensor_of({1}, {1})}},
      {"aten::slice_scatter", {x, test::tensor_of({1}, {1}), 0, 0, 1}},
      {"aten::select_scatter", {x, test::tensor_of({}, {1}), 0, 0}},
  };
}

TEST_CASE("a fresh tensor is at version 0, whatever made it") {
  for (const Made& made : factories()) {
    INFO(made.op);
    CHECK(lookup_op(made.op).call(made.arguments, made.keyword)[0].to_tensor().version() == 0);
  }
}

TEST_CASE("a write of the program counts, to a fresh tensor too") {
  const Tensor x = ones({2});
  x += 1.0;
  CHECK(x.version() == 1);
  fill_(x, 3);
  CHECK(x.version() == 2);
}

TEST_CASE("an undefined tensor has no strides to ask for") {
  CHECK_THROWS_AS(Tensor().strides(), RuntimeError);
  CHECK_THROWS_WITH(Tensor().strides(), Catch::Contains("undefined"));
  CHECK_THROWS_AS(Tensor().stride(0), Error);
}

}  // namespace
}  // namespace sb
