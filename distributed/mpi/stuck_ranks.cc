#include "switchboard/distributed/mpi/stuck_ranks.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <sstream>
#include <utility>

namespace sb::internal {
namespace {

// So many ranks fit a line beside the call; one of them is enough to wait for.
constexpr size_t kMostMissing = 16;

}  // namespace

std::string RankWait::to_text() const {
  std::ostringstream text;
  const size_t count = std::min(missing.size(), kMostMissing);
  text << group << ' ' << exchange << ' ' << count;
  for (size_t i = 0; i < count; ++i) text << ' ' << missing[i];
  text << ' ' << call;
  return text.str();
}

RankWait RankWait::from_text(const std::string& text) {
  std::istringstream stream(text);
  RankWait wait;
  size_t count = 0;
  stream >> wait.group >> wait.exchange >> count;
  for (size_t i = 0; i < std::min(count, kMostMissing); ++i) {
    int64_t rank = -1;
    if (stream >> rank) wait.missing.push_back(rank);
  }
  if (!stream) return {};
  stream.ignore(1);
  std::getline(stream, wait.call);
  return wait;
}

std::vector<int64_t> stuck_ranks(const std::map<int64_t, RankWait>& waits) {
  std::map<int64_t, RankWait> stuck = waits;
  const auto is_stuck = [&](const RankWait& wait) {
    return std::any_of(wait.missing.begin(), wait.missing.end(), [&](int64_t other) {
      const auto there = stuck.find(other);
      if (there == stuck.end()) return false;
      const bool has_come = there->second.group == wait.group && wait.group != 0 &&
                            there->second.exchange >= wait.exchange;
      return !has_come;
    });
  };
  // Whoever can be woken may wake others.
  while (std::erase_if(stuck, [&](const auto& entry) { return !is_stuck(entry.second); }) > 0) {
  }
  std::vector<int64_t> ranks;
  for (const auto& [rank, unused] : stuck) ranks.push_back(rank);
  return ranks;
}

}  // namespace sb::internal
