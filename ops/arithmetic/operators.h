// The C++ operators of tensors: x + y, 1 - x, -x, x += y, x < y, ...
//
// Comparisons are elementwise and give bool tensors, as in PyTorch; == too, so tensors do not go
// into containers that compare their elements. To ask whether two handles name one tensor, there is
// Tensor::is_same.

#ifndef SWITCHBOARD_OPS_ARITHMETIC_OPERATORS_H_
#define SWITCHBOARD_OPS_ARITHMETIC_OPERATORS_H_

#include "switchboard/core/scalar.h"
#include "switchboard/core/tensor.h"
// For programs: add(x, y) and relu(x) come with x + y.
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/cpu/elementwise.h"

namespace sb {

Tensor operator-(const Tensor& x);

Tensor operator+(const Tensor& x, const Tensor& y);
Tensor operator+(const Tensor& x, const Scalar& y);
Tensor operator+(const Scalar& x, const Tensor& y);
Tensor operator-(const Tensor& x, const Tensor& y);
Tensor operator-(const Tensor& x, const Scalar& y);
Tensor operator-(const Scalar& x, const Tensor& y);
Tensor operator*(const Tensor& x, const Tensor& y);
Tensor operator*(const Tensor& x, const Scalar& y);
Tensor operator*(const Scalar& x, const Tensor& y);
Tensor operator/(const Tensor& x, const Tensor& y);
Tensor operator/(const Tensor& x, const Scalar& y);
Tensor operator/(const Scalar& x, const Tensor& y);

// In place: the elements of x change, not the handle.
const Tensor& operator+=(const Tensor& x, const Tensor& y);
const Tensor& operator+=(const Tensor& x, const Scalar& y);
const Tensor& operator-=(const Tensor& x, const Tensor& y);
const Tensor& operator-=(const Tensor& x, const Scalar& y);
const Tensor& operator*=(const Tensor& x, const Tensor& y);
const Tensor& operator*=(const Tensor& x, const Scalar& y);
const Tensor& operator/=(const Tensor& x, const Tensor& y);
const Tensor& operator/=(const Tensor& x, const Scalar& y);

Tensor operator==(const Tensor& x, const Tensor& y);
Tensor operator==(const Tensor& x, const Scalar& y);
Tensor operator!=(const Tensor& x, const Tensor& y);
Tensor operator!=(const Tensor& x, const Scalar& y);
Tensor operator<(const Tensor& x, const Tensor& y);
Tensor operator<(const Tensor& x, const Scalar& y);
Tensor operator<=(const Tensor& x, const Tensor& y);
Tensor operator<=(const Tensor& x, const Scalar& y);
Tensor operator>(const Tensor& x, const Tensor& y);
Tensor operator>(const Tensor& x, const Scalar& y);
Tensor operator>=(const Tensor& x, const Tensor& y);
Tensor operator>=(const Tensor& x, const Scalar& y);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ARITHMETIC_OPERATORS_H_
