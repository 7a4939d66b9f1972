#include "switchboard/tools/plan/text_table.h"

#include <algorithm>

#include "switchboard/core/error.h"
#include "switchboard/tools/plan/count.h"

namespace sb::plan {

std::string with_commas(uint64_t number) {
  std::string text = str_cat(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return (number == kSaturated ? "at least " : "") + text;
}

std::string with_commas(const Count& count) {
  return count.is_symbolic() ? count.to_string() : with_commas(count.number());
}

TextTable::TextTable(const std::vector<std::string>& titles) : rows_(1) {
  for (const std::string& title : titles) {
    right_.push_back(title.starts_with('>'));
    rows_[0].push_back(title.substr(right_.back() ? 1 : 0));
  }
}

void TextTable::add(std::vector<std::string> row) {
  SB_ASSERT(row.size() == right_.size());
  rows_.push_back(std::move(row));
}

std::string TextTable::to_string() const {
  std::vector<size_t> widths(right_.size(), 0);
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      line += (i > 0 ? "   " : "") + (right_[i] ? padding + row[i] : row[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace sb::plan
