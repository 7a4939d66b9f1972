#include "switchboard/distributed/plan/traffic.h"

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/distributed/fake/fake_engine.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/operators.h"
#include "switchboard/distributed/plan/link_model.h"
#include "switchboard/distributed/testing/counting_engine.h"
#include "switchboard/distributed/testing/ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

using Catch::Contains;
using test::CountingEngine, test::error_of, test::on_ranks;
using Program = std::function<void(const DeviceMesh& mesh)>;

// What each rank's engine is given.
std::vector<int64_t> counted(const std::vector<DeviceMesh::Dim>& dims, int64_t size,
                             const Program& program) {
  return on_ranks<int64_t>(size, [&](int64_t) {
    const auto engine = std::make_shared<CountingEngine>(world().engine());
    World world(engine);
    const WorldGuard guard(&world);
    program(DeviceMesh(dims));
    return engine->sent;
  });
}

std::vector<PlannedCall> recorded(const std::vector<DeviceMesh::Dim>& dims, int64_t size,
                                  const Program& program, int64_t rank = 0) {
  World world(fake_engine(rank, size));
  const WorldGuard guard(&world);
  const DeviceMesh mesh(dims);
  const FakeTensorMode fake;
  const FakeTensorModeGuard fake_guard(fake);
  TrafficRecorder recorder(mesh);
  const ModeGuard mode(&recorder);
  program(mesh);
  return recorder.calls();
}

// What each rank is planned to send, from the run of one.
std::vector<int64_t> planned(const std::vector<DeviceMesh::Dim>& dims, int64_t size,
                             const Program& program) {
  std::vector<int64_t> sent(static_cast<size_t>(size));
  for (const RankKind& kind : rank_kinds(recorded(dims, size, program), dims))
    for (int64_t rank : kind.ranks)
      for (int64_t bytes : kind.sent) sent[static_cast<size_t>(rank)] += bytes;
  return sent;
}

// One after the other, so that a failure says which.
const std::vector<std::pair<const char*, Program>>& programs() {
  static const std::vector<std::pair<const char*, Program>> list = {
      {"small all_reduce", [](const DeviceMesh&) { all_reduce(ones({1024}), "sum"); }},
      {"large all_reduce", [](const DeviceMesh&) { all_reduce(ones({1027}), "sum"); }},
      {"all_reduce of bytes",
       [](const DeviceMesh&) { all_reduce(ones({4099}, DType::Int8), "max"); }},
      {"all_reduce in place",
       [](const DeviceMesh&) {
         all_reduce_(ones({3, 1001}), "avg");
       }},
      {"coalesced",
       [](const DeviceMesh&) {
         const std::vector<Tensor> list = {ones({5}), ones({2, 999}), ones({0})};
         all_reduce_coalesced(list, "sum");
       }},
      {"all_gather",
       [](const DeviceMesh& mesh) {
         all_gather_tensor(ones({3, 2}), 1, mesh.group(mesh.dims().back().name));
       }},
      {"reduce_scatter",
       [](const DeviceMesh&) {
         reduce_scatter_tensor(ones({8, 2}), "sum", 0);
       }},
      {"all_to_all",
       [](const DeviceMesh&) {
         all_to_all_single(ones({8, 3}));
       }},
      {"shard_dim_alltoall",
       [](const DeviceMesh&) {
         dtensor::shard_dim_alltoall(ones({4, 8}), 0, 1, IValue("0"));
       }},
      {"all_gather by its older name",
       [](const DeviceMesh& mesh) {
         const int64_t n = mesh.group(mesh.dims().back().name)->size();
         c10d_functional_autograd::all_gather_into_tensor(
             ones({6}), n, IValue(IntrusivePtr<OpaqueObject>(mesh.group(mesh.dims().back().name))));
       }},
      {"broadcast", [](const DeviceMesh&) { broadcast(ones({7}), 1); }},
      {"barrier", [](const DeviceMesh&) { barrier(); }},
      {"all along a mesh", [](const DeviceMesh& mesh) {
         for (const DeviceMesh::Dim& dim : mesh.dims()) {
           all_reduce(ones({2049}), "sum", mesh.group(dim.name));
           broadcast(ones({3}), 0, mesh.group(dim.name));
         }
       }}};
  return list;
}

