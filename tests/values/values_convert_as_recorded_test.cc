// Values given for arguments become what PyTorch makes of them, and it refuses what PyTorch
// refuses.

#include <map>
#include <string>

#include "catch2/catch.hpp"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/graph.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_namespace.h"
#include "switchboard/dispatch/schema/schema_parser.h"
#include "switchboard/dispatch/values/coerce_argument.h"
#include "switchboard/tests/values/recorded_values.h"

namespace sb::test {
namespace {

// A value for an argument of a type, and what a kernel gets.
struct Row {
  std::string type;
  const Json& value;
  const Json* gives;  // null: it is refused
};

std::vector<Row> rows() {
  std::vector<Row> rows;
  for (const Json& line : lines_of("conversions.jsonl")) {
    for (const std::string type : line["types"]) {
      for (const size_t n : numbers_in(line["same"].get<std::string>()))
        rows.push_back({type, numbered_value(n), &numbered_value(n)});
      for (const size_t n : numbers_in(line["refused"].get<std::string>()))
        rows.push_back({type, numbered_value(n), nullptr});
      for (const auto& [n, gives] : line["gives"].items())
        rows.push_back({type, numbered_value(std::stoul(n)), &numbered_value(gives)});
    }
  }
  return rows;
}

// The rule by which a row is not followed here; "" where it is.
std::string exception(const Row& row) {
  if (row.gives && (row.type.starts_with("ScalarType") || row.type.starts_with("Layout") ||
                    row.type.starts_with("MemoryFormat")))
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
void check(const Row& row, const std::optional<IValue>& given, Count* count) {
  const Json got = given ? json_of(*given) : Json("refused");
  if (row.gives ? given && matches(*row.gives, got) : !given) {
    ++count->same;
    return;
  }
  const std::string rule = exception(row);
  if (!rule.empty())
    ++count->excepted[rule];
  else
    count->wrong.push_back(str_cat(row.type, " <- ", row.value.dump(), ": recorded ",
                                   row.gives ? row.gives->dump() : "refused", ", got ",
                                   got.dump()));
}

TEST_CASE("a value for an argument converts as recorded", "[values]") {
  Count count;
  for (const Row& row : rows()) {
    const FunctionSchema schema = parse_schema(str_cat("f(", row.type, " x) -> ()"));
    check(row, coerce_argument(schema, 0, value_of(row.value)), &count);
  }
  report(count);
}

TEST_CASE("packets, overloads, handles and graphs convert alike", "[values]") {
  Library lib(Library::Kind::Def, "recorded_values");
  std::map<std::string, std::string> names;
  std::optional<IValue> seen;
  Count count;
  for (const Row& row : rows()) {
    auto& name = names[row.type];
    if (name.empty()) {
      name = str_cat("f", names.size());
      lib.define(str_cat(name, "(", row.type, " x) -> ()"));
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
    const Json packets = by([&] { packet.call({value_of(row.value)}); });
    const Json overloads = by([&] { overload.call({value_of(row.value)}); });
    const Json keywords = by([&] { overload.call({}, {{"x", value_of(row.value)}}); });
    const Json handles = by([&] { overload.handle().call({value_of(row.value)}); });
    const Json constants = by([&] {
      Graph graph;
      graph.call(overload, {value_of(row.value)});
      graph.output({});
      graph.run_values({});
    });
    const Json nodes = by([&] {
      Graph graph;
      graph.call(overload, {graph.placeholder("x")});
      graph.output({});
      graph.run_values({value_of(row.value)});
    });
    for (const Json& other : {overloads, keywords, handles, constants, nodes}) {
      if (other == packets)
        ++count.same;
      else
        count.wrong.push_back(str_cat(row.type, " <- ", row.value.dump(), ": a packet gives ",
                                      packets.dump(), ", another way ", other.dump()));
    }
  }
  report(count);
}

}  // namespace
}  // namespace sb::test
