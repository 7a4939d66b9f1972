// Questions and statements about several sizes at once, and those with an answer for what nobody
// knows.

#ifndef SWITCHBOARD_FAKE_SYMBOLIC_CONDITIONS_H_
#define SWITCHBOARD_FAKE_SYMBOLIC_CONDITIONS_H_

#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "switchboard/core/symbols/sym_bool.h"
#include "switchboard/core/symbols/sym_int.h"

namespace sb {

// Whether two shapes are the same, as one condition, which asks nothing; false for other numbers of
// dimensions. As `torch.fx.experimental.symbolic_shapes.sym_eq`.
SymBool sym_eq(SymIntArrayRef a, SymIntArrayRef b);

// The truth at hand, which is then relied on; `false`, or `true`, and nothing recorded where only
// data will tell, sizes from data counting as at least 2. As `guard_or_false`, `guard_or_true`.
bool guard_or_false(const SymBool& c);
bool guard_or_true(const SymBool& c);

// These sizes are not all what is beside them: a guard, for a run whose sizes another run is kept
// for. Throws ValueError where they are. As `ShapeEnv.exclusion_constraints`.
void exclude_sizes(absl::Span<const std::pair<SymInt, int64_t>> sizes,
                   SourceLocation where = SourceLocation::current());

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_SYMBOLIC_CONDITIONS_H_
