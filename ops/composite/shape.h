// Composed of views and copies: transposes of matrices, grids, tiles, pixels.

#ifndef SWITCHBOARD_OPS_COMPOSITE_SHAPE_H_
#define SWITCHBOARD_OPS_COMPOSITE_SHAPE_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The last two dimensions swapped; mH and adjoint also conjugate. Of a 0-dim tensor, self.
// RuntimeError for a vector. matrix_H takes one matrix only, numpy_T reverses all dimensions.
SB_OP(mT, "aten::mT(Tensor(a) self) -> Tensor(a)");
SB_OP(mH, "aten::mH(Tensor(a) self) -> Tensor(a)");
SB_OP(adjoint, "aten::adjoint(Tensor(a) self) -> Tensor(a)");
SB_OP(matrix_H, "aten::matrix_H(Tensor(a) self) -> Tensor(a)");
SB_OP(numpy_T, "aten::numpy_T(Tensor(a) self) -> Tensor(a)");
// movedim by another name.
SB_OP(moveaxis,
      "aten::moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)");
SB_OP(moveaxis_int, "aten::moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)");
// All elements in one dimension; a copy where self is not contiguous.
SB_OP(ravel, "aten::ravel(Tensor(a) self) -> Tensor(a)");

// repeat, with ones put before `dims` where it is too short.
SB_OP(tile, "aten::tile(Tensor self, SymInt[] dims) -> Tensor");
// All expanded to the shape that they broadcast to.
SB_OP(broadcast_tensors, "aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]");
// The sum that undoes a broadcast from `size`. RuntimeError where `size` does not broadcast to
// self's.
SB_OP(sum_to_size, "aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor");

// Views of 0-dim or 1-dim tensors, one dimension for each. With indexing "xy" the first two
// dimensions are swapped, as of the columns and rows of a picture; "ij" otherwise.
SB_OP(meshgrid, "aten::meshgrid(Tensor[] tensors) -> Tensor[]");
SB_OP(meshgrid_indexing, "aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]");
// Rows: all ways to take one element of each tensor, in order.
SB_OP(cartesian_prod, "aten::cartesian_prod(Tensor[] tensors) -> Tensor");

// Channels to pixels, [..., c * r * r, h, w] to [..., c, h * r, w * r], and back.
SB_OP(pixel_shuffle, "aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor");
SB_OP(pixel_shuffle_out, out_of(pixel_shuffle, "out"));
SB_OP(pixel_unshuffle, "aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor");
SB_OP(pixel_unshuffle_out, out_of(pixel_unshuffle, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_COMPOSITE_SHAPE_H_
