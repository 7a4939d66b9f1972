// How ranks can share the work of each operator, by what it does with the dimensions of its
// tensors. Names of layers and of weights play no part.

#ifndef SWITCHBOARD_DISTRIBUTED_PARALLEL_OP_RULES_H_
#define SWITCHBOARD_DISTRIBUTED_PARALLEL_OP_RULES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/distributed/parallel/strategy.h"

namespace sb {

struct OpRule {
  // Other than Replicate; none where the rule does not know this call.
  std::vector<Strategy> (*strategies)(const OpCall&, const Choice&);
  // Of one tensor: a part of the result comes of a part of the tensor alone, so that of a weight
  // each rank needs its part only.
  bool keeps_weights = false;
};

// Of a node's operator; nullptr where there is none, and all of its tensors are then whole.
const OpRule* find_rule(const io::Node& node);

// Whether the operator gives the same elements in the same order in other sizes.
bool is_reshape(std::string_view op);

// Of every overload: "aten::add"; by what they are about. Each file fills one.
using OpRules = std::map<std::string, OpRule, std::less<>>;
void add_elementwise_rules(OpRules* rules);  // element by element, without saying so
void add_product_rules(OpRules* rules);      // matrix products, convolution, attention, embedding
void add_dim_rules(OpRules* rules);   // what treats some dimensions as a whole: softmax, sums
void add_view_rules(OpRules* rules);  // permute, reshape, slice, split, cat

// Of one that says that it computes element by element (Tag::pointwise); nullptr for another one.
const OpRule* pointwise_rule(const OperatorHandle& op);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PARALLEL_OP_RULES_H_
