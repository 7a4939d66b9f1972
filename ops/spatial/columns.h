// The elements that a convolution multiplies, as columns, and back. As `torch.nn.functional.unfold`
// and `fold`. All lists have two elements.

#ifndef SWITCHBOARD_OPS_SPATIAL_COLUMNS_H_
#define SWITCHBOARD_OPS_SPATIAL_COLUMNS_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// (N, C, H, W) or (C, H, W) to (N, C * kernel's elements, outputs) or the same without N.
SB_OP(im2col,
      "aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] "
      "padding, int[2] stride) -> Tensor");
SB_OP(im2col_out, out_of(im2col, "out"));
// The other way: sums of what the columns have for an element. The result's space is output_size.
SB_OP(
    col2im,
    "aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] "
    "padding, int[2] stride) -> Tensor");
SB_OP(col2im_out, out_of(col2im, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SPATIAL_COLUMNS_H_
