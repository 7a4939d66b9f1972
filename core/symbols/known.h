// Questions about sizes that may be symbols, and what asking them records.

#ifndef SWITCHBOARD_CORE_SYMBOLS_KNOWN_H_
#define SWITCHBOARD_CORE_SYMBOLS_KNOWN_H_

#include <concepts>
#include <cstdint>

#include "switchboard/core/symbols/sym_bool.h"
#include "switchboard/core/symbols/sym_int.h"

namespace sb {

// True only where the truth holds for all sizes; records nothing.
inline bool known(bool truth) { return truth; }
inline bool known(const SymBool& truth) { return statically_known(truth).value_or(false); }
// The truth at hand, which is then relied on; false, with nothing recorded, where only data will
// tell it, sizes from data counting as at least 2. As `guard_or_false`.
bool asked_or_false(const SymBool& truth);
inline bool asked_or_false(std::same_as<bool> auto truth) { return truth; }
// Compares two sizes, where sizes that data decides count as no other number: records nothing where
// the answer is known.
inline bool same_size(int64_t a, int64_t b) { return a == b; }
inline bool same_size(const SymInt& a, const SymInt& b) { return asked_or_false(a == b); }

}  // namespace sb

#endif  // SWITCHBOARD_CORE_SYMBOLS_KNOWN_H_
