// Collectives under traces, functionalisation and fake tensors: what they give alone, in the order
// of the program.

#include <cstdint>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/graph/graph.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/operators.h"
#include "switchboard/distributed/testing/ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb {
namespace {

using Catch::Contains;
using test::error_of, test::on_ranks, test::sizes_of, test::Sizes, test::tensors_on,
    test::values_of;
using Values = std::vector<double>;
using Tensors = std::vector<Tensor>;
using Program = std::function<Tensors(const Tensors&)>;
namespace c10d = c10d_functional;

Tensor input(int64_t r) { return full({4}, static_cast<double>(r + 1)); }

// Programs of two ranks, with writes and results that nobody uses.
const Program programs[] = {
    [](const Tensors& in) { return Tensors{all_reduce(in[0], "sum")}; },
    [](const Tensors& in) {
      all_reduce_(in[0], "sum");
      return Tensors{add_Scalar(in[0], 1)};
    },
    [](const Tensors& in) {
      const Tensor half = narrow(in[0], 0, 0, 2);
      broadcast_(half, 1);
      return Tensors{mul_Scalar(in[0], 2)};
    },
    [](const Tensors& in) {
      all_reduce(in[0], "max");  // nobody reads it, and the other rank waits for it
      const Tensor y = c10d::wait_tensor(in[0]);
      add_Scalar_(y, 1);
      return Tensors{all_gather_tensor(in[0], 0)};
    },
    [](const Tensors& in) {
      const Tensor y = mul_Scalar(in[0], 3);
      c10d::all_reduce_coalesced_({y, in[0]}, "sum", "0");
      return Tensors{y, reduce_scatter_tensor(in[0], "sum", 0), all_to_all_single(y)};
    },
    [](const Tensors& in) {
      const Tensor out = empty({8});
      c10d::all_gather_into_tensor_out(in[0], 2, "0", out);
      return Tensors{add_Scalar(out, 1)};
    },
};

// The results and the input afterwards.
Values outcome(const Program& program, int64_t rank) {
  const Tensor x = input(rank);
  Values all;
  for (const Tensor& t : program({x}))
    for (double v : values_of(t)) all.push_back(v);
  for (double v : values_of(x)) all.push_back(v);
  return all;
}

TEST_CASE("a functionalised program gives what it gives alone") {
  const size_t i = GENERATE(range(size_t{0}, std::size(programs)));
  const auto alone = on_ranks<Values>(2, [&](int64_t r) { return outcome(programs[i], r); });
  CHECK(on_ranks<Values>(2, [&](int64_t r) { return outcome(functionalize(programs[i]), r); }) ==
        alone);
}

TEST_CASE("a graph runs the collectives of its program, in its order, without those left out") {
  const size_t i = GENERATE(range(size_t{0}, std::size(programs)));
  const bool functional = GENERATE(false, true);
  const Program program = functional ? Program(functionalize(programs[i])) : programs[i];
  const auto alone = on_ranks<Values>(2, [&](int64_t r) { return outcome(programs[i], r); });
  CHECK(on_ranks<Values>(2, [&](int64_t r) {
          Graph graph = trace(program, {input(r)});
          graph.eliminate_dead_code();
          return outcome([&](const Tensors& in) { return graph.run(in); }, r);
        }) == alone);
}

TEST_CASE("gradients go through a functionalised program") {
  const std::vector<Tensor> grads = tensors_on(2, [](int64_t r) {
    const Tensor x = input(r);
    set_requires_grad(x);
    const Program f = functionalize([](const Tensors& in) {
      const Tensor y = mul_Scalar(in[0], 2);
      all_reduce_(y, "sum");
      return Tensors{y};
    });
    backward(sum(f({x})[0]));
    return grad_of(x);
  });
  CHECK(values_of(grads[0]) == Values{4, 4, 4, 4});
}

TEST_CASE("fake tensors have the shapes of all collectives, and send nothing") {
  for (const std::string& shapes : on_ranks<std::string>(3, [](int64_t r) -> std::string {
         if (r != 1) return "";  // the others call nothing
         FakeTensorMode fake;
         const Tensor x = fake.from_tensor(ones({6, 2}), Device("cuda:0"));
         const FakeTensorModeGuard guard(fake);
         std::string text;
         for (const Tensor& t :
              {all_reduce(x, "sum"), all_gather_tensor(x, 0), reduce_scatter_tensor(x, "sum", 0),
               broadcast(x, 2), all_to_all_single(x, {{1, 2, 4}}, {{3, 3, 0}}),
               dtensor::shard_dim_alltoall(t(x), 1, 1, "0"), c10d::wait_tensor(x)})
           text += t.describe() + "; ";
         return text;
       }))
    if (!shapes.empty())
      CHECK(shapes ==
            "float32[6, 2] on cuda:0; float32[18, 2] on cuda:0; float32[2, 2] on cuda:0; "
            "float32[6, 2] on cuda:0; float32[7, 2] on cuda:0; float32[2, 6] on cuda:0; "
            "float32[6, 2] on cuda:0; ");
}

TEST_CASE("without ranks shapes are known where the arguments tell them") {
  FakeTensorMode fake;
  const FakeTensorModeGuard guard(fake);
  const Tensor x = fake.from_tensor(ones({6}));
  CHECK(sizes_of(c10d::all_gather_into_tensor(x, 4, "0")) == Sizes{24});
  CHECK_THAT(error_of([&] { c10d::reduce_scatter_tensor(x, "sum", 4, "0"); }),
             Contains("expected a first dimension that 4 ranks can divide, got float32[6]"));
  CHECK_THAT(error_of([&] { c10d::all_reduce(x, "bor", "0"); }),
             Contains("reduction 'bor' is not for float32"));
}

TEST_CASE("symbolic sizes stay symbols") {
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  const Tensor x = fake.from_tensor(ones({6, 2}));
  const FakeTensorModeGuard guard(fake);
  CHECK(c10d::all_gather_into_tensor(x, 2, "0").is_symbolic());
  CHECK(c10d::all_reduce(x, "sum", "0").is_symbolic());
  CHECK(c10d::reduce_scatter_tensor(x, "sum", 2, "0").is_symbolic());
}

TEST_CASE("fake tensors have gradients") {
  FakeTensorMode fake;
  const FakeTensorModeGuard guard(fake);
  const Tensor x = fake.from_tensor(ones({6}));
  set_requires_grad(x);
  const Tensor y = c10d::wait_tensor(c10d::all_gather_into_tensor(x, 2, "0"));
  backward(sum(c10d::wait_tensor(mul_Scalar(y, 2))));
  REQUIRE(grad_of(x).defined());
  CHECK(sizes_of(grad_of(x)) == Sizes{6});
}

TEST_CASE("functionalisation refuses messages, whose schemas do not say that they write") {
  const bool by_mode = GENERATE(false, true);
  const Program receives = [](const Tensors& in) {
    receive(in[0], 0);
    return in;
  };
  CHECK_THAT(error_of([&] {
               run_ranks(1, [&] {
                 const Tensor x = ones({1});
                 by_mode ? FunctionalMode().functionalize(receives)({x})
                         : functionalize(receives)({x});
               });
             }),
             Contains("_c10d_functional::irecv: functionalize: it writes to a tensor"));
}

}  // namespace
}  // namespace sb
