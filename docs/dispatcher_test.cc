// The pages show their programs as they are, and what these print: line numbers too, which
// `./bazelw run //docs:write_output` writes anew.

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/docs/shown_programs.h"

namespace sb::docs {
namespace {

// A section of a page, and the sources that it shows.
struct Shown {
  std::string page;
  Section section;
  std::vector<std::string> sources;
};
std::vector<Shown> shown_sections() {
  std::vector<Shown> all;
  for (const std::string& page : pages_with_programs())
    for (const Section& section : sections_of(read_file(page)))
      all.push_back({page, section, sources_of(page, section)});
  return all;
}

// The parts of a source between "// doc: begin" and "// doc: end", without their indentation; all
// of a source that has none.
std::string shown_parts(const std::string& source) {
  if (source.find("// doc: begin") == std::string::npos) return source;
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

TEST_CASE("each section shows the marked parts of its sources, and what the last of them prints") {
  for (const auto& [page, section, sources] : shown_sections()) {
    DYNAMIC_SECTION(page << ": " << section.title) {
      std::string parts;
      for (const std::string& source : sources) parts += shown_parts(read_file(source));
      CHECK(section.text("cpp") == parts);
      CHECK(section.text("text") == (sources.empty() ? "" : output_of(sources.back())));
    }
  }
}

TEST_CASE("every example is shown") {
  const std::string folder = "docs/examples";
  std::set<std::string> shown, there;
  for (const auto& [page, section, sources] : shown_sections())
    for (const std::string& source : sources)
      if (source.starts_with(folder)) CHECK(shown.insert(source).second);
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".cc") there.insert(file.path().string());
  CHECK(shown == there);
}

TEST_CASE("what is shown of a BUILD file is in this folder's") {
  const std::string build = read_file("docs/BUILD.bazel");
  size_t blocks = 0;
  for (const auto& [page, section, sources] : shown_sections()) {
    for (const Section::Block& block : section.blocks) {
      CAPTURE(page, section.title, block.language);
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
