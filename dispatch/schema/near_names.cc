#include "switchboard/dispatch/schema/near_names.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace sb::internal {
namespace {

constexpr size_t kMostNames = 5;

// How many letters have to be inserted, left out or replaced to make one of the other.
[[gnu::cold]] size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t k = 1; k <= b.size(); ++k) {
      const size_t replaced = diagonal + (a[i - 1] != b[k - 1]);
      diagonal = row[k];
      row[k] = std::min({replaced, row[k] + 1, row[k - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

[[gnu::cold]] std::vector<std::string> near_names(std::string_view wanted,
                                                  const std::vector<std::string>& names) {
  const size_t most = std::max<size_t>(2, wanted.size() / 3);
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& name : names) {
    const size_t distance = edit_distance(wanted, name);
    const bool begins = !wanted.empty() && name.rfind(wanted, 0) == 0;
    if ((distance <= most && distance < wanted.size()) || begins) near.emplace_back(distance, name);
  }
  std::sort(near.begin(), near.end());
  if (near.size() > kMostNames) near.resize(kMostNames);
  std::vector<std::string> result;
  for (auto& [distance, name] : near) result.push_back(std::move(name));
  return result;
}

}  // namespace sb::internal
