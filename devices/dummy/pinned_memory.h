// Pinned memory: host memory that the device reads and writes while operators go on.

#ifndef SWITCHBOARD_DEVICES_DUMMY_PINNED_MEMORY_H_
#define SWITCHBOARD_DEVICES_DUMMY_PINNED_MEMORY_H_

#include <memory>

#include "switchboard/core/memory/allocator.h"

namespace sb::dummy {

// Memory of the CPU, from the CPU's allocator and counted there. Thread-safe, as everything here.
Allocator& pinned_allocator();
// Returns whether an address lies in it.
bool is_pinned(const void* address);
// Keeps the memory that an address lies in, also when it is freed meanwhile; null if it is not
// pinned.
std::shared_ptr<const void> hold_pinned(const void* address);

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_PINNED_MEMORY_H_
