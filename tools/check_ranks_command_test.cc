#include "switchboard/tools/check_ranks_command.h"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"

namespace sb::tools {
namespace {

using Catch::Contains;

const std::string kReduces = "tools/ranks/all_reduce.pt2";
const std::string kBroadcasts = "tools/ranks/broadcast.pt2";

std::pair<int, std::string> check(const std::vector<std::string>& words) {
  std::ostringstream out;
  const int status = check_ranks_command(CommandLine::parse(check_ranks_spec(), words), out);
  return {status, out.str()};
}

TEST_CASE("ranks that run one program agree") {
  const auto [status, text] = check({kReduces, "--ranks", "2"});
  CHECK(text == "ok: 4 calls on 2 ranks agree\n");
  CHECK(status == 0);
}

TEST_CASE("ranks that run programs which part are named, with the nodes") {
  const auto [status, text] = check({kReduces, kBroadcasts});
  INFO(text);
  CHECK(status == 1);
  CHECK_THAT(text,
             Contains("the ranks of group '0' part: rank 0: call 1 of the rank, in group '0', "
                      "_c10d_functional::all_reduce(float32[3, 4], 'sum') at ") &&
                 Contains("all_reduce") && Contains("rank 1: call 1 of the rank") &&
                 Contains("_c10d_functional::broadcast(float32[3, 4], src=0) at "));
}

TEST_CASE("a rank that fails says so") {
  // The program gathers from two ranks.
  const auto [status, text] = check({kReduces, "--ranks", "3"});
  CHECK(status == 1);
  CHECK_THAT(text, Contains("rank 0: ") && Contains("group_size is 2, and the group has 3 ranks"));
}

TEST_CASE("there is one program, or one for each rank") {
  CHECK_THROWS_AS(check({kReduces, kBroadcasts, "--ranks", "3"}), ValueError);
}

}  // namespace
}  // namespace sb::tools
