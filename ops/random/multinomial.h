// Which categories are drawn.

#ifndef SWITCHBOARD_OPS_RANDOM_MULTINOMIAL_H_
#define SWITCHBOARD_OPS_RANDOM_MULTINOMIAL_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The indices of `num_samples` categories for each row of self, a vector or matrix of weights.
// Without replacement, a category without weight is drawn only when no other is left. RuntimeError
// for weights that are negative or have no finite sum, for a row without weight, and for more
// samples than categories without replacement.
SB_OP(multinomial,
      "aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, "
      "*, Generator? generator=None) -> Tensor");
SB_OP(multinomial_out, out_of(multinomial, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_RANDOM_MULTINOMIAL_H_
