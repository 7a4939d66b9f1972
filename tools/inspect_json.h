// What the inspector knows, as JSON: `sb table --json`, `sb explain --json`, `sb ops --json`,
// `sb dump --json`, `sb diff --json` of dumps.

#ifndef SWITCHBOARD_TOOLS_INSPECT_JSON_H_
#define SWITCHBOARD_TOOLS_INSPECT_JSON_H_

#include <algorithm>
#include <string>
#include <vector>

#include "switchboard/custom_ops/op_facts.h"
#include "switchboard/dispatch/inspect/inspector.h"
#include "switchboard/dispatch/inspect/table_dump.h"
#include "switchboard/dispatch/objects/inspect_higher_order.h"

namespace sb::tools {

// All end with a line feed. A slot is {key, rule, source, kernel, fallthrough, reason}: the key
// that the kernel is registered at, and its source line, which is null if there is none.

// {operator, schema, facts: {tags: [text], ...}, slots}; keys without a kernel are left out unless
// `all`. Of a higher-order operator without facts.
std::string table_json(const OperatorHandle& op, const std::vector<OpFact>& facts, bool all);
std::string table_json(const HigherOrderOperator& op);
// Whether a kernel runs, and the way from there does not end in a failure: what `runs` says, and
// the exit status.
template <class Explained>
bool computes(const Explained& explanation) {
  return explanation.runs() && std::ranges::none_of(explanation.path, [](const PathStep& step) {
           return step.onward == PathStep::Onward::Fails;
         });
}
// {operator, runs, keys: {arguments, included, excluded, fallthroughs, call}, looked_at: slots,
// each with its verdict, below: the same, facts}.
std::string explanation_json(const Explanation& explanation, const std::vector<OpFact>& facts);
std::string explanation_json(const HigherOrderExplanation& explanation);
// A list of {operator, schema, slots}: what table_json() says of each, without reasons.
std::string dump_json(const TableDump& dump);
// {removed, added: schemas, changed: a list of {operator, schema: {before, after} or null, slots: a
// list of {keys, before, after}}}.
std::string diff_json(const TableDiff& diff);
struct ListedOp {
  std::string name, schema;
  std::vector<OpFact> facts;
};
// A list of {operator, schema, facts}.
std::string ops_json(const std::vector<ListedOp>& ops);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_INSPECT_JSON_H_
