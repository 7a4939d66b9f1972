#include "switchboard/tools/findings.h"

#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/io/exported/test_support.h"

namespace sb::tools {
namespace {

const CommandSpec kSwitch = {"find", "", 0, 0, "", {}};
const CommandSpec kToFile = {"find", "", 0, 0, "", {{"json", "[F]", "JSON, or to F"}}};

std::string printed(const CommandSpec& spec, const std::vector<std::string>& words) {
  Findings found;
  found.add("file", "run.sbr", "run.sbr: ");
  found.add("calls", 3, "3 calls\n");
  found.add_line("error", std::nullopt);
  found.add_lines("faults", {"one", "two"});
  std::ostringstream out;
  found.print(CommandLine::parse(spec, words), out);
  return out.str();
}

const Json kAsJson = {
    {"file", "run.sbr"}, {"calls", 3}, {"error", nullptr}, {"faults", {"one", "two"}}};

TEST_CASE("findings are text for people and one object for programs", "[tools][json]") {
  CHECK(printed(kSwitch, {}) == "run.sbr: 3 calls\none\ntwo\n");
  CHECK(Json::parse(printed(kSwitch, {"--json"})) == kAsJson);
}

TEST_CASE("with a file the object goes there, and the text is printed", "[tools][json]") {
  const io::TemporaryFolder folder;
  CHECK(Json::parse(printed(kToFile, {"--json"})) == kAsJson);
  CHECK(printed(kToFile, {"--json", folder / "a.json"}) == printed(kSwitch, {}));
  CHECK(Json::parse(io::read_file(folder / "a.json")) == kAsJson);
  CHECK_THROWS_WITH(printed(kToFile, {"--json", (folder / "none") + "/a.json"}),
                    Catch::Contains("cannot be opened for writing"));
}

}  // namespace
}  // namespace sb::tools
