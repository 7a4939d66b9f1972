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

// Arguments by number, as the first line of the file has them.
struct Call {
  Arguments positional() const {
    Arguments values;
    for (const size_t n : numbers) values.push_back(value_of(numbered_value(n)));
    return values;
  }
  KeywordArguments keyword() const {
    KeywordArguments values;
    for (const auto& [name, n] : names.items())
      values.emplace_back(name, value_of(numbered_value(n)));
    return values;
  }

  const Json& numbers;
  const Json& names;
};

// The name of the overload, or "refused".
std::string choice(const OpOverloadPacket& packet, const Call& call) {
  try {
    return std::string(packet.resolve(call.positional(), call.keyword()).overload_name());
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

struct Count {
  int same = 0, absent = 0, other_schema = 0;
  std::vector<std::string> wrong;
};

// Of a packet: `row` says which overload it picks for which of the calls.
void check(const OpOverloadPacket& packet, const Json& row, const Json& calls, Count* count) {
  const std::vector<std::string> here = packet.overloads();
  const auto is_here = [&](const std::string& name) {
    return std::ranges::find(here, name) != here.end();
  };
  const bool all_here = std::ranges::all_of(row["of"].get<std::vector<std::string>>(), is_here);
  for (const auto& [recorded, picks] : row["picks"].items()) {
    for (const auto& [keyword, positional] : picks.items()) {
      for (const size_t n : numbers_in(positional.get<std::string>())) {
        if (here.empty()) {
          ++count->absent;
          continue;
        }
        const Call call{calls["positional"][n], calls["keyword"][std::stoul(keyword)]};
        const std::string got = choice(packet, call);
        if (got == recorded) {
          ++count->same;
        } else if (!all_here && !is_here(recorded)) {
          ++count->absent;
        } else if (has_other_schema(packet, row, got)) {
          ++count->other_schema;
        } else {
          count->wrong.push_back(str_cat(packet.name(), " values ", call.numbers.dump(), " ",
                                         call.names.dump(), ": recorded ", recorded, ", got ",
                                         got));
        }
      }
    }
  }
}

TEST_CASE("a packet chooses the recorded overload, and refuses what was refused", "[values]") {
  const std::vector<Json> lines = lines_of("overloads.jsonl");
  Count count;
  for (const Json& row : absl::MakeConstSpan(lines).subspan(1)) {
    for (const std::string& op : row["ops"].get<std::vector<std::string>>())
      check(OpOverloadPacket(default_dispatcher(), "aten::" + op), row, lines[0], &count);
  }
  WARN(str_cat(count.same, " choices as recorded; ", count.absent,
               " of overloads that are not here, ", count.other_schema,
               " of schemas that are older here"));
  for (const std::string& text : count.wrong) UNSCOPED_INFO(text);
  CHECK(count.wrong.empty());
}

}  // namespace
}  // namespace sb::test
