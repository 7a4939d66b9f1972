// Proof before the run: do all ranks of a program call the same?
//
//   check_ranks(4, [] { train(load_data()); });  // throws where it would hang or fail

#ifndef SWITCHBOARD_DISTRIBUTED_CHECK_CHECK_RANKS_H_
#define SWITCHBOARD_DISTRIBUTED_CHECK_CHECK_RANKS_H_

#include <cstdint>
#include <functional>

namespace sb {

struct CheckRanksOptions {
  // Which rank, at most this one, runs the same program with the same arguments; itself if none
  // does. For programs that do not ask which rank they are. Such ranks are recorded once; where the
  // program calls in a group that one of them is not in, that one is recorded by itself.
  std::function<int64_t(int64_t rank)> same_as = nullptr;
};

// Runs the program as each of `size` ranks, one after the other, on fake tensors: what it makes has
// no data, and tensors from outside become fake. Then plays what they called against each other.
// Returns how many collectives and messages there were on all ranks.
//
// Throws DistError at the first point where ranks part (another operator, option, group, dtype,
// shape or order), or where none can go on (one has ended, or groups or messages wait in a circle),
// naming ranks and the lines of their calls; and the error of a rank that fails, with "rank N: "
// before it. A program whose control flow depends on data fails so. How many rows all_to_all sends
// to whom is not compared. NotImplementedError for batches of messages. ValueError for less than
// one rank, and for a same_as() that is none of 0 to the rank.
int64_t check_ranks(int64_t size, const std::function<void()>& program,
                    const CheckRanksOptions& options = {});

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_CHECK_CHECK_RANKS_H_
