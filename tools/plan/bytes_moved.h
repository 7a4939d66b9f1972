// The bytes that a call must read and write if every tensor is moved once.

#ifndef SWITCHBOARD_TOOLS_PLAN_BYTES_MOVED_H_
#define SWITCHBOARD_TOOLS_PLAN_BYTES_MOVED_H_

#include "switchboard/tools/plan/op_cost.h"

namespace sb::plan {

struct BytesMoved {
  Count read;
  Count written;
};

// A tensor that is given twice is read once, and of an expanded dimension (stride 0) one element.
// What a kernel keeps for itself on the way is not in it, nor what a cache spares: it is what a
// roofline model takes.
BytesMoved bytes_moved(const OpCall& call, Traffic traffic);

// Whether the call writes nothing and every result shares its storage with an argument.
bool is_view_call(const OpCall& call);

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_BYTES_MOVED_H_
