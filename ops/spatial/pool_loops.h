// The arithmetic of pooling, over planes: contiguous tensors whose last three dimensions are the
// windows' input or output. All are of the dtype that the input is computed in (computed_in).

#ifndef SWITCHBOARD_OPS_SPATIAL_POOL_LOOPS_H_
#define SWITCHBOARD_OPS_SPATIAL_POOL_LOOPS_H_

#include <optional>

#include "switchboard/ops/spatial/pool_windows.h"

namespace sb::spatial {

// The largest element of each window, or NaN where there is one, and where it lies in its plane.
void max_pool_planes(const PoolWindows& windows, const Tensor& input, const Tensor& output,
                     const Tensor& indices);
void max_pool_plane(const PoolWindows& windows, const Tensor& input, const Tensor& output,
                    const Tensor& indices, int64_t plane);
// The same of float32 with the channels last: of the input, the output and the indices, which are
// dense.
void max_pool_channels_last(const PoolWindows& windows, const Tensor& input, const Tensor& output,
                            const Tensor& indices);

// What a mean divides by: `divisor` where given, else the window's elements, with the padding or
// without.
struct AverageOptions {
  bool count_include_pad = false;
  std::optional<int64_t> divisor;
};
void average_planes(const PoolWindows& windows, AverageOptions options, const Tensor& input,
                    const Tensor& output);
void average_planes_backward(const PoolWindows& windows, AverageOptions options,
                             const Tensor& grad_output, const Tensor& grad_input);

// RuntimeError where an index is not one of a plane of `plane_size` elements.
void check_plane_indices(std::string_view op, const Tensor& indices, int64_t plane_size);
// Writes each element of `source` to its index in the plane of `target`, whose other elements are
// zero: the last one there, or with `add` the sum of all.
void scatter_to_planes(const Tensor& source, const Tensor& indices, const Tensor& target,
                       int64_t planes, bool add);

// The gradient of every max pooling over n dimensions: grad_output's elements, each added at its
// index. RuntimeError for an index outside the plane.
void max_backward(std::string_view op, const Tensor& grad_output, const Tensor& self,
                  const Tensor& indices, const Tensor& grad_input, int n);

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_POOL_LOOPS_H_
