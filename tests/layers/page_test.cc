// docs/layers.md is up to date, and each operator of the registry is of a class of it.

#include "switchboard/tests/layers/page.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/tests/layers/classes.h"

namespace sb::layers {
namespace {

TEST_CASE(
    "under every layer each class of operators does the same, or throws; the page says which") {
  const Page page = make_page();
  CHECK(page.broken == std::vector<std::string>{});
  std::ifstream file("docs/layers.md");
  REQUIRE(file);
  std::stringstream there;
  there << file.rdbuf();
  std::istringstream expected(page.text);
  INFO("docs/layers.md is out of date: ./bazelw run //tests/layers:write_page");
  for (std::string a, b;;) {
    const bool more = static_cast<bool>(std::getline(expected, a));
    REQUIRE(static_cast<bool>(std::getline(there, b)) == more);
    if (!more) break;
    REQUIRE(b == a);
  }
}

TEST_CASE("the program of a class calls an operator of that class") {
  for (const OperatorClass& c : operator_classes()) {
    INFO(c.name << ": " << c.op);
    if (c.has)
      CHECK(c.has(default_dispatcher().find_op_or_throw(c.op)));
    else
      CHECK(find_higher_order_op(c.op) != nullptr);
  }
}

TEST_CASE("each operator of the registry is of some class") {
  std::string none;
  for (const OperatorHandle& op : default_dispatcher().all_ops()) {
    const auto has = [&](const OperatorClass& c) { return c.has && c.has(op); };
    if (std::none_of(operator_classes().begin(), operator_classes().end(), has))
      none += str_cat(op.schema().to_string(), "\n");
  }
  CHECK(none == "");
}

}  // namespace
}  // namespace sb::layers
