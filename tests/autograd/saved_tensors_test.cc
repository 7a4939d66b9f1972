// Which tensors a call saves, told by what may not be written to before backward: those that
// PyTorch's derivatives save.

#include <functional>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/activations.h"
#include "switchboard/ops/elementwise/pow.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/indexing/index.h"
#include "switchboard/ops/indexing/index_along.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using test::tensor_of;

// A copy of a leaf, which may be written to.
Tensor input() {
  Tensor leaf = tensor_of({3}, {0.5, -1, 2}, DType::Float64);
  set_requires_grad(leaf);
  return clone(leaf);
}

struct Call {
  std::string name;
  std::function<Tensor(const Tensor& x, const Tensor& y)> call;
  bool saves_x, saves_y, saves_result;
};

// Whether backward refuses after a write to one of x, y and the result: number `written`.
bool is_saved(const Call& call, int written) {
  const Tensor x = input(), y = input();
  const Tensor result = call.call(x, y);
  mul_(written == 0 ? x : written == 1 ? y : result, full({}, 1, DType::Float64));
  try {
    backward({sum_all(result)});
    return false;
  } catch (const RuntimeError& error) {
    INFO(error.what());
    CHECK(std::string(error.what()).find("backward") != std::string::npos);
    return true;
  }
}

TEST_CASE("a write to what a call saved makes backward an error, and to nothing else") {
  const Tensor index = tensor_of({3}, {0, 2, 1}, DType::Int64);
  const Tensor mask = tensor_of({3}, {1, 0, 1}, DType::Bool);
  const Tensor powers = tensor_of({3}, {2, 2, 2}, DType::Int64);
  const std::vector<Call> calls = {
      {"mul", [](const Tensor& x, const Tensor& y) { return mul(x, y); }, true, true, false},
      {"gather", [&](const Tensor& x, const Tensor&) { return gather(x, 0, index); }, true, false,
       false},
      {"take", [&](const Tensor& x, const Tensor&) { return take(x, index); }, true, false, false},
      {"index_select", [&](const Tensor& x, const Tensor&) { return index_select(x, 0, index); },
       false, false, false},
      {"masked_select", [&](const Tensor& x, const Tensor&) { return masked_select(x, mask); },
       true, false, false},
      {"index_add", [&](const Tensor& x, const Tensor& y) { return index_add(x, 0, index, y); },
       false, true, false},
      {"index_copy", [&](const Tensor& x, const Tensor& y) { return index_copy(x, 0, index, y); },
       false, true, false},
      {"put", [&](const Tensor& x, const Tensor& y) { return put(x, index, y); }, false, true,
       false},
      {"prod", [](const Tensor& x, const Tensor&) { return prod_all(x); }, true, false, true},
      {"pow with exponents that have no gradient",
       [&](const Tensor& x, const Tensor&) { return pow(x, powers); }, true, false, true},
      {"leaky_relu", [](const Tensor& x, const Tensor&) { return leaky_relu(x, 0.1); }, true, false,
       false},
  };
  for (const Call& call : calls) {
    INFO(call.name);
    CHECK(is_saved(call, 0) == call.saves_x);
    CHECK(is_saved(call, 1) == call.saves_y);
    CHECK(is_saved(call, 2) == call.saves_result);
  }
}

TEST_CASE("in-place activations save what they wrote") {
  const Tensor x = leaky_relu_(input(), 0.1), y = elu_(input());
  mul_(x, full({}, 1, DType::Float64));
  mul_(y, full({}, 1, DType::Float64));
  CHECK_THROWS_AS(backward({sum_all(x)}), RuntimeError);
  CHECK_THROWS_AS(backward({sum_all(y)}), RuntimeError);
}

TEST_CASE("an in-place activation of a negative slope refuses in backward") {
  const Tensor x = leaky_relu_(input(), -0.1);
  CHECK_THROWS_WITH(backward({sum_all(x)}), Catch::Contains("negative_slope"));
}

}  // namespace
}  // namespace sb
