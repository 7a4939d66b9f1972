#include "switchboard/tools/guards_command.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"

namespace sb::tools {
namespace {

constexpr const char* kModel = "examples/digits_mlp";

std::pair<int, std::string> guards(const std::vector<std::string>& words) {
  std::ostringstream out;
  const int status = guards_command(CommandLine::parse(guards_spec(), words), out);
  return {status, out.str()};
}

TEST_CASE("one run with a symbol for the batch tells which batch sizes a program takes") {
  const auto [status, text] = guards({kModel, "--check", "0,1,2,7,32,1000"});
  CHECK(status == 0);
  CHECK_THAT(text, Catch::Contains("digits_mlp runs as long as") &&
                       Catch::Contains("0      accept   runs") &&
                       Catch::Contains("1      accept   runs") &&
                       Catch::Contains("1000   accept   runs"));
}

TEST_CASE("guards and the sizes that were tried are there as JSON") {
  const auto [status, text] = guards({kModel, "--check", "0,7", "--json"});
  CHECK(status == 0);
  const nlohmann::json json = nlohmann::json::parse(text);
  CHECK(json["program"] == "digits_mlp");
  CHECK(json["guards"].size() > 0);
  CHECK(json["checked"].size() == 2);
  CHECK(json["checked"][1]["batch"] == 7);
  CHECK(json["checked"][1]["accepted"] == true);
  CHECK(json["checked"][1]["runs"] == true);
}

TEST_CASE("batch sizes that are none are refused") {
  CHECK_THROWS_AS(guards({kModel, "--check", "3,-1"}), ValueError);
  CHECK_THROWS_AS(guards({kModel, "--check", "many"}), ValueError);
}

}  // namespace
}  // namespace sb::tools
