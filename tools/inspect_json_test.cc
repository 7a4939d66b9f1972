#include "switchboard/tools/inspect_json.h"

#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/io/safetensors/json_document.h"
#include "switchboard/tools/dump_commands.h"
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

TEST_CASE("every operator can be explained on every device", "[tools][json]") {
  for (const std::string device : {"cpu", "fake:cuda:0"}) {
    for (const OperatorHandle& op : default_dispatcher().all_ops()) {
      CAPTURE(device, op.name().to_string());
      std::ostringstream out;
      const std::vector<std::string> words = {op.name().to_string(), "--device", device};
      CHECK_NOTHROW(explain_command(CommandLine::parse(explain_spec(), words), out));
    }
  }
}

TEST_CASE("an explanation on a fake device goes through fake mode", "[tools][json]") {
  const auto json = run(explain_spec(), explain_command, {"aten::relu", "--device", "fake"});
  CHECK(json.root().at("tensors").elements().size() == 1);
  const auto below = json.root().at("below").elements();
  REQUIRE_FALSE(below.empty());
  CHECK(below.back().at("key").to_string() == "Meta");
  CHECK(below.back().at("verdict").to_string() == "runs");
}

TEST_CASE("an explanation says that a call runs if and only if it exits with 0", "[tools][json]") {
  for (const std::string device : {"cpu", "fake:cuda:0"}) {
    size_t fail = 0;
    for (const OperatorHandle& op : default_dispatcher().all_ops()) {
      CAPTURE(device, op.name().to_string());
      std::ostringstream out;
      const std::vector<std::string> words = {op.name().to_string(), "--device", device, "--json"};
      const int status = explain_command(CommandLine::parse(explain_spec(), words), out);
      const auto json = io::JsonDocument::parse(out.str(), "sb explain");
      CHECK(json.root().at("runs").to_bool() == (status == 0));
      if (status != 0) ++fail;
    }
    if (device == "cpu") CHECK(fail > 0);
  }
}

TEST_CASE("an explanation of a factory goes on to the kernel that makes its memory",
          "[tools][json]") {
  for (const std::string name : {"aten::zeros", "aten::full", "aten::ones_like", "aten::new_zeros",
                                 "aten::empty_like", "aten::empty_permuted"}) {
    CAPTURE(name);
    const auto json = run(explain_spec(), explain_command, {name, "--device", "cpu"});
    const auto below = json.root().at("below").elements();
    REQUIRE_FALSE(below.empty());
    CHECK(below.back().at("operator").to_string().starts_with("aten::empty"));
    CHECK(below.back().at("key").to_string() == "CPU");
    CHECK(below.back().at("rule").to_string() == "kernel");
  }
}

TEST_CASE("operators are listed as JSON", "[tools][json]") {
  const auto json = run(ops_spec(), ops_command, {"aten::mm*"});
  const auto ops = json.root().elements();
  REQUIRE_FALSE(ops.empty());
  CHECK(ops[0].at("operator").to_string() == "aten::mm");
}

TEST_CASE("all tables are dumped as JSON, higher-order operators too", "[tools][json]") {
  const auto json = run(dump_spec(), dump_command, {});
  size_t found = 0;
  for (const io::JsonValue& op : json.root().elements()) {
    const std::string name = op.at("operator").to_string();
    if (name != "aten::relu" && name != "higher_order::cond") continue;
    ++found;
    CHECK_FALSE(op.at("schema").to_string().empty());
    CHECK_FALSE(op.at("slots").elements().empty());
  }
  CHECK(found == 2);
}

TEST_CASE("what changed between dumps is JSON with what was there before", "[tools][json]") {
  TableDump before, after;
  dump_higher_order_ops(&before);
  after = before;
  after.erase("higher_order::cond");
  after["higher_order::scan"].slots.clear();
  const auto json = io::JsonDocument::parse(diff_json(diff_tables(before, after)), "diff");
  CHECK(json.root().at("removed").elements().size() == 1);
  CHECK(json.root().at("added").elements().empty());
  const auto changed = json.root().at("changed").elements();
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].at("operator").to_string() == "higher_order::scan");
  const io::JsonValue slot = changed[0].at("slots").elements().at(0);
  CHECK_FALSE(slot.at("keys").elements().empty());
  CHECK(slot.at("after").to_string() == "nothing");
}

}  // namespace
}  // namespace sb::tools
