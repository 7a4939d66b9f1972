// Gradients of collectives are collectives: of the sum of all ranks' losses.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/operators.h"
#include "switchboard/distributed/testing/ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;
using test::error_of, test::on_ranks, test::sizes_of, test::Sizes, test::tensors_on,
    test::values_of;
using Values = std::vector<double>;
namespace c10d = c10d_functional;

Tensor leaf(const Tensor& t) {
  set_requires_grad(t);
  return t;
}
// Numbers that differ from element to element and from rank to rank.
Tensor numbers(std::vector<int64_t> sizes, int64_t rank) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return view(add_Scalar(arange(n, DType::Float64), 1 + 100 * rank),
              std::vector<SymInt>(sizes.begin(), sizes.end()));
}

// A program from rank and input to output. Its gradients, by the sum over all ranks of
// (output * weights).sum(), against differences of that number.
void check_gradient(int64_t size, const std::vector<int64_t>& input_sizes,
                    const std::function<Tensor(const Tensor&)>& program) {
  const auto loss_of = [&](const Tensor& x, int64_t r) {
    const Tensor y = program(x);
    return sum(mul(y, numbers(test::sizes_of(y), 7 * r + 3)));
  };
  const std::vector<Tensor> gradients = tensors_on(size, [&](int64_t r) {
    const Tensor x = leaf(numbers(input_sizes, r));
    backward(loss_of(x, r));
    return grad_of(x);
  });
  for (int64_t rank = 0; rank < size; ++rank) {
    const Tensor& gradient = gradients[static_cast<size_t>(rank)];
    REQUIRE(gradient.defined());
    REQUIRE(sizes_of(gradient) == input_sizes);
    for (int64_t i = 0; i < gradient.numel(); ++i) {
      // The programs are linear: a step of any size is exact but for rounding.
      const auto total = [&](double step) {
        double sum_of_losses = 0;
        for (const Tensor& loss : tensors_on(size, [&](int64_t r) {
               const Tensor x = numbers(input_sizes, r);
               if (r == rank) view(x, {-1}).data<double>()[i] += step;
               return loss_of(x, r);
             }))
          sum_of_losses += values_of(loss)[0];
        return sum_of_losses;
      };
      CHECK(values_of(gradient)[static_cast<size_t>(i)] ==
            Approx((total(1) - total(-1)) / 2).epsilon(1e-9));
    }
  }
}

TEST_CASE("gradients of all collectives are those of the sum of all ranks' losses") {
  const int64_t n = GENERATE(1, 2, 3, 4);
  const std::string_view op = GENERATE("sum", "avg");
  check_gradient(n, {2}, [&](const Tensor& x) { return all_reduce(x, op); });
  check_gradient(n, {n, 2}, [&](const Tensor& x) { return reduce_scatter_tensor(x, op, 0); });
}

TEST_CASE("those that move elements, too") {
  const int64_t n = GENERATE(1, 2, 3, 4);
  check_gradient(n, {2}, [](const Tensor& x) { return all_gather_tensor(x, 0); });
  check_gradient(n, {}, [](const Tensor& x) { return all_gather_tensor(x, 0); });
  check_gradient(n, {1, 2}, [](const Tensor& x) { return all_gather_tensor(x, 1); });
  check_gradient(n, {2}, [&](const Tensor& x) { return broadcast(x, n - 1); });
  check_gradient(n, {n}, [](const Tensor& x) { return all_to_all_single(x); });
  check_gradient(n, {1, n},
                 [](const Tensor& x) { return dtensor::shard_dim_alltoall(x, 0, 1, "0"); });
  check_gradient(n, {3}, [&](const Tensor& x) {
    // Rank r sends everything to rank 0.
    std::vector<int64_t> out(static_cast<size_t>(n)), in(static_cast<size_t>(n));
    in[0] = 3;
    if (get_rank() == 0) out.assign(static_cast<size_t>(n), 3);
    return all_to_all_single(x, IntArrayRef(out), IntArrayRef(in));
  });
}

TEST_CASE("in-place forms have the same gradients") {
  const int64_t n = GENERATE(1, 2, 3);
  check_gradient(n, {2}, [](const Tensor& x) {
    const Tensor y = mul_Scalar(x, 2);
    all_reduce_(y, "sum");
    return y;
  });
  check_gradient(n, {2}, [](const Tensor& x) {
    const Tensor y = mul_Scalar(x, 2);
    broadcast_(y, 0);
    return y;
  });
}

