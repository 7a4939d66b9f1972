// normal with a mean or a deviation for each element.

#ifndef SWITCHBOARD_OPS_RANDOM_NORMAL_OF_TENSORS_H_
#define SWITCHBOARD_OPS_RANDOM_NORMAL_OF_TENSORS_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

SB_OP(normal_Tensor_float,
      "aten::normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> "
      "Tensor");
SB_OP(normal_Tensor_float_out, out_of(normal_Tensor_float, "Tensor_float_out"));
SB_OP(normal_float_Tensor,
      "aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor");
SB_OP(normal_float_Tensor_out, out_of(normal_float_Tensor, "float_Tensor_out"));
SB_OP(normal_Tensor_Tensor,
      "aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> "
      "Tensor");
SB_OP(normal_Tensor_Tensor_out, out_of(normal_Tensor_Tensor, "Tensor_Tensor_out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_RANDOM_NORMAL_OF_TENSORS_H_
