// Columns: for a stretch of a convolution's outputs, the matrix whose column for an output holds
// the elements that it is a sum of; zeros where the padding is.

#ifndef SWITCHBOARD_OPS_SPATIAL_IM2COL_H_
#define SWITCHBOARD_OPS_SPATIAL_IM2COL_H_

#include "switchboard/ops/spatial/conv_shape.h"

namespace sb::spatial {

// A stretch of the outputs' space.
struct Stretch {
  int64_t begin;
  int64_t end;
};

// `input` are the planes of one batch item and group, `columns` a matrix [depth(), end - begin] of
// rows of `columns_stride` elements, all of `dtype`.
void planes_to_columns(const ConvShape& shape, DType dtype, const void* input, Stretch outputs,
                       void* columns, int64_t columns_stride);
// Adds the columns' elements to the planes that they come from.
void add_columns_to_planes(const ConvShape& shape, DType dtype, const void* columns,
                           int64_t columns_stride, Stretch outputs, void* planes);

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_IM2COL_H_
