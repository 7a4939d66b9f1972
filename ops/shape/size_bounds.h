// Indices and sizes that are held within bounds, where either may be a symbol.

#ifndef SWITCHBOARD_OPS_SHAPE_SIZE_BOUNDS_H_
#define SWITCHBOARD_OPS_SHAPE_SIZE_BOUNDS_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "switchboard/core/symbols/sym_int.h"

namespace sb {

// An index from the front, where a negative one counts from the end.
inline int64_t from_front(int64_t index, int64_t size) { return index < 0 ? index + size : index; }
inline SymInt from_front(const SymInt& index, const SymInt& size) {
  const SymBool negative = index < 0;
  if (const std::optional<bool> sure = statically_known(negative))
    return *sure ? index + size : index;
  if (has_hint(negative)) return negative ? index + size : index;
  return index + size * sym_int(negative);
}

// The smaller and the larger of two numbers. Which it is becomes a guard where the sizes at hand
// say it, as there the numbers alone make simpler shapes; else it stays an expression.
inline int64_t smaller(int64_t a, int64_t b) { return std::min(a, b); }
inline int64_t larger(int64_t a, int64_t b) { return std::max(a, b); }
inline SymInt smaller(const SymInt& a, const SymInt& b) {
  const SymBool fits = a <= b;
  if (const std::optional<bool> sure = statically_known(fits)) return *sure ? a : b;
  // Of two questions the one that is true, which is so for more sizes.
  if (const std::optional<bool> here = hint(fits)) {
    guard_bool(*here ? fits : b <= a);
    return *here ? a : b;
  }
  return sym_min(a, b);
}
inline SymInt larger(const SymInt& a, const SymInt& b) {
  const SymBool fits = a >= b;
  if (const std::optional<bool> sure = statically_known(fits)) return *sure ? a : b;
  if (const std::optional<bool> here = hint(fits)) {
    guard_bool(*here ? fits : b >= a);
    return *here ? a : b;
  }
  return sym_max(a, b);
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SHAPE_SIZE_BOUNDS_H_
