#include "switchboard/distributed/mpi/stuck_ranks.h"

#include <map>
#include <vector>

#include "catch2/catch.hpp"

namespace sb::internal {
namespace {

using Waits = std::map<int64_t, RankWait>;
using Ranks = std::vector<int64_t>;
constexpr uint64_t kAll = 7, kPair = 8, kOther = 9;

TEST_CASE("ranks that meet in two groups in another order are stuck", "[distributed][mpi]") {
  CHECK(stuck_ranks(Waits{{0, {kAll, 1, {1}, ""}}, {1, {kPair, 1, {0}, ""}}}) == Ranks{0, 1});
}

TEST_CASE("a rank that does not wait can wake all that wait for it", "[distributed][mpi]") {
  CHECK(stuck_ranks(Waits{{0, {kAll, 1, {1}, ""}}, {1, {kPair, 1, {2}, ""}}}).empty());
}

TEST_CASE("ranks in one exchange wait for bytes that are on their way", "[distributed][mpi]") {
  CHECK(stuck_ranks(Waits{{0, {kAll, 3, {1}, ""}}, {1, {kAll, 3, {0}, ""}}}).empty());
  // The other has gone on to the next exchange: it has sent what this one waits for.
  CHECK(stuck_ranks(Waits{{0, {kAll, 3, {1}, ""}}, {1, {kAll, 4, {0}, ""}}}).empty());
}

TEST_CASE("whoever waits for a stuck rank is stuck", "[distributed][mpi]") {
  const Waits waits = {{0, {kAll, 2, {1}, ""}},
                       {1, {kPair, 1, {2}, ""}},
                       {2, {kOther, 1, {1}, ""}},
                       {3, {kAll, 2, {0}, ""}}};
  // The last is where rank 0 is, and gets what that has sent.
  CHECK(stuck_ranks(waits) == Ranks{0, 1, 2});
}

TEST_CASE("a rank that is behind in the same group has not come", "[distributed][mpi]") {
  const Waits waits = {{0, {kAll, 2, {1}, ""}}, {1, {kAll, 1, {2}, ""}}, {2, {kPair, 1, {0}, ""}}};
  CHECK(stuck_ranks(waits) == Ranks{0, 1, 2});
}

TEST_CASE("two ranks that receive from each other are stuck", "[distributed][mpi]") {
  CHECK(stuck_ranks(Waits{{0, {0, 0, {1}, ""}}, {1, {0, 0, {0}, ""}}}) == Ranks{0, 1});
}

TEST_CASE("a wait travels as a line", "[distributed][mpi]") {
  const RankWait wait{12345678901234567890u, 3, {1, 2}, "call 3 of group '0', f(x) at a.cc:1"};
  const RankWait back = RankWait::from_text(wait.to_text());
  CHECK(back.group == wait.group);
  CHECK(back.exchange == 3);
  CHECK(back.missing == Ranks{1, 2});
  CHECK(back.call == wait.call);
  CHECK(RankWait::from_text("no such line").missing.empty());
}

}  // namespace
}  // namespace sb::internal
