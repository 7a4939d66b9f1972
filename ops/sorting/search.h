// Looking elements up among others.

#ifndef SWITCHBOARD_OPS_SORTING_SEARCH_H_
#define SWITCHBOARD_OPS_SORTING_SEARCH_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Where each element would go in a sorted row so that it stays sorted: before the elements that
// equal it, or (right) behind them; NaN behind everything. The rows are those of sorted_sequence
// along its last dimension, one for all elements or one for each row of self; a sorter says which
// of their elements comes first, second, ... int64, or int32 for out_int32. RuntimeError where the
// shapes do not fit, for bool and complex elements, and for a sorter that points outside.
SB_OP(searchsorted,
      "aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, "
      "bool out_int32=False, bool right=False, str? side=None, "
      "Tensor? sorter=None) -> Tensor");
SB_OP(searchsorted_out, out_of(searchsorted, "Tensor_out"));
SB_OP(searchsorted_Scalar,
      "aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, "
      "bool out_int32=False, bool right=False, str? side=None, "
      "Tensor? sorter=None) -> Tensor");
SB_OP(searchsorted_Scalar_out, out_of(searchsorted_Scalar, "Scalar_out"));
// The same with one row, `boundaries`.
SB_OP(bucketize,
      "aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, "
      "bool out_int32=False, bool right=False) -> Tensor");
SB_OP(bucketize_out, out_of(bucketize, "Tensor_out"));
SB_OP(bucketize_Scalar,
      "aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, "
      "bool out_int32=False, bool right=False) -> Tensor");
SB_OP(bucketize_Scalar_out, out_of(bucketize_Scalar, "Scalar_out"));

// Whether each element is among test_elements; NaN is not. RuntimeError for bool, complex, float16
// and bfloat16 elements.
SB_OP(isin,
      "aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, "
      "bool assume_unique=False, bool invert=False) -> Tensor");
SB_OP(isin_out, out_of(isin, "Tensor_Tensor_out"));
SB_OP(isin_Tensor_Scalar,
      "aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, "
      "bool assume_unique=False, bool invert=False) -> Tensor");
SB_OP(isin_Tensor_Scalar_out, out_of(isin_Tensor_Scalar, "Tensor_Scalar_out"));
SB_OP(isin_Scalar_Tensor,
      "aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, "
      "bool assume_unique=False, bool invert=False) -> Tensor");
SB_OP(isin_Scalar_Tensor_out, out_of(isin_Scalar_Tensor, "Scalar_Tensor_out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SORTING_SEARCH_H_
