// A look-up in a table of which each rank has some rows.

#ifndef SWITCHBOARD_DISTRIBUTED_PARALLEL_LOOK_UP_ROWS_H_
#define SWITCHBOARD_DISTRIBUTED_PARALLEL_LOOK_UP_ROWS_H_

#include <string>

#include "switchboard/distributed/parallel/op_call.h"
#include "switchboard/distributed/parallel/sharded_graph.h"

namespace sb {

// Writes aten::embedding(table, rows), `call`, for the rank whose rows are `table`: what it gives,
// called `result`, is zero where the row is another rank's. A row that no rank has is an error on
// all of them, as on one rank.
void look_up_rows(const std::string& table, const std::string& rows, const OpCall& call,
                  const std::string& result, ShardedGraph* graph);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PARALLEL_LOOK_UP_ROWS_H_
