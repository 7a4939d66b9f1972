// Compares, while a program runs, which collectives its ranks have called.

#ifndef SWITCHBOARD_DISTRIBUTED_SEQUENCE_GUARD_H_
#define SWITCHBOARD_DISTRIBUTED_SEQUENCE_GUARD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "switchboard/distributed/digest.h"
#include "switchboard/distributed/group.h"

namespace sb {

class Call;

// For programs whose ranks all call the same, if in groups of their own, as those of a mesh do. The
// ranks of one group compare each call by themselves. What they cannot see is that another group
// does something else: it comes out as a hang in a call behind that, or as other numbers. As long
// as a guard lives, ranks compare a hash of all calls so far, over all groups, at every
// so-and-so-many call; where they differ, all of them throw DistError with the first call that
// does.
//
//   SequenceGuard guard;
//   for (...) train_step();
//   guard.check();
//
// All ranks of the world make one at the same place; the innermost counts. Groups are compared by
// how their ranks lie, so that all lines of a mesh along a dimension are alike, and calls by what a
// group compares: operator, options, dtypes, sizes.
// Messages are not looked at. Used by its rank's thread.
class SequenceGuard {
 public:
  // Of this thread's world. ValueError for less than 1.
  explicit SequenceGuard(int64_t every = 512);
  ~SequenceGuard();
  SequenceGuard(const SequenceGuard&) = delete;
  SequenceGuard& operator=(const SequenceGuard&) = delete;

  // Compares now; a call of all ranks. Finds ranks that made fewer calls than others, too.
  void check();

  // Tells this thread's guard, if there is one, of a call that is about to be made.
  static void on_call(const Call& call);

 private:
  // What errors say of a call. Programs make the same calls again and again.
  struct Text {
    std::string call, place;
    GroupPtr group;
  };
  struct Made {
    uint64_t text;      // in texts_
    uint64_t sequence;  // the hash of all calls up to this one
  };

  void add(const Call& call);
  std::string describe(int64_t index) const;

  const int64_t every_;
  SequenceGuard* const outer_;
  int64_t calls_ = 0;
  Digest sequence_;
  std::vector<Made> recent_;  // the calls since ranks last agreed
  absl::flat_hash_map<uint64_t, Text> texts_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_SEQUENCE_GUARD_H_
