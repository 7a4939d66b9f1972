// Tensors joined into one.

#ifndef SWITCHBOARD_OPS_VIEWS_CAT_H_
#define SWITCHBOARD_OPS_VIEWS_CAT_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Along a dimension that they have; the other sizes agree. Tensors of shape [0] are skipped.
SB_OP(cat, "aten::cat(Tensor[] tensors, int dim=0) -> Tensor");
SB_OP(cat_out, out_of(cat, "out"));
// Along a new dimension; all sizes agree.
SB_OP(stack, "aten::stack(Tensor[] tensors, int dim=0) -> Tensor");
SB_OP(stack_out, out_of(stack, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_VIEWS_CAT_H_
