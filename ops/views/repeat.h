// Copies side by side.

#ifndef SWITCHBOARD_OPS_VIEWS_REPEAT_H_
#define SWITCHBOARD_OPS_VIEWS_REPEAT_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// `repeats` has an entry for each dimension of self, and may have more in front.
SB_STRUCTURED_NO_INPLACE(repeat, "aten::repeat(Tensor self, SymInt[] repeats) -> Tensor", "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_VIEWS_REPEAT_H_
