// A packet calls the overload that PyTorch's calls, for the same arguments.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "catch2/catch.hpp"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/objects/op_namespace.h"
#include "switchboard/tests/values/recorded_values.h"

namespace sb::test {
namespace {

// The name of the overload, or "refused".
std::string choice(const OpOverloadPacket& packet, const Json& positional, const Json& named) {
  Arguments arguments;
  for (const Json& value : positional) arguments.push_back(value_of(value));
  KeywordArguments keyword;
  for (const auto& [name, value] : named.items()) keyword.emplace_back(name, value_of(value));
  try {
    return std::string(packet.resolve(arguments, keyword).overload_name());
  } catch (const TypeError&) {
    return "refused";
  }
}

// Whether PyTorch has no overload of the name today, or one of another schema, where the file says
// what that is: an `int` that is a `SymInt` today takes other values.
bool has_other_schema(const OpOverloadPacket& packet, const Json& row, const std::string& got) {
  if (got != "refused" && std::ranges::find(row["of"], Json(got)) == row["of"].end()) return true;
  if (!row.contains("schemas")) return false;
  for (const auto& [name, schema] : row["schemas"].items()) {
    const std::optional<OpOverload> op = packet.find(name);
    if (op && op->schema().to_string() != schema.get<std::string>()) return true;
  }
  return false;
}

TEST_CASE("a packet chooses the recorded overload, and refuses what was refused", "[values]") {
  const std::vector<Json> lines = lines_of("overloads.jsonl");
  // The first line has the arguments, which the others name by number.
  const Json& positional = lines[0]["positional"];
  const Json& named = lines[0]["keyword"];
  int same = 0, absent = 0, other_schema = 0;
  std::vector<std::string> wrong;
  for (const Json& row : absl::MakeConstSpan(lines).subspan(1)) {
    const OpOverloadPacket packet(default_dispatcher(), row["op"].get<std::string>());
    const std::vector<std::string> here = packet.overloads();
    if (here.empty()) continue;
    const auto is_here = [&](const std::string& name) {
      return std::ranges::find(here, name) != here.end();
    };
    const auto of = row["of"].get<std::vector<std::string>>();
    const bool all_here = std::ranges::all_of(of, is_here);
    for (const auto& [recorded, all] : row["picks"].items()) {
      for (const Json& pick : all) {
        const size_t p = pick.is_array() ? pick[0].get<size_t>() : pick.get<size_t>();
        const size_t n = pick.is_array() ? pick[1].get<size_t>() : 0;
        const std::string got = choice(packet, positional[p], named[n]);
        if (got == recorded) {
          ++same;
        } else if (!all_here && !is_here(recorded)) {
          ++absent;
        } else if (has_other_schema(packet, row, got)) {
          ++other_schema;
        } else {
          wrong.push_back(str_cat(packet.name(), " ", positional[p].dump(), " ", named[n].dump(),
                                  ": recorded ", recorded, ", got ", got));
        }
      }
    }
  }
  WARN(str_cat(same, " choices as recorded; ", absent, " of overloads that are not here, ",
               other_schema, " of schemas that are older here"));
  for (const std::string& text : wrong) UNSCOPED_INFO(text);
  CHECK(wrong.empty());
}

}  // namespace
}  // namespace sb::test
