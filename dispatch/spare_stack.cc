#include "switchboard/dispatch/spare_stack.h"

#include <memory>

namespace sb::internal {
namespace {

struct FreeAtEnd {
  FreeAtEnd() { spare_stacks.room = kSpareStacks; }
  ~FreeAtEnd() {
    spare_stacks.room = 0;
    while (spare_stacks.count > 0) delete spare_stacks.stacks[--spare_stacks.count];
  }
};

}  // namespace

constinit thread_local SpareStacks spare_stacks{};

Stack* new_stack() {
  static thread_local const FreeAtEnd free_at_end;
  auto stack = std::make_unique<Stack>();
  stack->reserve(8);
  return stack.release();
}

SpareStack::~SpareStack() {
  SpareStacks& spare = spare_stacks;
  stack_->clear();
  if (spare.count < spare.room && stack_->capacity() <= kSpareCapacity)
    spare.stacks[spare.count++] = stack_;
  else
    delete stack_;
}

}  // namespace sb::internal
