// Work that is split over threads.

#ifndef SWITCHBOARD_OPS_CPU_PARALLEL_H_
#define SWITCHBOARD_OPS_CPU_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace sb {

// How many threads an operator may use, the caller's own among them: at first as many as the
// machine runs at once, or what the environment variable SB_NUM_THREADS says. As
// `torch.set_num_threads`; ValueError for less than 1. Thread-safe; calls under way keep the
// threads that they have.
void set_num_threads(int n);
int get_num_threads();

// Whether the calling thread runs a piece of a parallel_for that is split over threads, so that
// another one would run on this thread alone. A call with one piece, or made when one thread was
// allowed, is not split: what it calls may be.
bool in_parallel_region();

// Calls f(from, to) for pieces that cover [begin, end) once, each of `grain` steps but for the
// last, on several threads at once, and returns when all are done. The pieces are the same for any
// number of threads, so that what each computes by itself does not depend on it. One piece, one
// thread or a call from inside a piece runs on the calling thread alone. Rethrows one of the
// exceptions that pieces threw; the others are not begun then, where that is still possible.
// Threads that cannot be had are done without. As `at::parallel_for`.
void parallel_for(int64_t begin, int64_t end, int64_t grain,
                  absl::FunctionRef<void(int64_t, int64_t)> f);

// The grain of loops over elements: below so many, threads cost more than they bring.
inline constexpr int64_t kElementGrain = 32768;

}  // namespace sb

#endif  // SWITCHBOARD_OPS_CPU_PARALLEL_H_
