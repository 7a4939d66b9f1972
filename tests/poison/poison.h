// Memory that shows whether it was written to.

#ifndef SWITCHBOARD_TESTS_POISON_POISON_H_
#define SWITCHBOARD_TESTS_POISON_POISON_H_

#include <cstdint>

#include "switchboard/core/tensor.h"

namespace sb::test {

// From now on fresh memory on the CPU holds this byte all over, and no more than 4 MB are given at
// once (RuntimeError), so that a program with a huge size only fails.
void poison_fresh_memory(uint8_t byte);

// Whether some element that the tensor reaches is still as it came from the allocator; `whole`:
// some element of its storage. True by chance where an element's bytes happen to be those.
bool holds_fresh_memory(const Tensor& tensor, bool whole);

}  // namespace sb::test

#endif  // SWITCHBOARD_TESTS_POISON_POISON_H_
