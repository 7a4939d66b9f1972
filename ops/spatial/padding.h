// Padding of the last one, two or three dimensions of (N, C, space...) or (C, space...) with
// elements of the tensor itself. `padding` is what to add before and behind, the last dimension
// first; negative numbers take away. As `torch.nn.functional.pad`. RuntimeError where a dimension
// has too few elements.

#ifndef SWITCHBOARD_OPS_SPATIAL_PADDING_H_
#define SWITCHBOARD_OPS_SPATIAL_PADDING_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

#define SB_PADDING(name, pads)                                                                    \
  SB_OP(name, "aten::" #name "(Tensor self, SymInt[" pads "] padding) -> Tensor");                \
  SB_OP(name##_out, out_of(name, "out"));                                                         \
  SB_OP(name##_backward, "aten::" #name "_backward(Tensor grad_output, Tensor self, SymInt[" pads \
                         "] padding) -> Tensor");                                                 \
  SB_OP(name##_backward##_out, out_of(name##_backward, "grad_input", {"grad_input"}))

// Mirrored at the first and last element, which are not repeated.
SB_PADDING(reflection_pad1d, "2");
SB_PADDING(reflection_pad2d, "4");
SB_PADDING(reflection_pad3d, "6");
// The first and last element, again and again.
SB_PADDING(replication_pad1d, "2");
SB_PADDING(replication_pad2d, "4");
SB_PADDING(replication_pad3d, "6");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SPATIAL_PADDING_H_
