// Why a slot of a computed table holds what it holds, in a sentence: what `sb explain`, `sb table
// --json` and the page of `sb page` say.

#ifndef SWITCHBOARD_DISPATCH_INSPECT_REASON_H_
#define SWITCHBOARD_DISPATCH_INSPECT_REASON_H_

#include <string>

#include "switchboard/dispatch/inspect/computed_table.h"

namespace sb {

// "There is no kernel for this key alone; the one at Autograd is for the autograd keys of all
// backends." It names the key that the kernel is from, and not the slot's own.
std::string reason_text(const TableRow& row);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_INSPECT_REASON_H_
