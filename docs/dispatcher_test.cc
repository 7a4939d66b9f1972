// The pages show their programs as they are, and what these print.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/docs/markdown.h"

namespace sb::docs {
namespace {

const std::string kExamples = "examples/";

// The sections of all pages that show programs.
std::vector<Section> shown_sections() {
  std::vector<Section> all;
  for (const char* page : {"docs/dispatcher.md", "docs/fake.md", "docs/custom-ops.md",
                           "docs/adding-an-op.md", "docs/distributed.md", "docs/higher-order.md",
                           "docs/new-device.md", "docs/see-it.md", "docs/vmap.md"}) {
    for (Section& section : sections_of(read_file(page))) all.push_back(std::move(section));
  }
  return all;
}

// The parts of a source between "// doc: begin" and "// doc: end", without their indentation.
std::string shown_parts(const std::string& source) {
  std::string parts;
  bool shown = false;
  size_t indentation = 0;
  for (const std::string& line : lines_of(source)) {
    if (line.ends_with("// doc: begin")) {
      shown = true;
      indentation = line.find('/');
    } else if (line.ends_with("// doc: end")) {
      shown = false;
    } else if (shown) {
      parts += line.substr(std::min(indentation, line.size())) + "\n";
    }
  }
  CHECK_FALSE(shown);
  return parts;
}

std::string output_of(const std::string& program) {
  FILE* const pipe = ::popen((program + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  std::string output;
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
  const int status = ::pclose(pipe);
  INFO(output);
  CHECK(status == 0);
  return output;
}

// Lines of sources move with every edit, and columns with them.
std::string without_lines(const std::string& text) {
  const std::string numbers = std::regex_replace(text, std::regex(R"((\.cc|\.h):\d+ *)"), "$1:N ");
  return std::regex_replace(numbers, std::regex(" +\n"), "\n");
}

// The sources that a section is about.
std::vector<std::string> sources_of(const Section& section) {
  std::vector<std::string> sources;
  for (const std::string& link : section.links)
    if (link.starts_with(kExamples)) sources.push_back("docs/" + link);
  return sources;
}

TEST_CASE("each section shows the marked parts of its sources, and what the last of them prints") {
  for (const Section& section : shown_sections()) {
    DYNAMIC_SECTION(section.title) {
      const std::vector<std::string> sources = sources_of(section);
      std::string parts;
      for (const std::string& source : sources) parts += shown_parts(read_file(source));
      CHECK(section.text("cpp") == parts);
      std::string output;
      if (!sources.empty()) output = output_of(sources.back().substr(0, sources.back().size() - 3));
      CHECK(without_lines(section.text("text")) == without_lines(output));
    }
  }
}

TEST_CASE("every example is shown") {
  std::set<std::string> shown, there;
  for (const Section& section : shown_sections())
    for (const std::string& source : sources_of(section)) CHECK(shown.insert(source).second);
  for (const auto& file : std::filesystem::directory_iterator("docs/examples"))
    if (file.path().extension() == ".cc") there.insert(file.path().string());
  CHECK(shown == there);
}

TEST_CASE("what is shown of a BUILD file is in this folder's") {
  const std::string build = read_file("docs/BUILD.bazel");
  size_t blocks = 0;
  for (const Section& section : shown_sections()) {
    for (const Section::Block& block : section.blocks) {
      CAPTURE(section.title, block.language);
      CHECK((block.language == "cpp" || block.language == "text" || block.language == "python"));
      if (block.language != "python") continue;
      ++blocks;
      CHECK_THAT(build, Catch::Contains(block.text));
    }
  }
  CHECK(blocks > 0);
}

}  // namespace
}  // namespace sb::docs
