// Stacks for boxed calls that typed calls make, kept by each thread.

#ifndef SWITCHBOARD_DISPATCH_SPARE_STACK_H_
#define SWITCHBOARD_DISPATCH_SPARE_STACK_H_

#include <cstddef>

#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::internal {

// The number of empty stacks that a thread keeps, and their size.
inline constexpr size_t kSpareStacks = 4;
inline constexpr size_t kSpareCapacity = 64;

// Zero at first and after the thread's end: then nothing is kept.
struct SpareStacks {
  Stack* stacks[kSpareStacks];
  size_t count;
  size_t room;
};
extern constinit thread_local SpareStacks spare_stacks;

[[gnu::cold]] Stack* new_stack();

// An empty stack for a scope, most often one whose memory is there already.
class SpareStack {
 public:
  SpareStack() {
    SpareStacks& spare = spare_stacks;
    stack_ = __builtin_expect(spare.count > 0, 1) ? spare.stacks[--spare.count] : new_stack();
  }
  ~SpareStack();
  SpareStack(const SpareStack&) = delete;
  SpareStack& operator=(const SpareStack&) = delete;

  Stack* get() const { return stack_; }

 private:
  Stack* stack_;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_SPARE_STACK_H_
