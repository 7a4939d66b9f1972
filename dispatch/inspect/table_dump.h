// The computed tables of every operator of a dispatcher, as text that programs can keep and
// compare: `sb dump` writes it, and `sb diff` reads two.
//
//   switchboard tables<TAB>1
//   op<TAB>aten::mm<TAB>aten::mm(Tensor self, Tensor mat2) -> Tensor
//   slot<TAB>aten::mm<TAB>CPU<TAB>kernel<TAB>CPU<TAB>kernel<TAB>ops/mm.cc:31
//   end<TAB>1<TAB>1
//
// One line for each operator, sorted by name, then one for each of its slots that a resolution rule
// fills, in the order of DispatchKey: operator, key, rule, the key that the kernel is registered
// at, what is there ("kernel", "fallthrough", or "none" for a slot that is ambiguous), and the
// kernel's place. The last line counts operators and slots, so that a dump that was cut short is
// known for one. Line feeds, tabs and backslashes in a field are written \n, \t and \\.

#ifndef SWITCHBOARD_DISPATCH_INSPECT_TABLE_DUMP_H_
#define SWITCHBOARD_DISPATCH_INSPECT_TABLE_DUMP_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/dispatcher.h"

namespace sb {

// A slot as a dump holds it.
struct DumpedSlot {
  ResolutionRule rule;
  DispatchKey source;
  enum class Content { None, Kernel, Fallthrough } content;
  std::string place;  // "ops/mm.cc:31"; empty if there is no kernel

  bool operator==(const DumpedSlot&) const = default;
};

struct DumpedOp {
  std::string schema;
  std::map<DispatchKey, DumpedSlot> slots;  // those that some rule fills

  bool operator==(const DumpedOp&) const = default;
};

// By operator name.
using TableDump = std::map<std::string, DumpedOp>;

// Operators that are removed meanwhile, by another thread, are left out.
TableDump dump_tables(const Dispatcher& dispatcher);

// The text form, and back. Throws ValueError that names `source` (a file), the line, and what was
// expected there.
std::string to_string(const TableDump& dump);
TableDump parse_table_dump(std::string_view text, const std::string& source);

// A difference between two dumps.
struct SlotChange {
  std::vector<DispatchKey> keys;  // those that changed in the same way, lowest first
  std::string before, after;      // "kernel ops/mm.cc:31 [math kernel, from ...]" or "nothing"
};
struct OpChange {
  std::string op;
  std::string schema_before, schema_after;  // empty if they are the same
  std::vector<SlotChange> slots;
};
struct TableDiff {
  std::vector<std::string> removed, added;  // schemas
  std::vector<OpChange> changed;

  bool empty() const { return removed.empty() && added.empty() && changed.empty(); }
};

// With `ignore_lines` kernels that moved within a file count as the same.
TableDiff diff_tables(const TableDump& before, const TableDump& after, bool ignore_lines = false);
// Lines that begin with "-" for an operator that went, "+" for one that came and "~" for one that
// changed, with its changes indented below it; empty if nothing differs.
std::string to_string(const TableDiff& diff);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_INSPECT_TABLE_DUMP_H_
