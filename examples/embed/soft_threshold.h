// Shrinks numbers towards 0.

#ifndef SOFT_THRESHOLD_H_
#define SOFT_THRESHOLD_H_

#include "switchboard/dispatch/typed_op.h"

namespace soft {

// sign(x) * max(|x| - by, 0), element by element. float32, contiguous; `by` is not negative.
SB_OP(threshold, "soft::threshold(Tensor x, float by=0.5) -> Tensor");

}  // namespace soft

#endif  // SOFT_THRESHOLD_H_
