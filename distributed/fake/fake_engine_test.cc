#include "switchboard/distributed/fake/fake_engine.h"

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/distributed/device_mesh.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/testing/ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using Catch::Contains;
using test::error_of, test::sizes_of, test::Sizes;

TEST_CASE("fake tensors have the shapes that they would have on ranks that are not there") {
  World world(fake_engine(1000, 1024));
  const WorldGuard guard(&world);
  const DeviceMesh mesh({{"data", 64}, {"tensor", 16}});
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(ones({32, 2}));
  CHECK(get_rank() == 1000);
  CHECK(mesh.coordinate("data") == 62);
  CHECK(mesh.coordinate("tensor") == 8);
  CHECK(sizes_of(all_gather_tensor(x, 0)) == Sizes{32 * 1024, 2});
  CHECK(sizes_of(all_gather_tensor(x, 1, mesh.group("tensor"))) == Sizes{32, 32});
  CHECK(sizes_of(reduce_scatter_tensor(x, "sum", 0, mesh.group("tensor"))) == Sizes{2, 2});
  CHECK(sizes_of(all_reduce(x, "avg")) == Sizes{32, 2});
  CHECK_THAT(error_of([&] { reduce_scatter_tensor(x, "sum", 0); }),
             Contains("rank 1000 of group '0': expected a first dimension that 1024 ranks can "
                      "divide, got float32[32, 2]"));
}

TEST_CASE("real tensors are refused: their values would be wrong") {
  World world(fake_engine(0, 2));
  const WorldGuard guard(&world);
  CHECK(error_of([] { all_reduce(ones({2}), "sum"); }) ==
        "RuntimeError: _c10d_functional::all_reduce: rank 0 of group '0': the fake engine moves no "
        "data; give the operator fake tensors");
  CHECK_THAT(error_of([] { send(ones({2}), 1); }), Contains("the fake engine moves no data"));
}

TEST_CASE("a rank is one of those that there are") {
  CHECK(error_of([] { fake_engine(2, 2); }) ==
        "ValueError: fake_engine: expected a rank from 0 to 1, got 2");
}

}  // namespace
}  // namespace sb
