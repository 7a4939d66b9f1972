// From the arguments of a program's node to the values of an operator's schema.

#ifndef SWITCHBOARD_TOOLS_NODE_ARGUMENTS_H_
#define SWITCHBOARD_TOOLS_NODE_ARGUMENTS_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/device.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/function_schema.h"
#include "switchboard/tools/io/program.h"

namespace sb::tools {

// The tensors of a run by the names that the program gives them.
using Environment = absl::flat_hash_map<std::string, Tensor>;

// Throws TypeError unless every argument of `node` is one of the schema's, every argument without a
// default is given, and the node names one output for each return.
void check_node(const io::Node& node, const FunctionSchema& schema);

// The node's arguments as the operator takes them: bound by name, defaults filled in, tensors taken
// from `environment`. A number given for a Tensor becomes a wrapped number. The program was
// exported from the CPU and runs on `device`: devices that it names become that one, and so does
// the default of an operator that makes a tensor from none. Throws TypeError.
Stack bind_node(const io::Node& node, const FunctionSchema& schema, const Environment& environment,
                Device device);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_NODE_ARGUMENTS_H_
