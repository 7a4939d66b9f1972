// Memory that nobody wrote to, the same in all runs that are recorded with their elements.

#ifndef SWITCHBOARD_IO_RECORDING_FRESH_MEMORY_H_
#define SWITCHBOARD_IO_RECORDING_FRESH_MEMORY_H_

namespace sb::internal {

// For a scope, memory that the CPU's allocator gives out holds bytes of 1, and not what was there
// before: what a program computes of it is then the same in each run. Scopes nest, on any thread.
class FillFreshMemory {
 public:
  FillFreshMemory();
  ~FillFreshMemory();
  FillFreshMemory(const FillFreshMemory&) = delete;
  FillFreshMemory& operator=(const FillFreshMemory&) = delete;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_IO_RECORDING_FRESH_MEMORY_H_
