// Whole parts of self, along one dimension, written to by a vector of indices.

#ifndef SWITCHBOARD_OPS_INDEXING_INDEX_ALONG_H_
#define SWITCHBOARD_OPS_INDEXING_INDEX_ALONG_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// self[index[i]] += alpha * source[i] for dim 0, and so for any other. `index` is a vector of int32
// or int64, or 0-dim; the parts of source broadcast to those of self. IndexError for an index out
// of range, and for negative ones.
SB_OP(index_add,
      "aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) "
      "-> Tensor");
SB_OP(index_add_, inplace_of(index_add));
SB_OP(index_add_out, out_of(index_add, "out"));
// The same with "prod", "mean", "amax" or "amin". Without include_self the parts that are written
// to do not count themselves.
SB_OP(index_reduce,
      "aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, "
      "bool include_self=True) -> Tensor");
SB_OP(index_reduce_, inplace_of(index_reduce));
SB_OP(index_reduce_out, out_of(index_reduce, "out"));
// self[index[i]] = source[i]. `index` is int64.
SB_OP(index_copy, "aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor");
SB_OP(index_copy_, inplace_of(index_copy));
SB_OP(index_copy_out, out_of(index_copy, "out"));
// self[index[i]] = value. Negative indices count from the end.
SB_OP(index_fill,
      "aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> "
      "Tensor");
SB_OP(index_fill_, inplace_of(index_fill));
SB_OP(index_fill_out, out_of(index_fill, "int_Scalar_out"));
// `value` is 0-dim.
SB_OP(index_fill_Tensor,
      "aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> "
      "Tensor");
SB_OP(index_fill_Tensor_, inplace_of(index_fill_Tensor));
SB_OP(index_fill_Tensor_out, out_of(index_fill_Tensor, "int_Tensor_out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_INDEX_ALONG_H_
