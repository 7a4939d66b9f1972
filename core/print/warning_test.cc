#include "switchboard/core/print/warning.h"

#include <vector>

#include "catch2/catch.hpp"

namespace sb {
namespace {

TEST_CASE("a warning goes to the handler of the process, and to the one before once that is back") {
  std::vector<std::string> outer, inner;
  const WarningHandler first =
      set_warning_handler([&](const std::string& text) { outer.push_back(text); });
  CHECK_FALSE(first);
  warn("one");
  const WarningHandler second =
      set_warning_handler([&](const std::string& text) { inner.push_back(text); });
  warn("two");
  set_warning_handler(second);
  warn("three");
  set_warning_handler(first);
  CHECK(outer == std::vector<std::string>{"one", "three"});
  CHECK(inner == std::vector<std::string>{"two"});
}

TEST_CASE("a handler may replace itself while it is called") {
  int calls = 0;
  set_warning_handler([&](const std::string&) {
    ++calls;
    set_warning_handler(nullptr);
  });
  warn("once");
  CHECK(calls == 1);
}

}  // namespace
}  // namespace sb
