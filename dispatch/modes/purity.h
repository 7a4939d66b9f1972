// May a call be left out where nobody uses its results?

#ifndef SWITCHBOARD_DISPATCH_MODES_PURITY_H_
#define SWITCHBOARD_DISPATCH_MODES_PURITY_H_

#include "switchboard/dispatch/operator_handle.h"

namespace sb {

// An ordered effect (effects.h) that is all that a call does besides giving new results: no
// argument and no result has an alias annotation. As `has_effects`.
bool has_effects(const OperatorHandle& op);

// Whether the operator writes, has an ordered effect, or, unless told that this does not matter,
// draws random numbers (Tag::nondeterministic_seeded). Dead calls of such operators stay. As
// `torch._library.utils.is_impure`.
bool is_impure(const OperatorHandle& op, bool impure_random = true);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MODES_PURITY_H_
