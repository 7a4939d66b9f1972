// Puts what the programs of the pages print into the pages, after a change that moves lines:
//
//   ./bazelw run //docs:write_output
//
// Each block of text gets as many lines as it had, and the last of a section what is left.

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>

#include "switchboard/docs/shown_programs.h"

namespace sb::docs {
namespace {

std::string with_output(const std::string& page) {
  const std::string fence = "```text\n";
  std::string text = read_file(page);
  size_t at = 0;  // behind the last block
  for (const Section& section : sections_of(text)) {
    const std::vector<std::string> sources = sources_of(page, section);
    if (sources.empty()) continue;
    const std::vector<std::string> lines = lines_of(output_of(sources.back()));
    size_t written = 0, left = 0;
    for (const Section::Block& block : section.blocks) left += block.language == "text";
    for (const Section::Block& block : section.blocks) {
      if (block.language != "text") continue;
      const size_t end = --left ? written + lines_of(block.text).size() : lines.size();
      std::string shown;
      for (; written < end && written < lines.size(); ++written) shown += lines[written] + "\n";
      at = text.find(fence + block.text, at) + fence.size();
      text.replace(at, block.text.size(), shown);
      at += shown.size();
    }
  }
  return text;
}

}  // namespace
}  // namespace sb::docs

int main() {
  const char* const root = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (!root) {
    std::cerr << "write_output: start it with bazel run\n";
    return 2;
  }
  try {
    for (const std::string& page : sb::docs::pages_with_programs()) {
      // Read before it is opened: what is read here may be a link to it.
      const std::string text = sb::docs::with_output(page);
      std::ofstream(std::string(root) + "/" + page, std::ios::binary) << text;
    }
  } catch (const std::exception& error) {
    std::cerr << "write_output: " << error.what() << "\n";
    return 1;
  }
}
