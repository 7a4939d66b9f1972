// Pages of this folder as their tests read them.

#ifndef SWITCHBOARD_DOCS_MARKDOWN_H_
#define SWITCHBOARD_DOCS_MARKDOWN_H_

#include <string>
#include <string_view>
#include <vector>

namespace sb::docs {

// The whole file. Throws std::runtime_error naming it if it cannot be read.
std::string read_file(const std::string& path);

// The lines of a text, without their line feeds.
std::vector<std::string> lines_of(const std::string& text);

// A part of a page below a heading "## ...".
struct Section {
  std::string title;
  std::vector<std::string> links;  // targets, in order: "examples/keys.cc"
  struct Block {
    std::string language;  // behind the fence: "cpp"
    std::string text;      // each line with its line feed
  };
  std::vector<Block> blocks;

  // The blocks of a language, one after the other.
  std::string text(std::string_view language) const;
};
std::vector<Section> sections_of(const std::string& page);

// The cells of every table row of a page, without its headings: rows that begin with "|", their
// cells without spaces around them. A bar in a cell is written "\\|".
std::vector<std::vector<std::string>> table_rows(const std::string& page);

}  // namespace sb::docs

#endif  // SWITCHBOARD_DOCS_MARKDOWN_H_