TEST_CASE("the bytes that ranks are planned to send are those that engines get") {
  const auto [name, program] = GENERATE(from_range(programs()));
  CAPTURE(name);
  CHECK(planned({{"all", 2}}, 2, program) == counted({{"all", 2}}, 2, program));
  CHECK(planned({{"all", 3}}, 3, programs()[1].second) ==
        counted({{"all", 3}}, 3, programs()[1].second));
  const std::vector<DeviceMesh::Dim> grid = {{"data", 2}, {"tensor", 2}};
  CHECK(planned(grid, 4, program) == counted(grid, 4, program));
}

TEST_CASE("rows of one's own are not sent") {
  const Program program = [](const DeviceMesh&) {
    const int64_t mine = get_rank() == 0 ? 1 : 3;
    all_to_all_single(ones({4, 5}), IntArrayRef{mine, mine}, IntArrayRef{1, 3});
  };
  const std::vector<DeviceMesh::Dim> dims = {{"all", 2}};
  CHECK(planned(dims, 2, program) == counted(dims, 2, program));
}

TEST_CASE("a message is its elements and what it says of them") {
  const Program program = [](const DeviceMesh&) {
    const Tensor x = ones({5});
    if (get_rank() == 0) {
      send(x, 1);
    } else {
      receive(x, 0);
    }
  };
  const std::vector<DeviceMesh::Dim> dims = {{"all", 2}};
  const std::vector<int64_t> sent = counted(dims, 2, program);
  const std::vector<PlannedCall> sender = recorded(dims, 2, program, 0);
  REQUIRE(sender.size() == 1);
  CHECK(bytes_sent(sender[0], 0) == sent[0]);
  CHECK(recorded(dims, 2, program, 1).empty());
  CHECK(sent[1] == 0);
}

TEST_CASE("ranks that send as much as each other over each dimension are one kind") {
  const std::vector<DeviceMesh::Dim> dims = {{"data", 2}, {"tensor", 3}};
  const std::vector<RankKind> kinds =
      rank_kinds(recorded(dims, 6,
                          [](const DeviceMesh& mesh) {
                            broadcast(ones({25}), 2, mesh.group("tensor"));
                            all_reduce(ones({2}), "sum", mesh.group("data"));
                            barrier();
                          }),
                 dims);
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0].ranks == std::vector<int64_t>{0, 1, 3, 4});
  CHECK(kinds[1].ranks == std::vector<int64_t>{2, 5});
  // Ranks compare 64 bytes, in which few data are; one sends 25 floats to two others beside them.
  CHECK(kinds[0].sent == std::vector<int64_t>{64, 128, 320});
  CHECK(kinds[1].sent == std::vector<int64_t>{64, 328, 320});
}

TEST_CASE("a group that is no dimension of the mesh is refused") {
  const std::string text = error_of([] {
    recorded({{"data", 2}, {"tensor", 2}}, 4, [](const DeviceMesh&) {
      all_reduce(ones({2}), "sum", new_group({0, 3}, "mine"));
    });
  });
  CHECK_THAT(text, Contains("_c10d_functional::all_reduce: expected a group that is a dimension of "
                            "the mesh or all ranks, got 'mine' of 2 ranks"));
}

TEST_CASE("a ring is for many bytes, a tree for few") {
  const Link link{.bytes_per_second = 1e9, .latency = 1e-6};
  PlannedCall call{CollectiveKind::AllReduce, "", 0, 8, {{1'000'000, 4}}};
  CHECK(ring_seconds(call, link) == Approx(14 * (1e-6 + 4e-3 / 8)));
  CHECK(tree_seconds(call, link) == Approx(6 * (1e-6 + 4e-3)));
  call.parts = {{1, 4}};
  CHECK(tree_seconds(call, link) < ring_seconds(call, link));
  call.group_size = 1;
  CHECK(ring_seconds(call, link) == 0);
  CHECK(tree_seconds(call, link) == 0);
}

}  // namespace
}  // namespace sb
