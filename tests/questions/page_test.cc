// docs/questions.md is up to date; and the case that writes it, which runs only where it is named.

#include "switchboard/tests/questions/page.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "catch2/catch.hpp"
#include "switchboard/tests/questions/question.h"

namespace sb::questions {
namespace {

TEST_CASE("the page has every question, and is up to date", "[page]") {
  CHECK(all_questions().size() >= 80);
  std::ifstream file("docs/questions.md");
  REQUIRE(file);
  std::stringstream there;
  there << file.rdbuf();
  INFO("docs/questions.md is out of date: ./bazelw run //tests/questions:write_page");
  REQUIRE(there.str() == make_page());
}

TEST_CASE("the page is written", "[.write_page]") {
  const char* const workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  std::ofstream file((workspace ? std::string(workspace) + "/" : "") + "docs/questions.md");
  file << make_page() << std::flush;
  CHECK(file);
}

}  // namespace
}  // namespace sb::questions
