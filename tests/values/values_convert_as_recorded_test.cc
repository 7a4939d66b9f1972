// Values given for arguments become what PyTorch makes of them, and it refuses what PyTorch
// refuses.

#include <map>
#include <string>

#include "catch2/catch.hpp"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/graph.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_namespace.h"
#include "switchboard/dispatch/schema/coerce_argument.h"
#include "switchboard/dispatch/schema/schema_parser.h"
#include "switchboard/tests/values/recorded_values.h"

namespace sb::test {
namespace {

// Every value for every type: what a kernel gets, or nothing.
std::vector<Json> rows() { return lines_of("conversions.jsonl"); }

// The rule by which a row is not followed here; "" where it is.
std::string exception(const std::string& type, const Json& row) {
  if ((type.starts_with("ScalarType") || type.starts_with("Layout") ||
       type.starts_with("MemoryFormat")) &&
      row.contains("gives"))
    return "the number of a dtype, layout or format that does not exist here";
  return "";
}

struct Count {
  int same = 0;
  std::map<std::string, int> excepted;
  std::vector<std::string> wrong;
};

void report(const Count& count) {
  std::string text = str_cat(count.same, " rows as recorded");
  for (const auto& [rule, n] : count.excepted) text += str_cat("\n  ", n, " not: ", rule);
  WARN(text);
  for (const std::string& wrong : count.wrong) UNSCOPED_INFO(wrong);
  CHECK(count.wrong.empty());
}

// `given`: the value as the way of calling gives it to the kernel, or nullopt where it throws.
void check(const Json& row, const std::optional<IValue>& given, Count* count) {
  const std::string type = row["type"].get<std::string>();
  const Json got = given ? json_of(*given) : Json("refused");
  const bool same = row.contains("refused") ? !given : given && matches(row["gives"], got);
  if (same) {
    ++count->same;
    return;
  }
  const std::string rule = exception(type, row);
  if (!rule.empty())
    ++count->excepted[rule];
  else
    count->wrong.push_back(str_cat(type, " <- ", row["value"].dump(), ": recorded ",
                                   row.value("gives", Json("refused")).dump(), ", got ",
                                   got.dump()));
}

TEST_CASE("a value for an argument converts as recorded", "[values]") {
  Count count;
  for (const Json& row : rows()) {
    const FunctionSchema schema =
        parse_schema(str_cat("f(", row["type"].get<std::string>(), " x) -> ()"));
    check(row, coerce_argument(schema, 0, value_of(row["value"])), &count);
  }
  report(count);
}

TEST_CASE("packets, overloads, handles and graphs convert alike", "[values]") {
  Library lib(Library::Kind::Def, "recorded_values");
  std::map<std::string, std::string> names;
  std::optional<IValue> seen;
  Count count;
  for (const Json& row : rows()) {
    const std::string type = row["type"].get<std::string>();
    auto& name = names[type];
    if (name.empty()) {
      name = str_cat("f", names.size());
      lib.define(str_cat(name, "(", type, " x) -> ()"));
      lib.impl(name, DispatchKey::CompositeExplicitAutograd,
               [&](const OperatorHandle&, DispatchKeySet, Stack* stack) {
                 seen = stack->back();
                 stack->pop_back();
               });
    }
    const OpOverloadPacket packet = ops["recorded_values"][name];
    const OpOverload overload = packet["default"];
    const auto by = [&](auto&& call) -> Json {
      seen.reset();
      try {
        call();
      } catch (const TypeError&) {
        return "refused";
      }
      return json_of(seen.value());
    };
    const Json packets = by([&] { packet.call({value_of(row["value"])}); });
    const Json overloads = by([&] { overload.call({value_of(row["value"])}); });
    const Json keywords = by([&] { overload.call({}, {{"x", value_of(row["value"])}}); });
    const Json handles = by([&] { overload.handle().call({value_of(row["value"])}); });
    const Json constants = by([&] {
      Graph graph;
      graph.call(overload, {value_of(row["value"])});
      graph.output({});
      graph.run_values({});
    });
    const Json nodes = by([&] {
      Graph graph;
      graph.call(overload, {graph.placeholder("x")});
      graph.output({});
      graph.run_values({value_of(row["value"])});
    });
    for (const Json& other : {overloads, keywords, handles, constants, nodes}) {
      if (other == packets)
        ++count.same;
      else
        count.wrong.push_back(str_cat(type, " <- ", row["value"].dump(), ": a packet gives ",
                                      packets.dump(), ", another way ", other.dump()));
    }
  }
  report(count);
}

}  // namespace
}  // namespace sb::test
