// Higher-order operators as the inspector shows ordinary ones (dispatch/inspect): their names, the
// rule at each key, and where a call would go.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_INSPECT_HIGHER_ORDER_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_INSPECT_HIGHER_ORDER_H_

#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/inspect/table_dump.h"
#include "switchboard/dispatch/modes/function_transform.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"

namespace sb {

// "higher_order::cond(pred, true_fn, false_fn, operands)".
std::string signature_text(const HigherOrderOperator& op);

// The rule at each key, lowest first, as text; and those for modes and transforms. Keys without a
// rule, and those that calls pass over, are left out unless `all`.
std::string table_to_string(const HigherOrderOperator& op, bool all = false);

// Adds every higher-order operator to the tables of a dispatcher, with its key rules.
void dump_higher_order_ops(TableDump* dump);

// Where a call of a higher-order operator would go on this thread, at this moment.
struct HigherOrderExplanation {
  std::string op;
  DispatchKeySet arguments;  // the union of the keys of the tensors
  DispatchKeySet included, excluded;
  DispatchKeySet passed_over;  // those of the call that the operator passes over
  DispatchKeySet call_keys;    // what is left
  // Modes that watch, then the rule that runs; and the functions that it may call, by name.
  std::vector<PathStep> path;

  bool runs() const;
};

// The arguments as a call gives them, by name too. Throws as the call would where they do not fit.
HigherOrderExplanation explain(const HigherOrderOperator& op, std::vector<IValue> positional,
                               std::vector<std::pair<std::string, IValue>> keyword = {});
// A call whose tensors have these keys together.
HigherOrderExplanation explain(const HigherOrderOperator& op, DispatchKeySet arguments);

// As of an ordinary operator. It ends with a line feed.
std::string to_string(const HigherOrderExplanation& explanation);

namespace internal {
// What serves a key.
TableRow row_at(const OperatorBase& op, DispatchKey key);
// "transforms/control_flow/cond.cc:31": of the rule for a mode or a function transform; empty if
// there is none.
std::string place_of_rule(const OperatorBase& op, std::type_index mode);
std::string place_of_rule(const OperatorBase& op, TransformType transform);
}  // namespace internal

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_INSPECT_HIGHER_ORDER_H_
