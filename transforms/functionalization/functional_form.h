// Which operator computes what another one writes: add for add_ and for add.out, max.dim for
// max.dim_max, transpose for transpose_.

#ifndef SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_FORM_H_
#define SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_FORM_H_

#include <optional>
#include <vector>

#include "switchboard/dispatch/operator_handle.h"

namespace sb {

struct FunctionalForm {
  OperatorHandle op;
  // Of each of its arguments, the index among the mutating operator's; nullopt for dtype, layout,
  // device and pin_memory of a result, where the mutating operator takes them from its `out`.
  std::vector<std::optional<size_t>> arguments;
};

// The functional form of a mutating operator: one of the same name, or of the name without its last
// underscore (or, of one such as __iand__, without the i), or that with "_functional" behind it, in
// the same namespace, that writes to nothing, has the same arguments, but for those that are out=,
// and returns one value for each argument that is written to. nullopt where there is none. Found by
// schemas, never by lists; thread-safe.
std::optional<FunctionalForm> find_functional_form(const OperatorHandle& op);

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_FORM_H_
