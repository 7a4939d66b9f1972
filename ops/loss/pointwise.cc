#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "switchboard/ops/cpu/array_loops.h"

#ifndef SB_CPU_VARIANT
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/loss/pointwise.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"
#endif

namespace sb {
namespace {

// What the loops take: beta or delta, and a factor of derivatives.
struct LossParams {
  double threshold = 0;
  double factor = 1;
};
// An integer that the type cannot hold is its largest one: no distance is larger either.
template <class Array>
element_of<Array> threshold_of(const void* params, const Array&) {
  using T = element_of<Array>;
  const double threshold = static_cast<const LossParams*>(params)->threshold;
  if constexpr (std::is_integral_v<T>) {
    if (threshold >= static_cast<double>(std::numeric_limits<T>::max()))
      return std::numeric_limits<T>::max();
  }
  return static_cast<T>(threshold);
}
template <class Array>
element_of<Array> factor_of(const void* params, const Array&) {
  return static_cast<element_of<Array>>(static_cast<const LossParams*>(params)->factor);
}

constexpr LoopTable mse_loops() {
  LoopTable table{};
  set_loops<2>(&table, FloatTypes(), [](const auto& a, const auto& b) { return (a - b).square(); });
  return table;
}
constexpr LoopTable smooth_l1_loops() {
  LoopTable table{};
  set_loops<2>(&table, FloatTypes(), [](const void* params, const auto& a, const auto& b) {
    using T = element_of<decltype(a)>;
    return a.binaryExpr(b, [beta = threshold_of(params, a)](T x, T y) {
      const T d = std::abs(x - y);
      return d < beta ? T(0.5) * d * d / beta : d - T(0.5) * beta;
    });
  });
  return table;
}
constexpr LoopTable huber_loops() {
  LoopTable table{};
  set_loops<2>(&table, FloatTypes(), [](const void* params, const auto& a, const auto& b) {
    using T = element_of<decltype(a)>;
    return a.binaryExpr(b, [delta = threshold_of(params, a)](T x, T y) {
      const T d = std::abs(x - y);
      return d <= delta ? T(0.5) * d * d : delta * (d - T(0.5) * delta);
    });
  });
  return table;
}
constexpr LoopTable cross_entropy_loops() {
  LoopTable table{};
  set_loops<2>(&table, FloatTypes(), [](const auto& a, const auto& b) {
    using T = element_of<decltype(a)>;
    return a.binaryExpr(b, [](T p, T target) {
      return (target - 1) * std::max(std::log1p(-p), T(-100)) -
             target * std::max(std::log(p), T(-100));
    });
  });
  return table;
}
// Finds what is no probability before anything is written.
constexpr LoopTable probability_loops() {
  LoopTable table{};
  set_loops<1>(&table, FloatTypes(), [](const void* bad, const auto& a) {
    // Pieces run on several threads.
    if (!(a >= 0 && a <= 1).all())
      std::atomic_ref(*static_cast<bool*>(const_cast<void*>(bad))).store(true);
    return a;
  });
  return table;
}

// Of self, target and grad_output. Integers wrap.
constexpr LoopTable mse_backward_loops() {
  LoopTable table{};
  const auto f = [](const void* params, const auto& a, const auto& b, const auto& grad) {
    return (a - b) * grad * factor_of(params, a);
  };
  set_loops<3>(&table, FloatTypes(), f);
  set_loops<3>(&table, IntegerTypes(),
               [](const void* params, const auto& a, const auto& b, const auto& grad) {
                 using T = element_of<decltype(a)>;
                 const auto to = [](const auto& array) { return array.template cast<uint64_t>(); };
                 const uint64_t factor = static_cast<uint64_t>(factor_of(params, a));
                 return ((to(a) - to(b)) * to(grad) * factor).template cast<T>().eval();
               });
  return table;
}
// Integers wrap.
template <class T>
T negated(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
  else
    return -x;
}
template <class T>
T product_over(T x, T y, T divisor) {
  if constexpr (std::is_integral_v<T>) {
    if (divisor == 0) return T(0);
    const T product = static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
    return divisor == T(-1) ? negated(product) : static_cast<T>(product / divisor);
  } else {
    return x * y / divisor;
  }
}
// The derivative of the distance by x where it exceeds `threshold`, and x / slope between.
template <class T>
T clipped(T x, T threshold, T outside, T inside) {
  if (x <= negated(threshold)) return negated(outside);
  return x >= threshold ? outside : inside;
}
constexpr LoopTable smooth_l1_backward_loops() {
  LoopTable table{};
  const auto f = [](const void* params, const auto& a, const auto& b, const auto& grad) {
    using T = element_of<decltype(a)>;
    const T beta = threshold_of(params, a);
    const T factor = factor_of(params, a);
    const auto slope = [beta, factor](T x, T y) {
      // Integers wrap, and beta may be 0 for them.
      T d;
      if constexpr (std::is_integral_v<T>) {
        d = static_cast<T>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
        return clipped<T>(d, beta, factor, product_over(factor, d, beta));
      } else {
        d = x - y;
        return clipped<T>(d, beta, factor, product_over(factor, d, beta));
      }
    };
    return a.binaryExpr(b, slope)
        .binaryExpr(grad,
                    [](T x, T y) {
                      if constexpr (std::is_integral_v<T>) {
                        return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
                      } else {
                        return x * y;
                      }
                    })
        .eval();
  };
  set_loops<3>(&table, FloatTypes(), f);
  set_loops<3>(&table, IntegerTypes(), f);
  return table;
}
constexpr LoopTable huber_backward_loops() {
  LoopTable table{};
  set_loops<3>(&table, FloatTypes(),
               [](const void* params, const auto& a, const auto& b, const auto& grad) {
                 using T = element_of<decltype(a)>;
                 const auto slope = [delta = threshold_of(params, a),
                                     factor = factor_of(params, a)](T x, T y) {
                   return clipped<T>(x - y, delta, factor * delta, factor * (x - y));
                 };
                 return (a.binaryExpr(b, slope) * grad).eval();
               });
  return table;
}
constexpr LoopTable cross_entropy_backward_loops() {
  LoopTable table{};
  set_loops<3>(&table, FloatTypes(), [](const auto& p, const auto& target, const auto& grad) {
    using T = element_of<decltype(p)>;
    // As PyTorch, whose bound is a float, for doubles too.
    return grad * (p - target) / ((1 - p) * p).max(T(1e-12f));
  });
  return table;
}

}  // namespace

SB_ELEMENTWISE(mse_arithmetic, "mse_loss", kBinaryFlags, mse_loops());
SB_ELEMENTWISE(smooth_l1_arithmetic, "smooth_l1_loss", kBinaryFlags, smooth_l1_loops());
SB_ELEMENTWISE(huber_arithmetic, "huber_loss", kBinaryFlags, huber_loops());
SB_ELEMENTWISE(cross_entropy_arithmetic, "binary_cross_entropy", kUnaryFlags,
               cross_entropy_loops());
SB_ELEMENTWISE(probability_arithmetic, "binary_cross_entropy", kUnaryFlags, probability_loops());
SB_ELEMENTWISE(mse_backward_arithmetic, "mse_loss_backward", kBinaryFlags, mse_backward_loops());
SB_ELEMENTWISE(smooth_l1_backward_arithmetic, "smooth_l1_loss_backward", kBinaryFlags,
               smooth_l1_backward_loops());
SB_ELEMENTWISE(huber_backward_arithmetic, "huber_loss_backward", kUnaryFlags,
               huber_backward_loops());
SB_ELEMENTWISE(cross_entropy_backward_arithmetic, "binary_cross_entropy_backward", kUnaryFlags,
               cross_entropy_backward_loops());

#ifndef SB_CPU_VARIANT
namespace {

void check_known(const char* op, int64_t reduction) {
  SB_CHECK(reduction >= kReduceNone && reduction <= kReduceSum, op,
           ": reduction: expected 0 (none), 1 (mean) or 2 (sum), got ", reduction);
}
void check_same_dtype(const char* op, std::initializer_list<const Tensor*> tensors) {
  const Tensor& first = **tensors.begin();
  for (const Tensor* t : tensors) {
    SB_CHECK(t->dtype() == first.dtype(), op, ": found dtype ", to_string(t->dtype()),
             " but expected ", to_string(first.dtype()));
  }
}

void check_castable(const ElementwiseOp& op, DType dtype, const Tensor& out) {
  SB_CHECK(can_cast(dtype, out.dtype()), op.name, ": result type ", to_string(dtype),
           " can't be cast to the desired output type ", to_string(out.dtype()));
}

Tensor pointwise_loss(const ElementwiseOp& op, const Tensor& out, const Tensor& self,
                      const Tensor& target, int64_t reduction, const void* params) {
  if (reduction == kReduceNone) return elementwise(op, out, self, target, params);
  if (out.defined()) check_castable(op, result_type({&self, &target}), out);
  const Tensor loss = elementwise(op, Tensor(), self, target, params);
  return out.defined() ? reduce_loss_out(loss, reduction, out) : reduce_loss(loss, reduction);
}

Tensor mse_body(const Tensor& out, const Tensor& self, const Tensor& target, int64_t reduction) {
  check_known("mse_loss", reduction);
  return pointwise_loss(mse_arithmetic, out, self, target, reduction, nullptr);
}
Tensor smooth_l1_body(const Tensor& out, const Tensor& self, const Tensor& target,
                      int64_t reduction, double beta) {
  check_known("smooth_l1_loss", reduction);
  SB_CHECK(beta >= 0, "smooth_l1_loss: beta: expected 0 or more, got ", beta);
  const LossParams params{beta};
  return pointwise_loss(smooth_l1_arithmetic, out, self, target, reduction, &params);
}
// Unlike the others it has self's dtype.
Tensor huber_body(const Tensor& out, const Tensor& self, const Tensor& target, int64_t reduction,
                  double delta) {
  SB_CHECK(delta > 0, "huber_loss: delta: expected more than 0, got ", delta);
  const LossParams params{delta};
  const bool reduces = reduction == kReduceMean || reduction == kReduceSum;
  if (!out.defined() || !reduces) {
    const Tensor& to = out.defined() ? out : empty_like(self);
    return reduce_loss(elementwise(huber_arithmetic, to, self, target, &params), reduction);
  }
  const Tensor loss = elementwise(huber_arithmetic, empty_on(out.device(), {0}, out.dtype()), self,
                                  target, &params);
  for (const Tensor* t : {&self, &target}) check_no_partial_overlap(out, *t);
  copy_result_to_out("huber_loss", reduce_loss(loss, reduction), out);
  return out;
}

// On devices without a kernel.
Tensor huber_out_composite(const Tensor& self, const Tensor& target, int64_t reduction,
                           double delta, const Tensor& out) {
  const DType dtype = result_type({&self, &target});
  check_castable(huber_arithmetic, dtype, out);
  const Tensor loss = huber_loss(to_dtype(self, dtype), target, kReduceNone, delta);
  copy_result_to_out("huber_loss", reduce_loss(to_dtype(loss, out.dtype()), reduction), out);
  return out;
}

// Where the derivative goes: grad_input, or a contiguous tensor like self.
Tensor gradient_of(const Tensor& grad_input, const Tensor& self) {
  if (grad_input.defined()) return grad_input;
  return by_size(any_symbolic(self), [&]<class Int>() {
    return internal::make_result(BasicTensorMeta<Int>{size_vector<Int>(self), self.dtype()},
                                 self.device());
  });
}
// Nothing is computed where sizes are symbols.
double mean_factor(const Tensor& self, int64_t reduction) {
  const bool counts = reduction == kReduceMean && !self.is_symbolic();
  return counts ? 1.0 / static_cast<double>(self.numel()) : 1.0;
}

Tensor mse_backward_body(const Tensor& grad_input, const Tensor& grad, const Tensor& self,
                         const Tensor& target, int64_t reduction) {
  const LossParams params{0, 2 * mean_factor(self, reduction)};
  return elementwise(mse_backward_arithmetic, gradient_of(grad_input, self), self, target, grad,
                     &params);
}
Tensor smooth_l1_backward_body(const Tensor& grad_input, const Tensor& grad, const Tensor& self,
                               const Tensor& target, int64_t reduction, double beta) {
  const LossParams params{beta, mean_factor(self, reduction)};
  return elementwise(smooth_l1_backward_arithmetic, gradient_of(grad_input, self), self, target,
                     grad, &params);
}
Tensor huber_backward_body(const Tensor& grad_input, const Tensor& grad, const Tensor& self,
                           const Tensor& target, int64_t reduction, double delta) {
  check_same_dtype("huber_loss_backward", {&self, &target, &grad});
  const LossParams params{delta, mean_factor(self, reduction)};
  return elementwise(huber_backward_arithmetic, gradient_of(grad_input, self), self, target, grad,
                     &params);
}

// Dimensions of size 1 do not count where binary_cross_entropy compares shapes.
void check_fits(const char* op, const Tensor& self, const Tensor& other) {
  by_size(any_symbolic(self, other), [&]<class Int>() {
    const auto squeezed = [](const Tensor& t) {
      SizeVector<Int> sizes;
      for (const Int& size : sizes_of<Int>(t)) {
        if (!is_one(size)) sizes.push_back(size);
      }
      return sizes;
    };
    const SizeVector<Int> own = squeezed(self), last = squeezed(other);
    const auto check = [&](const auto& fits) {
      SB_CHECK(fits, op, ": ", other.describe(), " does not broadcast to ", self.describe());
    };
    check(last.size() <= own.size());
    check(equal_sizes<Int>(SizesRef<Int>(own).last(last.size()), SizesRef<Int>(last)));
  });
}
void check_weight(const char* op, const Tensor& self, const std::optional<Tensor>& weight) {
  if (!is_given(weight)) return;
  by_size(any_symbolic(self, *weight), [&]<class Int>() {
    const SizesRef<Int> own = sizes_of<Int>(self), sizes = sizes_of<Int>(*weight);
    const auto check = [&](const auto& fits) {
      SB_CHECK(fits, op, ": weight: ", weight->describe(), " does not broadcast to ",
               self.describe());
    };
    check(sizes.size() <= own.size());
    for (size_t i = 1; i <= sizes.size(); ++i) {
      const Int& size = sizes[sizes.size() - i];
      if (!is_one(size)) check(size == own[own.size() - i]);
    }
  });
  SB_CHECK(can_cast(promote_types(self.dtype(), weight->dtype()), self.dtype()), op,
           ": result type of ", weight->describe(), " can't be cast to ", to_string(self.dtype()));
}
void check_probabilities(const Tensor& self) {
  if (!self.is_cpu() || self.is_symbolic() || self.numel() == 0) return;
  bool bad = false;
  elementwise(probability_arithmetic, Tensor(), self, &bad);
  SB_CHECK(!bad, "binary_cross_entropy: self: expected elements between 0 and 1");
}
void check_cross_entropy(const char* op, const Tensor& self,
                         std::initializer_list<const Tensor*> others,
                         const std::optional<Tensor>& weight) {
  for (const Tensor* t : others) check_same_dtype(op, {&self, t});
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(self.dtype()), op, ": not implemented for ",
                           to_string(self.dtype()));
  for (const Tensor* t : others) check_fits(op, self, *t);
  check_weight(op, self, weight);
}

// A tensor with the elements of `result` goes to a given out of its dtype.
Tensor given_or(const char* op, const Tensor& result, const Tensor& out) {
  if (!out.defined()) return result;
  check_same_dtype(op, {&result, &out});
  copy_result_to_out(op, result, out);
  return out;
}

Tensor cross_entropy_body(const Tensor& out, const Tensor& self, const Tensor& target,
                          const std::optional<Tensor>& weight, int64_t reduction) {
  const char* const op = "binary_cross_entropy";
  check_cross_entropy(op, self, {&target}, weight);
  if (out.defined()) check_same_dtype(op, {&self, &out});
  check_probabilities(self);
  const Tensor loss = empty_like(self);
  elementwise(cross_entropy_arithmetic, squeeze(loss), squeeze(self), squeeze(target));
  if (is_given(weight)) mul_(loss, *weight);
  return given_or(op, reduce_loss(loss, reduction), out);
}
Tensor cross_entropy_backward_body(const Tensor& grad_input, const Tensor& grad, const Tensor& self,
                                   const Tensor& target, const std::optional<Tensor>& weight,
                                   int64_t reduction) {
  const char* const op = "binary_cross_entropy_backward";
  check_cross_entropy(op, self, {&target, &grad}, weight);
  if (grad_input.defined()) check_same_dtype(op, {&self, &grad_input});
  const Tensor result = empty_like(self);
  elementwise(cross_entropy_backward_arithmetic, squeeze(result), squeeze(self), squeeze(target),
              squeeze(grad));
  if (is_given(weight)) mul_(result, *weight);
  if (reduction == kReduceMean) div_Scalar_(result, self.sym_numel());
  return given_or(op, result, grad_input);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, mse_loss).elementwise<mse_body>().out(mse_loss_out);
  define(m, mse_loss_backward).elementwise<mse_backward_body>().out(mse_loss_backward_out);
  define(m, smooth_l1_loss).elementwise<smooth_l1_body>().out(smooth_l1_loss_out);
  define(m, smooth_l1_loss_backward)
      .elementwise<smooth_l1_backward_body>()
      .out(smooth_l1_loss_backward_out);
  define(m, huber_loss).elementwise<huber_body>().out(huber_loss_out);
  m.impl(huber_loss_out, DispatchKey::CompositeExplicitAutograd, huber_out_composite);
  define(m, huber_loss_backward).elementwise<huber_backward_body>().out(huber_loss_backward_out);
  define(m, binary_cross_entropy).elementwise<cross_entropy_body>().out(binary_cross_entropy_out);
  define(m, binary_cross_entropy_backward)
      .elementwise<cross_entropy_backward_body>()
      .out(binary_cross_entropy_backward_out);
}

}  // namespace
#endif  // SB_CPU_VARIANT

}  // namespace sb
