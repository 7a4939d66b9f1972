// How many points lie in each box of a grid.
//
// The points are the rows of `self`, all its dimensions but the last; a box of dimension d is
// between neighbours among the edges of d, the last box with its right end. Points outside, and
// those with a NaN, do not count. With `weight`, of one number for each point, the numbers are
// added up; with `density` they are divided by their sum and by the volume of their box. Float32
// and float64, with bins and weights of the same dtype. RuntimeError for shapes, dtypes and ranges
// that do not fit. Without `range`, which has the least and the largest edge of each dimension, it
// is that of the points, or from 0 to 1 where there are none; where both ends are the same, half a
// unit is left on either side. No result has a derivative.

#ifndef SWITCHBOARD_OPS_SORTING_HISTOGRAM_H_
#define SWITCHBOARD_OPS_SORTING_HISTOGRAM_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

SB_OP(_histogramdd_bin_edges,
      "aten::_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? "
      "weight=None, bool density=False) -> Tensor[]");
SB_OP(_histogramdd_from_bin_cts,
      "aten::_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? "
      "weight=None, bool density=False) -> Tensor");
SB_OP(_histogramdd_from_bin_tensors,
      "aten::_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, "
      "bool density=False) -> Tensor");
// Both. As `torch.histogramdd`.
SB_OP(histogramdd,
      "aten::histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool "
      "density=False) -> (Tensor hist, Tensor[] bin_edges)");
SB_OP(histogramdd_int_bins,
      "aten::histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None, "
      "bool density=False) -> (Tensor hist, Tensor[] bin_edges)");
SB_OP(histogramdd_TensorList_bins,
      "aten::histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? "
      "weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)");
// The same of numbers, which are all elements of self. As `torch.histogram`.
SB_OP(histogram_bin_ct,
      "aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? "
      "weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)");
SB_OP(histogram_bins_tensor,
      "aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool "
      "density=False) -> (Tensor hist, Tensor bin_edges)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SORTING_HISTOGRAM_H_
