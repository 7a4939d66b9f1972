// Columns of text that line up.

#ifndef SWITCHBOARD_TOOLS_PLAN_TEXT_TABLE_H_
#define SWITCHBOARD_TOOLS_PLAN_TEXT_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "switchboard/tools/plan/count.h"

namespace sb::plan {

// "4,810"; and "at least 18,446,744,073,709,551,615" for a count that saturated.
std::string with_commas(uint64_t number);
// The same, or an expression.
std::string with_commas(const Count& count);

class TextTable {
 public:
  // Titles of the columns; those that begin with '>' hold numbers, which end at one place.
  explicit TextTable(const std::vector<std::string>& titles);
  void add(std::vector<std::string> row);  // as many cells as there are titles
  std::string to_string() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_;
};

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_TEXT_TABLE_H_
