#include "switchboard/ops/arithmetic/operators.h"

namespace sb {

Tensor operator-(const Tensor& x) { return neg(x); }

Tensor operator+(const Tensor& x, const Tensor& y) { return add(x, y); }
Tensor operator+(const Tensor& x, const Scalar& y) { return add_Scalar(x, y); }
Tensor operator+(const Scalar& x, const Tensor& y) { return add_Scalar(y, x); }
Tensor operator-(const Tensor& x, const Tensor& y) { return sub(x, y); }
Tensor operator-(const Tensor& x, const Scalar& y) { return sub_Scalar(x, y); }
Tensor operator-(const Scalar& x, const Tensor& y) { return rsub_Scalar(y, x); }
Tensor operator*(const Tensor& x, const Tensor& y) { return mul(x, y); }
Tensor operator*(const Tensor& x, const Scalar& y) { return mul_Scalar(x, y); }
Tensor operator*(const Scalar& x, const Tensor& y) { return mul_Scalar(y, x); }
Tensor operator/(const Tensor& x, const Tensor& y) { return div(x, y); }
Tensor operator/(const Tensor& x, const Scalar& y) { return div_Scalar(x, y); }
Tensor operator/(const Scalar& x, const Tensor& y) { return div(wrapped_scalar_tensor(x, y), y); }

const Tensor& operator+=(const Tensor& x, const Tensor& y) { return add_(x, y), x; }
const Tensor& operator+=(const Tensor& x, const Scalar& y) { return add_Scalar_(x, y), x; }
const Tensor& operator-=(const Tensor& x, const Tensor& y) { return sub_(x, y), x; }
const Tensor& operator-=(const Tensor& x, const Scalar& y) { return sub_Scalar_(x, y), x; }
const Tensor& operator*=(const Tensor& x, const Tensor& y) { return mul_(x, y), x; }
const Tensor& operator*=(const Tensor& x, const Scalar& y) { return mul_Scalar_(x, y), x; }
const Tensor& operator/=(const Tensor& x, const Tensor& y) { return div_(x, y), x; }
const Tensor& operator/=(const Tensor& x, const Scalar& y) { return div_Scalar_(x, y), x; }

Tensor operator==(const Tensor& x, const Tensor& y) { return eq(x, y); }
Tensor operator==(const Tensor& x, const Scalar& y) { return eq_Scalar(x, y); }
Tensor operator!=(const Tensor& x, const Tensor& y) { return ne(x, y); }
Tensor operator!=(const Tensor& x, const Scalar& y) { return ne_Scalar(x, y); }
Tensor operator<(const Tensor& x, const Tensor& y) { return lt(x, y); }
Tensor operator<(const Tensor& x, const Scalar& y) { return lt_Scalar(x, y); }
Tensor operator<=(const Tensor& x, const Tensor& y) { return le(x, y); }
Tensor operator<=(const Tensor& x, const Scalar& y) { return le_Scalar(x, y); }
Tensor operator>(const Tensor& x, const Tensor& y) { return gt(x, y); }
Tensor operator>(const Tensor& x, const Scalar& y) { return gt_Scalar(x, y); }
Tensor operator>=(const Tensor& x, const Tensor& y) { return ge(x, y); }
Tensor operator>=(const Tensor& x, const Scalar& y) { return ge_Scalar(x, y); }

}  // namespace sb
