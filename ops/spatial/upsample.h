// Results of another size than (N, C, space...): by nearest elements or by interpolation. As
// `torch.nn.functional.interpolate`.
//
// The scales, where given, say how much larger the result is, instead of the ratio of the sizes.
// The `vec` forms take either a size or scales for all dimensions. The backward forms take what the
// result's gradient is to the input's. RuntimeError for sizes that are not positive.

#ifndef SWITCHBOARD_OPS_SPATIAL_UPSAMPLE_H_
#define SWITCHBOARD_OPS_SPATIAL_UPSAMPLE_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Declares name, name_out, name_vec, name_backward and name_backward_out.
#define SB_UPSAMPLE_ALONE(name, dims, rank, align_corners, scales)                                \
  SB_OP(name, "aten::" #name "(Tensor self, SymInt[" dims "] output_size, " align_corners scales  \
              ") -> Tensor");                                                                     \
  SB_OP(name##_out, out_of(name, "out"));                                                         \
  SB_OP(name##_vec, "aten::" #name ".vec(Tensor input, SymInt[]? output_size, " align_corners     \
                    "float[]? scale_factors) -> Tensor");                                         \
  SB_OP(name##_backward,                                                                          \
        "aten::" #name "_backward(Tensor grad_output, SymInt[" dims "] output_size, SymInt[" rank \
        "] input_size, " align_corners scales ") -> Tensor");                                     \
  SB_OP(name##_backward##_out, out_of(name##_backward, "grad_input", {"grad_input"}))
// The same with name_backward_vec.
#define SB_UPSAMPLE(name, dims, rank, align_corners, scales)                                      \
  SB_UPSAMPLE_ALONE(name, dims, rank, align_corners, scales);                                     \
  SB_OP(name##_backward_vec, "aten::" #name                                                       \
                             "_backward.vec(Tensor grad_output, SymInt[]? output_size, SymInt[] " \
                             "input_size, " align_corners "float[]? scale_factors) -> Tensor")
#define SB_UPSAMPLE1D(name, align_corners) \
  SB_UPSAMPLE(name, "1", "3", align_corners, "float? scales=None")
#define SB_UPSAMPLE2D(name, align_corners) \
  SB_UPSAMPLE(name, "2", "4", align_corners, "float? scales_h=None, float? scales_w=None")
#define SB_UPSAMPLE3D(name, align_corners)   \
  SB_UPSAMPLE(name, "3", "5", align_corners, \
              "float? scales_d=None, float? scales_h=None, float? scales_w=None")

// The element at floor(o * scale), or with _exact at floor((o + 1/2) * scale).
SB_UPSAMPLE1D(upsample_nearest1d, "");
SB_UPSAMPLE2D(upsample_nearest2d, "");
SB_UPSAMPLE3D(upsample_nearest3d, "");
SB_UPSAMPLE1D(_upsample_nearest_exact1d, "");
SB_UPSAMPLE2D(_upsample_nearest_exact2d, "");
SB_UPSAMPLE3D(_upsample_nearest_exact3d, "");
// Interpolated. With align_corners the first and last elements lie on one another, otherwise the
// outer edges of what they stand for.
SB_UPSAMPLE1D(upsample_linear1d, "bool align_corners, ");
SB_UPSAMPLE2D(upsample_bilinear2d, "bool align_corners, ");
SB_UPSAMPLE3D(upsample_trilinear3d, "bool align_corners, ");
SB_UPSAMPLE2D(upsample_bicubic2d, "bool align_corners, ");
// The same where the result is smaller: by a filter as wide as what each element then stands for.
#define SB_UPSAMPLE_ANTIALIASED(name)                       \
  SB_UPSAMPLE_ALONE(name, "2", "4", "bool align_corners, ", \
                    "float? scales_h=None, float? scales_w=None")
SB_UPSAMPLE_ANTIALIASED(_upsample_bilinear2d_aa);
SB_UPSAMPLE_ANTIALIASED(_upsample_bicubic2d_aa);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SPATIAL_UPSAMPLE_H_
