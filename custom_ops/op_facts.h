// What is known of an operator beside its schema and its kernels.

#ifndef SWITCHBOARD_CUSTOM_OPS_OP_FACTS_H_
#define SWITCHBOARD_CUSTOM_OPS_OP_FACTS_H_

#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/dispatch_key.h"
#include "switchboard/dispatch/objects/op_overload.h"

namespace sb {

// An operator's kernels that CustomOp::set_kernel_enabled() keeps from running: their keys, and
// where that was said. In default_simple_registry().
struct DisabledKernels {
  std::vector<std::pair<DispatchKey, SourceLocation>> kernels;
};

struct OpFact {
  std::string name;  // "tags"
  std::string text;  // "core, pointwise"
};

// At this moment, those that the operator has, in this order:
//
// - tags
// - layout: what a compiler must keep of strides, of operators of one's own that no tag says it of
// - out variant: to_out_variant(), or the registered one
// - effect: has_ordered_effect()
// - autocast: what is cast to what, for each device type
// - disabled: kernels that do not run
// - rule: of its OperatorBase, for a mode or at a key, with its place
//
// Thread-safe. Throws NotImplementedError if the operator was removed.
std::vector<OpFact> op_facts(const OpOverload& op);

// A line for each: "  tags         core, pointwise". Empty where there is none.
std::string to_string(const std::vector<OpFact>& facts);

}  // namespace sb

#endif  // SWITCHBOARD_CUSTOM_OPS_OP_FACTS_H_
