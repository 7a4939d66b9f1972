// The values below which given parts of the elements lie. As `torch.quantile`.
//
// q is one number or a vector, between 0 and 1 and of self's dtype, float32 or float64; a vector's
// results lie along a dimension before self's. Without `dim` all elements count. `interpolation`
// says what lies between two elements: linear, lower, higher, midpoint or nearest. A NaN makes
// results NaN; the nan forms leave it out. RuntimeError for other arguments, and where there are no
// elements.

#ifndef SWITCHBOARD_OPS_SORTING_QUANTILE_H_
#define SWITCHBOARD_OPS_SORTING_QUANTILE_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

#define SB_QUANTILE(handle, overload, q, out)                                 \
  SB_OP(handle, "aten::" overload "(Tensor self, " q                          \
                " q, int? dim=None, bool "                                    \
                "keepdim=False, *, str interpolation=\"linear\") -> Tensor"); \
  SB_OP(handle##_out, out_of(handle, out))
SB_QUANTILE(quantile, "quantile", "Tensor", "out");
SB_QUANTILE(quantile_scalar, "quantile.scalar", "float", "scalar_out");
SB_QUANTILE(nanquantile, "nanquantile", "Tensor", "out");
SB_QUANTILE(nanquantile_scalar, "nanquantile.scalar", "float", "scalar_out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SORTING_QUANTILE_H_
