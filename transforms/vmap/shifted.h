// Arguments that speak of dimensions and sizes of one example, as those of all examples.

#ifndef SWITCHBOARD_TRANSFORMS_VMAP_SHIFTED_H_
#define SWITCHBOARD_TRANSFORMS_VMAP_SHIFTED_H_

#include <vector>

#include "switchboard/dispatch/schema/function_schema.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::batching {

// Whether the argument names dimensions: "dim", "dims", "dim0", "axis1", "start_dim", ...; and
// whether it holds such numbers, not a name.
bool names_dims(const Argument& argument);

// The dimension, or each of a list, one further back. One that counts from the end, and None, stay.
IValue behind_batch(const IValue& dims);
// A list with `first` in front of it.
IValue with_first(int64_t first, const IValue& list);

}  // namespace sb::batching

#endif  // SWITCHBOARD_TRANSFORMS_VMAP_SHIFTED_H_
