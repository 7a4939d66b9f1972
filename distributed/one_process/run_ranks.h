// Runs a program on several ranks, each a thread of this process.
//
//   run_ranks(4, [] {
//     const Tensor x = full({2}, get_rank());
//     std::cout << all_reduce(x, "sum") << "\n";
//   });

#ifndef SWITCHBOARD_DISTRIBUTED_ONE_PROCESS_RUN_RANKS_H_
#define SWITCHBOARD_DISTRIBUTED_ONE_PROCESS_RUN_RANKS_H_

#include <cstdint>
#include <functional>

namespace sb {

struct RunRanksOptions {
  // Seconds that a rank waits for others that compute. Where nobody computes, a wait that cannot
  // end is found at once.
  double timeout = 60;
};

// Calls `program` on `size` threads at once, in a world of that many ranks, and returns when all
// have. Throws the error of a rank with "rank N: " before it: of those that failed by themselves
// the lowest, as one that only waited for a failed one says nothing new. ValueError for less than
// one rank.
void run_ranks(int64_t size, const std::function<void()>& program,
               const RunRanksOptions& options = {});

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_ONE_PROCESS_RUN_RANKS_H_
