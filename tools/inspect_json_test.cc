#include "switchboard/tools/inspect_json.h"

#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/io/safetensors/json_document.h"
#include "switchboard/tools/inspect_commands.h"

namespace sb::tools {
namespace {

io::JsonDocument run(const CommandSpec& spec, int (*command)(const CommandLine&, std::ostream&),
                     std::vector<std::string> words) {
  words.push_back("--json");
  std::ostringstream out;
  CHECK(command(CommandLine::parse(spec, words), out) == 0);
  return io::JsonDocument::parse(out.str(), "sb " + spec.name);
}

TEST_CASE("a table is JSON with a reason for each slot", "[tools][json]") {
  const auto json = run(table_spec(), table_command, {"aten::add.Tensor"});
  CHECK(json.root().at("operator").to_string() == "aten::add.Tensor");
  size_t with_kernel = 0;
  for (const io::JsonValue& slot : json.root().at("slots").elements()) {
    CHECK_FALSE(slot.at("reason").to_string().empty());
    if (slot.find("kernel")) ++with_kernel;
    if (slot.at("key").to_string() == "CPU") CHECK(slot.at("rule").to_string() == "kernel");
  }
  CHECK(with_kernel > 10);
}

TEST_CASE("an explanation is JSON with the verdict on each key", "[tools][json]") {
  const auto json = run(explain_spec(), explain_command, {"aten::mm", "--device", "cpu"});
  CHECK(json.root().at("runs").to_bool());
  const auto looked_at = json.root().at("looked_at").elements();
  REQUIRE_FALSE(looked_at.empty());
  CHECK(looked_at.back().at("verdict").to_string() == "runs");
  CHECK_FALSE(json.root().at("keys").at("call").elements().empty());
}

TEST_CASE("operators are listed as JSON", "[tools][json]") {
  const auto json = run(ops_spec(), ops_command, {"aten::mm*"});
  const auto ops = json.root().elements();
  REQUIRE_FALSE(ops.empty());
  CHECK(ops[0].at("operator").to_string() == "aten::mm");
}

}  // namespace
}  // namespace sb::tools
