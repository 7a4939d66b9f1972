// Operators that look at the memory of a tensor, whatever elements of it the tensor has.

#ifndef SWITCHBOARD_DISPATCH_GRAPH_MEMORY_OPERATORS_H_
#define SWITCHBOARD_DISPATCH_GRAPH_MEMORY_OPERATORS_H_

#include <functional>
#include <string>

#include "switchboard/dispatch/graph/graph.h"

namespace sb::internal {

// as_strided, set_, resize_ and their like.
bool looks_at_memory(const OperatorHandle& op);
// Those of them that copy it. No layer makes such calls itself: the memory is the program's.
bool copies_memory(const OperatorHandle& op);
// find_operator() of looks_at_memory.
std::string find_look_at_memory(const Graph& graph);
// The same of an operator whose results, as far as they are used, are others for tensors of other
// strides: a factorization of a matrix by rows or by columns. Of those that `of` holds for; it is
// asked about the operators' nodes.
std::string find_factorization(const Graph& graph, const std::function<bool(const Node*)>& of);
// Whether the node is `source`, or was computed of it.
bool comes_of(const Node* node, const Node* source);

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_GRAPH_MEMORY_OPERATORS_H_
