// Resizing is a linear map, whose transposed is its backward.

#include "switchboard/ops/spatial/upsample.h"

#include "switchboard/autograd/derivatives.h"

// What is behind the name are the options of an operator, as its schema calls them.
#define SB_DERIVE_UPSAMPLE(name, ...)                                                \
  derive(m, name,                                                                    \
         SB_GRAD(self, (grad, self_meta, output_size, __VA_ARGS__),                  \
                 name##_backward(grad, output_size, self_meta.sizes, __VA_ARGS__))); \
  derive(m, name##_backward,                                                         \
         SB_GRAD(grad_output, (grad, output_size, __VA_ARGS__),                      \
                 name(grad, output_size, __VA_ARGS__)))
#define SB_DERIVE_UPSAMPLE_VEC(name, ...)                                                 \
  derive(m, name##_vec,                                                                   \
         SB_GRAD(input, (grad, input_meta, output_size, __VA_ARGS__),                     \
                 name##_backward_vec(grad, output_size, input_meta.sizes, __VA_ARGS__))); \
  derive(m, name##_backward_vec,                                                          \
         SB_GRAD(grad_output, (grad, output_size, __VA_ARGS__),                           \
                 name##_vec(grad, output_size, __VA_ARGS__)))

namespace sb {

SB_LIBRARY_IMPL(aten, Autograd, m) {
  SB_DERIVE_UPSAMPLE(upsample_nearest1d, scales);
  SB_DERIVE_UPSAMPLE(upsample_nearest2d, scales_h, scales_w);
  SB_DERIVE_UPSAMPLE(upsample_nearest3d, scales_d, scales_h, scales_w);
  SB_DERIVE_UPSAMPLE(_upsample_nearest_exact1d, scales);
  SB_DERIVE_UPSAMPLE(_upsample_nearest_exact2d, scales_h, scales_w);
  SB_DERIVE_UPSAMPLE(_upsample_nearest_exact3d, scales_d, scales_h, scales_w);
  SB_DERIVE_UPSAMPLE(upsample_linear1d, align_corners, scales);
  SB_DERIVE_UPSAMPLE(upsample_bilinear2d, align_corners, scales_h, scales_w);
  SB_DERIVE_UPSAMPLE(upsample_trilinear3d, align_corners, scales_d, scales_h, scales_w);
  SB_DERIVE_UPSAMPLE(upsample_bicubic2d, align_corners, scales_h, scales_w);
  SB_DERIVE_UPSAMPLE(_upsample_bilinear2d_aa, align_corners, scales_h, scales_w);
  SB_DERIVE_UPSAMPLE(_upsample_bicubic2d_aa, align_corners, scales_h, scales_w);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  SB_DERIVE_UPSAMPLE_VEC(upsample_nearest1d, scale_factors);
  SB_DERIVE_UPSAMPLE_VEC(upsample_nearest2d, scale_factors);
  SB_DERIVE_UPSAMPLE_VEC(upsample_nearest3d, scale_factors);
  SB_DERIVE_UPSAMPLE_VEC(_upsample_nearest_exact1d, scale_factors);
  SB_DERIVE_UPSAMPLE_VEC(_upsample_nearest_exact2d, scale_factors);
  SB_DERIVE_UPSAMPLE_VEC(_upsample_nearest_exact3d, scale_factors);
  SB_DERIVE_UPSAMPLE_VEC(upsample_linear1d, align_corners, scale_factors);
  SB_DERIVE_UPSAMPLE_VEC(upsample_bilinear2d, align_corners, scale_factors);
  SB_DERIVE_UPSAMPLE_VEC(upsample_trilinear3d, align_corners, scale_factors);
  SB_DERIVE_UPSAMPLE_VEC(upsample_bicubic2d, align_corners, scale_factors);
}

}  // namespace sb
