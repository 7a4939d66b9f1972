#include "switchboard/tools/terminal.h"

#include <sstream>

#include "catch2/catch.hpp"

namespace sb::tools {
namespace {

const std::string kTable =
    "aten::f(Tensor self) -> Tensor\n"
    "CPU                    ops/f.cc:3               [kernel]\n"
    "Functionalize          transforms/functionalization/functionalize.cc:60 [backend fallback]\n";

TEST_CASE("text that goes to no terminal stays as it is", "[tools][terminal]") {
  std::ostringstream out;
  CHECK_FALSE(terminal_style(out).columns);
  CHECK(styled(kTable, terminal_style(out)) == kTable);
}

TEST_CASE("columns line up, however long a cell is", "[tools][terminal]") {
  CHECK(styled(kTable, {true, false}) ==
        "aten::f(Tensor self) -> Tensor\n"
        "CPU            ops/f.cc:3                                        [kernel]\n"
        "Functionalize  transforms/functionalization/functionalize.cc:60  [backend fallback]\n");
}

TEST_CASE("a key has the colour of its rule", "[tools][terminal]") {
  CHECK(styled("CPU  a.cc:1  [kernel]\n", {true, true}) ==
        "\033[34mCPU\033[0m  a.cc:1  \033[34m[kernel]\033[0m\n");
  CHECK(styled("    CPU  runs  a.cc:1  [backend fallback]", {true, true}) ==
        "    \033[33mCPU\033[0m  \033[1mruns\033[0m  a.cc:1  \033[33m[backend fallback]\033[0m");
}

TEST_CASE("the lines of a trace have their columns at the same places", "[tools][terminal]") {
  const std::string outer = "  aten::addmm  dummy  devices/dummy/register.cc:24  2.1 us";
  const std::string inner = "    aten::addmm  CPU  ops/products/matmul.cc:298  1.1 us  threw";
  CHECK(styled_trace(outer, {}) == outer);
  const std::string a = styled_trace(outer, {true, false}), b = styled_trace(inner, {true, false});
  CHECK(a.find("dummy  ") == b.find("CPU  "));
  CHECK(a.find("devices/") == b.find("ops/"));
  CHECK(a.find("2.1 us") == b.find("1.1 us"));
  CHECK_THAT(styled_trace(inner, {true, true}), Catch::EndsWith("\033[31mthrew\033[0m"));
}

TEST_CASE("a heading is bold, and what stands alone keeps its place", "[tools][terminal]") {
  CHECK(styled("aten::f\n  keys\n\n", {true, true}) ==
        "\033[1maten::f\033[0m\n  \033[1mkeys\033[0m\n\n");
}

}  // namespace
}  // namespace sb::tools
