// An exported program at one choice of its open sizes.

#ifndef SWITCHBOARD_DISTRIBUTED_PARALLEL_FIXED_SIZES_H_
#define SWITCHBOARD_DISTRIBUTED_PARALLEL_FIXED_SIZES_H_

#include "switchboard/io/exported/program.h"

namespace sb {

// The graph with a number in place of every value that is one under `symbols`, in the arguments of
// operators, and without the nodes that then nobody uses. What the run decides stays open, and so
// do the graphs of higher-order operators.
io::Graph with_fixed_sizes(const io::Graph& graph, const io::SymbolValues& symbols);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PARALLEL_FIXED_SIZES_H_
