// What keeps a program from being split by its operators.

#ifndef SWITCHBOARD_DISTRIBUTED_PARALLEL_SPLITTABLE_H_
#define SWITCHBOARD_DISTRIBUTED_PARALLEL_SPLITTABLE_H_

#include "switchboard/io/exported/program.h"

namespace sb {

// Throws NotImplementedError, naming the node and why, for a graph, or one in it, that parts cannot
// be made of: ranks would have other random numbers, writes would go to copies, collectives would
// meet those that are added, and a view by strides would see other memory.
void check_splittable(const io::Graph& graph);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PARALLEL_SPLITTABLE_H_
