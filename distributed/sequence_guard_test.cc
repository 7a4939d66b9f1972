// Ranks of several groups that part are found while they run.

#include "switchboard/distributed/sequence_guard.h"

#include <cstdint>
#include <functional>
#include <string>

#include "catch2/catch.hpp"
#include "switchboard/distributed/device_mesh.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/testing/ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

using Catch::Contains;
using test::error_of;

// Four ranks in two pairs, below a guard that compares at every fourth call.
std::string error_in_pairs(const std::function<void(const DeviceMesh& mesh)>& program) {
  return error_of([&] {
    run_ranks(4, [&] {
      const DeviceMesh mesh({{"data", 2}, {"tensor", 2}});
      SequenceGuard guard(/*every=*/4);
      program(mesh);
      guard.check();
    });
  });
}

TEST_CASE("ranks that call the same in groups of their own agree", "[distributed][guard]") {
  CHECK(error_in_pairs([](const DeviceMesh& mesh) {
          for (int i = 0; i < 11; ++i) {
            all_reduce(ones({2}), "sum", mesh.group("tensor"));
            all_reduce(ones({2}), "sum", mesh.group("data"));
          }
        }) == "");
}

TEST_CASE("a group that calls something else is named with the first such call",
          "[distributed][guard]") {
  const std::string error = error_in_pairs([](const DeviceMesh& mesh) {
    const bool other = mesh.coordinate("data") == 1;
    for (int i = 0; i < 4; ++i)
      all_reduce(ones({i == 2 && other ? 3 : 2}), "sum", mesh.group("tensor"));
  });
  CHECK_THAT(error,
             Contains("DistError: rank 0: the ranks part at call 3 of each: ranks 0, 1: "
                      "_c10d_functional::all_reduce(float32[2], sum) in group 'ranks 0,1' at "
                      "distributed/sequence_guard_test.cc:") &&
                 Contains("; ranks 2, 3: _c10d_functional::all_reduce(float32[3], sum) in group "
                          "'ranks 2,3' at "));
}

TEST_CASE("a group that calls less is named at the check", "[distributed][guard]") {
  const std::string error = error_in_pairs([](const DeviceMesh& mesh) {
    const int count = mesh.coordinate("data") == 1 ? 5 : 6;
    for (int i = 0; i < count; ++i) all_reduce(ones({2}), "sum", mesh.group("tensor"));
  });
  CHECK_THAT(error, Contains("the ranks part at call 6 of each: ranks 0, 1: _c10d_functional::"
                             "all_reduce(float32[2], sum) in group ") &&
                        Contains("; ranks 2, 3: has made 5 calls"));
}

TEST_CASE("a check that a rank does not come to is an error on those that wait",
          "[distributed][guard]") {
  const std::string error = error_in_pairs([](const DeviceMesh& mesh) {
    const int count = mesh.coordinate("data") == 1 ? 3 : 4;
    for (int i = 0; i < count; ++i) all_reduce(ones({2}), "sum", mesh.group("tensor"));
    if (mesh.coordinate("data") == 1) all_reduce(ones({2}), "sum", mesh.group("data"));
  });
  CHECK_THAT(error, Contains("the ranks part at call 4 of each"));
}

TEST_CASE("a guard needs ranks, and a call between checks", "[distributed][guard]") {
  CHECK_THAT(error_of([] { SequenceGuard guard; }), Contains("no ranks were started"));
  CHECK_THAT(error_of([] { run_ranks(2, [] { SequenceGuard guard(0); }); }),
             Contains("ValueError") && Contains("expected at least 1 call between checks, got 0"));
}

TEST_CASE("the innermost guard counts, and none is left behind", "[distributed][guard]") {
  run_ranks(2, [] {
    const SequenceGuard outer(1);
    {
      const SequenceGuard inner(2);
      all_reduce(ones({1}), "sum");
    }
    all_reduce(ones({1}), "sum");
  });
}

}  // namespace
}  // namespace sb
