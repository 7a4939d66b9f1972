// For tests: programs on ranks, and what each of them gives. Catch2's checks are for one thread, so
// that ranks return values.

#ifndef SWITCHBOARD_DISTRIBUTED_TESTING_RANKS_H_
#define SWITCHBOARD_DISTRIBUTED_TESTING_RANKS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/core/tensor.h"
#include "switchboard/distributed/one_process/run_ranks.h"
#include "switchboard/distributed/world.h"

namespace sb::test {

// What `program` returns on each of `size` ranks.
template <class T>
std::vector<T> on_ranks(int64_t size, const std::function<T(int64_t rank)>& program,
                        const RunRanksOptions& options = {}) {
  std::vector<T> results(static_cast<size_t>(size));
  run_ranks(
      size,
      [&] {
        const int64_t rank = get_rank();
        results[static_cast<size_t>(rank)] = program(rank);
      },
      options);
  return results;
}
inline std::vector<Tensor> tensors_on(int64_t size,
                                      const std::function<Tensor(int64_t rank)>& program) {
  return on_ranks<Tensor>(size, program);
}

// "ValueError: ..." of the error that f throws; "" if none.
template <class F>
std::string error_of(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const Error& e) {
    return str_cat(e.kind(), ": ", e.what());
  }
  return "";
}

}  // namespace sb::test

#endif  // SWITCHBOARD_DISTRIBUTED_TESTING_RANKS_H_
