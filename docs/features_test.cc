// features.md leaves no row out, and each row names tests that exist.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/docs/markdown.h"

namespace sb::docs {
namespace {

using Names = std::vector<std::string>;

// The names of the test cases of a Catch2 source, and the questions of tests/questions.
std::set<std::string> test_cases_of(const std::string& source) {
  std::set<std::string> names;
  for (const std::string macro : {"TEST_CASE(", "TEST_CASE_METHOD(", "SCENARIO(", "SB_QUESTION("}) {
    for (size_t at = source.find(macro); at != std::string::npos; at = source.find(macro, at)) {
      at += macro.size();
      // The first string of the arguments, which may stand in several pieces.
      std::string name;
      for (size_t open = source.find('"', at); open != std::string::npos;) {
        const size_t close = source.find('"', open + 1);
        if (close == std::string::npos) break;
        name += source.substr(open + 1, close - open - 1);
        open = source.find_first_not_of(" \n", close + 1);
        if (open != std::string::npos && source[open] != '"') break;
      }
      names.insert(name);
    }
  }
  return names;
}

struct Proof {
  std::string file, test;
};
// A cell such as `a_test.cc`: "one", "two"; `b_test.cc`: "three".
std::vector<Proof> proofs_of(const std::string& cell) {
  std::vector<Proof> proofs;
  std::string file;
  for (size_t at = 0; (at = cell.find_first_of("`\"", at)) != std::string::npos;) {
    const size_t end = cell.find(cell[at], at + 1);
    REQUIRE(end != std::string::npos);
    const std::string text = cell.substr(at + 1, end - at - 1);
    if (cell[at] == '`') {
      file = text;
    } else {
      proofs.push_back({file, text});
    }
    at = end + 1;
  }
  return proofs;
}

TEST_CASE("every capability is listed once, in order") {
  Names expected, listed;
  for (const auto& [group, count] : {std::pair("A", 33),
                                     {"B", 31},
                                     {"C", 24},
                                     {"D", 20},
                                     {"E", 15},
                                     {"F", 36},
                                     {"G", 30},
                                     {"H", 10},
                                     {"I", 11},
                                     {"J", 24},
                                     {"K", 4},
                                     {"L", 21},
                                     {"M", 11}})
    for (int i = 1; i <= count; ++i) expected.push_back(group + std::to_string(i));
  for (int i = 1; i <= 4; ++i) expected.push_back("Order " + std::to_string(i));
  for (const Names& row : table_rows(read_file("docs/features.md"))) listed.push_back(row.at(0));
  CHECK(listed == expected);
}

TEST_CASE("every capability is there, and proved by tests that exist, or says why not") {
  std::map<std::string, std::set<std::string>> tests;
  for (const Names& row : table_rows(read_file("docs/features.md"))) {
    CAPTURE(row.at(0));
    REQUIRE(row.size() == 4);
    CHECK_FALSE(row[1].empty());
    CHECK_FALSE(row[2].empty());
    CHECK(row[2].find("missing") == std::string::npos);
    if (row[2].starts_with("not here: ")) continue;  // and why: there is nothing to prove
    const std::vector<Proof> proofs = proofs_of(row[3]);
    CHECK_FALSE(proofs.empty());
    for (const Proof& proof : proofs) {
      if (!tests.contains(proof.file)) tests[proof.file] = test_cases_of(read_file(proof.file));
      INFO(proof.file << " has no test \"" << proof.test << "\"");
      CHECK(tests[proof.file].contains(proof.test));
    }
  }
}

TEST_CASE("test cases are found whatever macro declares them, and in pieces") {
  CHECK(test_cases_of("TEST_CASE(\"one\", \"[tag]\") {\n"
                      "TEST_CASE_METHOD(Fixture, \"two\") {\n"
                      "TEST_CASE(\n    \"three \"\n    \"and four\") {\n"
                      "  CHECK(\"no test\");\n") ==
        std::set<std::string>{"one", "two", "three and four"});
}

}  // namespace
}  // namespace sb::docs
