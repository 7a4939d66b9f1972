#include "switchboard/distributed/parties.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"

namespace sb {

std::string describe_parties(absl::Span<const int64_t> members, absl::Span<const uint64_t> keys,
                             absl::Span<const TextLine> lines) {
  std::vector<std::pair<uint64_t, std::vector<size_t>>> parties;
  for (size_t m = 0; m < keys.size(); ++m) {
    auto party = std::find_if(parties.begin(), parties.end(),
                              [&](const auto& p) { return p.first == keys[m]; });
    if (party == parties.end()) party = parties.insert(party, {keys[m], {}});
    party->second.push_back(m);
  }
  std::string text;
  for (const auto& [unused, places] : parties) {
    std::vector<int64_t> ranks;
    for (size_t m : places) ranks.push_back(members[m]);
    text += str_cat(text.empty() ? "" : "; ", ranks.size() == 1 ? "rank " : "ranks ",
                    absl::StrJoin(ranks, ", "), ": ", lines[places[0]].data());
  }
  return text;
}

}  // namespace sb
