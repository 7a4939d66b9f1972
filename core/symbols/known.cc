#include "switchboard/core/symbols/known.h"

#include "switchboard/core/error.h"

namespace sb {

bool asked_or_false(const SymBool& truth) {
  if (const std::optional<bool> sure = statically_known(truth)) return *sure;
  if (has_hint(truth)) return guard_size_oblivious(truth);
  try {
    return guard_size_oblivious(truth);
  } catch (const RuntimeError&) {
    return false;
  }
}

}  // namespace sb
