// Tensors joined into one.

#ifndef SWITCHBOARD_OPS_VIEWS_CAT_H_
#define SWITCHBOARD_OPS_VIEWS_CAT_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// Along a dimension that they have; the other sizes agree. Tensors of shape [0] are skipped.
SB_STRUCTURED_NO_INPLACE(cat, "aten::cat(Tensor[] tensors, int dim=0) -> Tensor", "out");
// Along a new dimension; all sizes agree.
SB_STRUCTURED_NO_INPLACE(stack, "aten::stack(Tensor[] tensors, int dim=0) -> Tensor", "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_VIEWS_CAT_H_
