#include "switchboard/fake/symbolic/conditions.h"

#include "switchboard/core/error.h"
#include "switchboard/core/symbols/known.h"

namespace sb {

SymBool sym_eq(SymIntArrayRef a, SymIntArrayRef b) {
  if (a.size() != b.size()) return false;
  SymBool same = true;
  for (size_t d = 0; d < a.size(); ++d) same = same & (a[d] == b[d]);
  return same;
}

bool guard_or_false(const SymBool& c) { return asked_or_false(c); }
bool guard_or_true(const SymBool& c) { return !asked_or_false(!c); }

void exclude_sizes(absl::Span<const std::pair<SymInt, int64_t>> sizes, SourceLocation where) {
  SymBool differs = false;
  for (const auto& [size, excluded] : sizes) differs = differs | (size != excluded);
  SB_CHECK_VALUE(expect_true(differs, "exclude_sizes", where),
                 "exclude_sizes: the sizes at hand are those that are excluded");
}

}  // namespace sb
