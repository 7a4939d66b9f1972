// An operator's computed table, as data and as text: which kernel at which key, and why.

#ifndef SWITCHBOARD_DISPATCH_COMPUTED_TABLE_H_
#define SWITCHBOARD_DISPATCH_COMPUTED_TABLE_H_

#include <string>
#include <vector>

#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb {

// One slot of an operator's computed table.
struct TableRow {
  DispatchKey key;
  ResolutionRule rule;
  DispatchKey source;  // the key that the kernel is registered at; key itself if none
  bool has_kernel = false;
  bool is_fallthrough = false;
  bool is_autograd_fallback = false;  // the default, which goes below autograd
  SourceLocation where;               // of the kernel, or of what refuses calls

  // Something is registered that refuses calls (make_refusal()): there is no kernel.
  bool is_refused() const {
    return !has_kernel && rule != ResolutionRule::Missing &&
           rule != ResolutionRule::AmbiguousAutogradOther;
  }
};

// The operator's table, lowest key first. Takes the dispatcher's lock. Throws NotImplementedError
// if the operator was removed.
std::vector<TableRow> computed_table(const OperatorHandle& op);
// The same as text, one line for each key; keys without a kernel are left out unless `all`.
std::string table_to_string(const OperatorHandle& op, bool all = false);

namespace internal {
// One slot; under the dispatcher's lock (Dispatcher::inspect).
TableRow table_row(const OperatorEntry& entry, DispatchKey key);
// "ops/add.cc:31", "fallthrough autograd/fallback.cc:18", "autograd fallback ...", "refusal ..." or
// "(none)".
std::string kernel_text(const TableRow& row);
// "[math kernel, from CompositeImplicitAutograd]".
std::string rule_text(const TableRow& row);
}  // namespace internal

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_COMPUTED_TABLE_H_