TEST_CASE("coalesced forms have gradients, with zeros for results that nobody uses") {
  const int64_t n = GENERATE(1, 2, 3);
  const auto halves = [](const Tensor& x) {
    return std::vector<Tensor>{mul_Scalar(x, 2), mul_Scalar(x, 3)};
  };
  check_gradient(n, {2}, [&](const Tensor& x) {
    return all_reduce_coalesced(halves(x), "sum")[static_cast<size_t>(get_rank() % 2)];
  });
  check_gradient(n, {2}, [&](const Tensor& x) {
    return c10d::all_gather_into_tensor_coalesced(halves(x), n, "0")[1];
  });
  check_gradient(n, {n}, [&](const Tensor& x) {
    return c10d::reduce_scatter_tensor_coalesced(halves(x), "sum", n, "0")[0];
  });
}

TEST_CASE("gradients have gradients") {
  const std::vector<Tensor> second = tensors_on(2, [](int64_t r) {
    const Tensor x = leaf(numbers({2}, r));
    const Tensor y = all_reduce(mul(x, x), "sum");
    const std::vector<Tensor> first = sb::grad({sum(mul(y, y))}, {x}, {}, {.create_graph = true});
    backward(sum(first[0]));
    return grad_of(x);
  });
  CHECK(second[0].defined());
  CHECK(values_of(second[0]) != Values{0, 0});
}

TEST_CASE("subgroups sum among themselves") {
  const std::vector<Tensor> grads = tensors_on(4, [](int64_t r) {
    const GroupPtr low = new_group({0, 1}), high = new_group({2, 3});
    const Tensor x = leaf(ones({1}));
    backward(sum(mul_Scalar(all_reduce(x, "sum", r < 2 ? low : high), r)));
    return grad_of(x);
  });
  CHECK(values_of(grads[0]) == Values{1});  // 0 + 1
  CHECK(values_of(grads[3]) == Values{5});  // 2 + 3
}

TEST_CASE("reductions that are not linear have no gradient, and say so") {
  const std::string op = GENERATE("product", "min", "max");
  const std::string error =
      error_of([&] { run_ranks(2, [&] { backward(sum(all_reduce(leaf(ones({1})), op))); }); });
  CHECK_THAT(error, Contains("_c10d_functional::all_reduce: only the reductions sum and avg have a "
                             "gradient, got '" +
                             op + "'"));
  CHECK_THAT(error_of([&] {
               run_ranks(2, [&] { backward(sum(reduce_scatter_tensor(leaf(ones({2})), op, 0))); });
             }),
             Contains("_c10d_functional::reduce_scatter_tensor: only the reductions sum and avg"));
}

TEST_CASE("what would lose a gradient is refused: messages, out= and lists in place") {
  CHECK_THAT(error_of([] { run_ranks(2, [] { send(leaf(ones({1})), 0); }); }),
             Contains("_c10d_functional::isend: has no gradient, and float32[1] on cpu requires "
                      "one; detach it"));
  CHECK_THAT(
      error_of([] {
        run_ranks(2, [] { c10d::all_gather_into_tensor_out(leaf(ones({1})), 2, "0", empty({2})); });
      }),
      Contains("an out= form records nothing, and an argument requires a gradient"));
  CHECK_THAT(error_of([] {
               run_ranks(2, [] {
                 const Tensor y = mul_Scalar(leaf(ones({1})), 2);
                 c10d::all_reduce_coalesced_({y}, "sum", "0");
                 backward(sum(y));
               });
             }),
             Contains("_c10d_functional::all_reduce_coalesced_: no derivative is registered"));
}

TEST_CASE("waiting keeps the history of a tensor") {
  const Tensor x = leaf(ones({2}));
  backward(sum(c10d::wait_tensor(mul_Scalar(x, 3))));
  CHECK(values_of(grad_of(x)) == Values{3, 3});
}

TEST_CASE("the operators of _c10d_functional_autograd are the others by an older name") {
  const int64_t n = 2;
  check_gradient(n, {2}, [&](const Tensor& x) {
    return c10d_functional_autograd::all_gather_into_tensor(x, n, "0");
  });
  check_gradient(n, {2}, [&](const Tensor& x) {
    return c10d_functional_autograd::reduce_scatter_tensor(x, "sum", n, "0");
  });
  check_gradient(n, {2}, [&](const Tensor& x) {
    return c10d_functional_autograd::all_to_all_single(x, {1, 1}, {1, 1}, "0");
  });
}

}  // namespace
}  // namespace sb
