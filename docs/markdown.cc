#include "switchboard/docs/markdown.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace sb::docs {
namespace {

constexpr std::string_view kFence = "```";

void add_links(const std::string& line, std::vector<std::string>& links) {
  for (size_t at = line.find("]("); at != line.npos; at = line.find("](", at + 1)) {
    const size_t end = line.find(')', at);
    if (end != line.npos) links.push_back(line.substr(at + 2, end - at - 2));
  }
}

std::string without_spaces_around(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) throw std::runtime_error(path + ": cannot be read");
  return text.str();
}

std::string Section::text(std::string_view language) const {
  std::string all;
  for (const Block& block : blocks)
    if (block.language == language) all += block.text;
  return all;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<Section> sections_of(const std::string& page) {
  std::vector<Section> sections;
  bool in_block = false;
  for (const std::string& line : lines_of(page)) {
    if (!in_block && line.starts_with("## ")) {
      sections.push_back({line.substr(3), {}, {}});
    } else if (sections.empty()) {
      continue;
    } else if (line.starts_with(kFence)) {
      in_block = !in_block;
      if (in_block) sections.back().blocks.push_back({line.substr(kFence.size()), ""});
    } else if (in_block) {
      sections.back().blocks.back().text += line + "\n";
    } else {
      add_links(line, sections.back().links);
    }
  }
  return sections;
}

std::vector<std::vector<std::string>> table_rows(const std::string& page) {
  std::vector<std::vector<std::string>> rows;
  bool in_body = false;  // below the line of dashes
  for (const std::string& line : lines_of(page)) {
    if (line.starts_with("|---")) {
      in_body = true;
      continue;
    }
    in_body = in_body && line.starts_with("|");
    if (!in_body) continue;
    std::vector<std::string>& row = rows.emplace_back();
    std::string cell;
    for (size_t i = 1; i < line.size(); ++i) {
      if (line.substr(i, 2) == "\\|") {
        cell += line[++i];
      } else if (line[i] == '|') {
        row.push_back(without_spaces_around(cell));
        cell.clear();
      } else {
        cell += line[i];
      }
    }
  }
  return rows;
}

}  // namespace sb::docs
