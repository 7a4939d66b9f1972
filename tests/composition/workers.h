// Runs trials in processes of their own, so that a crash is one failure and no more.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_WORKERS_H_
#define SWITCHBOARD_TESTS_COMPOSITION_WORKERS_H_

#include <cstdint>
#include <functional>
#include <string>

namespace sb::composition {

// For the process that works: gives a line to the one that waits.
using Say = std::function<void(const std::string& line)>;

struct Work {
  uint64_t first = 0, count = 0;  // numbers of trials
  size_t jobs = 1;
  // In a worker: one trial. `place` is where it says what it is about, for the case that it
  // crashes.
  std::function<void(uint64_t number, char* place, const Say& say)> trial;
  // In the process that waits.
  std::function<void(const std::string& line)> hear;
  std::function<void(uint64_t number, const std::string& place, const std::string& how)> crashed;
  // Whether to go on.
  std::function<bool()> go_on = [] { return true; };
};
constexpr size_t kPlaceSize = 256;

// Trial `number` is done by worker number % jobs. One that takes more than a minute counts as a
// crash.
void run_in_workers(const Work& work);

// Whether f, in a process of its own, ends the process. Not if it takes more than ten seconds.
bool crashes(const std::function<void()>& f);

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_WORKERS_H_
