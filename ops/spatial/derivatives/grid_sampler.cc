// The derivatives of grid_sampler, by input and grid.

#include "switchboard/ops/spatial/grid_sampler.h"

#include "switchboard/autograd/derivatives.h"

namespace sb {
namespace {

template <auto& backward>
std::array<Tensor, 2> sampler_gradients(const Tensor& grad, const Tensor& input, const Tensor& grid,
                                        int64_t interpolation_mode, int64_t padding_mode,
                                        bool align_corners, const std::array<bool, 2>& needs) {
  auto [by_input, by_grid] =
      backward(grad, input, grid, interpolation_mode, padding_mode, align_corners, needs);
  return {std::move(by_input), std::move(by_grid)};
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, affine_grid_generator,
         SB_GRAD(theta, (grad, size, align_corners),
                 affine_grid_generator_backward(grad, size, align_corners)));
  derive(m, grid_sampler_2d,
         SB_GRAD((input, grid),
                 (grad, input, grid, interpolation_mode, padding_mode, align_corners, needs),
                 sampler_gradients<grid_sampler_2d_backward>(grad, input, grid, interpolation_mode,
                                                             padding_mode, align_corners, needs)));
  derive(m, grid_sampler_3d,
         SB_GRAD((input, grid),
                 (grad, input, grid, interpolation_mode, padding_mode, align_corners, needs),
                 sampler_gradients<grid_sampler_3d_backward>(grad, input, grid, interpolation_mode,
                                                             padding_mode, align_corners, needs)));
}

}  // namespace
}  // namespace sb
