// The C++ operators of tensors: x + y, 1 - x, -x, x += y, x < y, ...
//
// Comparisons are elementwise and give bool tensors, as in PyTorch; == too, so tensors do not go
// into containers that compare their elements. To ask whether two handles name one tensor, there is
// Tensor::is_same.

#ifndef SWITCHBOARD_OPS_OPERATORS_H_
#define SWITCHBOARD_OPS_OPERATORS_H_

#include "switchboard/ops/arithmetic.h"
#include "switchboard/ops/comparison.h"
#include "switchboard/ops/elementwise.h"
#include "switchboard/ops/unary.h"

namespace sb {

inline Tensor operator-(const Tensor& x) { return neg(x); }

inline Tensor operator+(const Tensor& x, const Tensor& y) { return add(x, y); }
inline Tensor operator+(const Tensor& x, const Scalar& y) { return add_Scalar(x, y); }
inline Tensor operator+(const Scalar& x, const Tensor& y) { return add_Scalar(y, x); }
inline Tensor operator-(const Tensor& x, const Tensor& y) { return sub(x, y); }
inline Tensor operator-(const Tensor& x, const Scalar& y) { return sub_Scalar(x, y); }
inline Tensor operator-(const Scalar& x, const Tensor& y) { return rsub_Scalar(y, x); }
inline Tensor operator*(const Tensor& x, const Tensor& y) { return mul(x, y); }
inline Tensor operator*(const Tensor& x, const Scalar& y) { return mul_Scalar(x, y); }
inline Tensor operator*(const Scalar& x, const Tensor& y) { return mul_Scalar(y, x); }
inline Tensor operator/(const Tensor& x, const Tensor& y) { return div(x, y); }
inline Tensor operator/(const Tensor& x, const Scalar& y) { return div_Scalar(x, y); }
inline Tensor operator/(const Scalar& x, const Tensor& y) {
  return div(wrapped_scalar_tensor(x), y);
}

// In place: the elements of x change, not the handle.
inline const Tensor& operator+=(const Tensor& x, const Tensor& y) { return add_(x, y), x; }
inline const Tensor& operator+=(const Tensor& x, const Scalar& y) { return add_Scalar_(x, y), x; }
inline const Tensor& operator-=(const Tensor& x, const Tensor& y) { return sub_(x, y), x; }
inline const Tensor& operator-=(const Tensor& x, const Scalar& y) { return sub_Scalar_(x, y), x; }
inline const Tensor& operator*=(const Tensor& x, const Tensor& y) { return mul_(x, y), x; }
inline const Tensor& operator*=(const Tensor& x, const Scalar& y) { return mul_Scalar_(x, y), x; }
inline const Tensor& operator/=(const Tensor& x, const Tensor& y) { return div_(x, y), x; }
inline const Tensor& operator/=(const Tensor& x, const Scalar& y) { return div_Scalar_(x, y), x; }

inline Tensor operator==(const Tensor& x, const Tensor& y) { return eq(x, y); }
inline Tensor operator==(const Tensor& x, const Scalar& y) { return eq_Scalar(x, y); }
inline Tensor operator!=(const Tensor& x, const Tensor& y) { return ne(x, y); }
inline Tensor operator!=(const Tensor& x, const Scalar& y) { return ne_Scalar(x, y); }
inline Tensor operator<(const Tensor& x, const Tensor& y) { return lt(x, y); }
inline Tensor operator<(const Tensor& x, const Scalar& y) { return lt_Scalar(x, y); }
inline Tensor operator<=(const Tensor& x, const Tensor& y) { return le(x, y); }
inline Tensor operator<=(const Tensor& x, const Scalar& y) { return le_Scalar(x, y); }
inline Tensor operator>(const Tensor& x, const Tensor& y) { return gt(x, y); }
inline Tensor operator>(const Tensor& x, const Scalar& y) { return gt_Scalar(x, y); }
inline Tensor operator>=(const Tensor& x, const Tensor& y) { return ge(x, y); }
inline Tensor operator>=(const Tensor& x, const Scalar& y) { return ge_Scalar(x, y); }

}  // namespace sb

#endif  // SWITCHBOARD_OPS_OPERATORS_H_
