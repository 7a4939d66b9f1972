// Whether ranks that wait for each other will ever go on.

#ifndef SWITCHBOARD_DISTRIBUTED_MPI_STUCK_RANKS_H_
#define SWITCHBOARD_DISTRIBUTED_MPI_STUCK_RANKS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sb::internal {

// What a rank says of itself while it waits.
struct RankWait {
  uint64_t group = 0;            // the meeting's; of messages 0
  uint64_t exchange = 0;         // which exchange of that group, from 1 on
  std::vector<int64_t> missing;  // ranks of which nothing has come yet; perhaps not all of them
  std::string call;              // "call 3 of group '0', ..."

  // As one line of text, with as many of the ranks as it has room for, and back. A text that is no
  // such line gives a wait for nobody.
  std::string to_text() const;
  static RankWait from_text(const std::string& text);
};

// Those of the waiting ranks that nothing can wake: each waits for one of them that is not where it
// is, or has not come as far. A rank that does not wait can wake others, and so can one that is in
// the same exchange, as it sends what it has before it waits.
std::vector<int64_t> stuck_ranks(const std::map<int64_t, RankWait>& waits);

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISTRIBUTED_MPI_STUCK_RANKS_H_
