// Copies side by side.

#ifndef SWITCHBOARD_OPS_VIEWS_REPEAT_H_
#define SWITCHBOARD_OPS_VIEWS_REPEAT_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// `repeats` has an entry for each dimension of self, and may have more in front.
SB_OP(repeat, "aten::repeat(Tensor self, SymInt[] repeats) -> Tensor");
SB_OP(repeat_out, out_of(repeat, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_VIEWS_REPEAT_H_
