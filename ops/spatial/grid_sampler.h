// Elements of an input at the places that a grid names, between elements too. As
// `torch.nn.functional.grid_sample`.
//
// A grid (N, space..., rank) has for each element of the result its place in the input, the last
// dimension's coordinate first: -1 and 1 are the middles of the first and last element with
// align_corners, else their outer edges. interpolation_mode is 0 (linear), 1 (nearest) or 2 (cubic,
// of two dimensions); padding_mode says what is outside: 0 zeros, 1 the nearest edge, 2 the input
// reflected. RuntimeError for other modes, and for shapes and dtypes that do not fit.

#ifndef SWITCHBOARD_OPS_SPATIAL_GRID_SAMPLER_H_
#define SWITCHBOARD_OPS_SPATIAL_GRID_SAMPLER_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// Input (N, C, H, W) or (N, C, D, H, W).
SB_OP(
    grid_sampler,
    "aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
    "align_corners) -> Tensor");
SB_OP(grid_sampler_2d,
      "aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
      "bool align_corners) -> Tensor");
SB_OP(grid_sampler_3d,
      "aten::grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
      "bool align_corners) -> Tensor");

// The gradients of input and grid, as far as output_mask wants them. They have no derivatives.
SB_OP(grid_sampler_2d_backward,
      "aten::grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int "
      "interpolation_mode, int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, "
      "Tensor)");
SB_OP(grid_sampler_3d_backward,
      "aten::grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, int "
      "interpolation_mode, int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, "
      "Tensor)");

// The grid of an affine map: theta (N, 2, 3) or (N, 3, 4) applied to the places of a result of
// `size`, (N, C, H, W) or (N, C, D, H, W). As `torch.nn.functional.affine_grid`.
SB_OP(affine_grid_generator,
      "aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor");
SB_OP(affine_grid_generator_backward,
      "aten::affine_grid_generator_backward(Tensor grad, SymInt[] size, bool align_corners) -> "
      "Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SPATIAL_GRID_SAMPLER_H_
