// What the writes of a call rest on.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_WRITES_H_
#define SWITCHBOARD_TESTS_COMPOSITION_WRITES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/dispatch/schema/function_schema.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::composition {

// Whether what the call writes depends on the order in which it reads and writes elements.
bool depends_on_order(const FunctionSchema& schema, const Stack& arguments);

// What arguments that are written to are, but for their elements.
using WrittenStates = std::vector<std::pair<uint64_t, std::vector<int64_t>>>;
WrittenStates written_states(const FunctionSchema& schema, const Stack& arguments);

// The sizes of what is written to and lies on the memory of another argument: what an operator that
// gives it another shape reads of that, nobody says. And the numbers of elements of all outs: what
// is in the rest of the memory of one that becomes smaller, nobody says either.
std::vector<std::vector<int64_t>> shapes_of_shared(const FunctionSchema& schema,
                                                   const Stack& arguments);

// The memory of each tensor among the arguments, as it is now.
std::vector<std::pair<Tensor, std::string>> memories_of(const Stack& arguments);

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_WRITES_H_
