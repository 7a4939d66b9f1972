#include "switchboard/ops/linalg/distance.h"

#include <cmath>
#include <limits>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/dtype_types.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/shape/symbolic_operands.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

template <class T>
using Row = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using MutableRow = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;

template <class T>
T distance(const Row<T>& a, const Row<T>& b, double p) {
  if (a.size() == 0) return T(0);
  const auto difference = (a - b).abs();
  if (p == 0) return static_cast<T>((a != b).count());
  if (p == 1) return difference.sum();
  if (p == 2) return std::sqrt(difference.square().sum());
  if (std::isinf(p)) return difference.template maxCoeff<Eigen::PropagateNaN>();
  const auto powers = difference.unaryExpr([&](T x) { return std::pow(x, static_cast<T>(p)); });
  return std::pow(powers.sum(), static_cast<T>(1 / p));
}

// Adds to `out` the gradient of a, where d is the distance and g its gradient.
template <class T>
void add_gradient(const Row<T>& a, const Row<T>& b, double p, T d, T g, MutableRow<T> out) {
  const auto difference = a - b;
  const auto sign = difference.sign();
  const T power = static_cast<T>(p - 1);
  if (p == 1) {
    out += sign * g;
  } else if (p == 0 || d == T(0)) {
    return;
  } else if (p == 2) {
    out += difference * (g / d);
  } else if (std::isinf(p)) {
    out += sign * (difference.abs() == d).template cast<T>() * g;
  } else {
    // 0 to a negative power would be infinite.
    const auto slope = difference.unaryExpr(
        [&](T x) { return x == T(0) ? T(0) : std::copysign(std::pow(std::abs(x), power), x); });
    out += slope * (g / std::pow(d, power));
  }
}

// A contiguous tensor to write instead of `out`, or `out` itself.
class DenseOut {
 public:
  explicit DenseOut(const Tensor& out) : out_(out), dense_(contiguous(out)) {}
  template <class T>
  T* data() const {
    return dense_.data<T>();
  }
  void finish() const {
    if (!dense_.is_same(out_)) copy_elements(out_, dense_);
  }

 private:
  const Tensor& out_;
  Tensor dense_;
};

void check_floating(const char* op, const Tensor& t) {
  check_defined(op, t);
  SB_CHECK(is_floating_point(t.dtype()), op, ": expected float32 or float64, got ", t.describe());
  SB_CHECK_NOT_IMPLEMENTED(t.dtype() == DType::Float32 || t.dtype() == DType::Float64, op,
                           ": not implemented for ", t.describe());
}

template <SizeType Int>
SizeVector<Int> batch_of(const Tensor& x1, const Tensor& x2) {
  const SizesRef<Int> a = sizes_of<Int>(x1), b = sizes_of<Int>(x2);
  return broadcast_sizes<Int>(a.first(a.size() - 2), b.first(b.size() - 2));
}
DimVector batch_of(const Tensor& x1, const Tensor& x2) { return batch_of<int64_t>(x1, x2); }
template <SizeType Int>
SizeVector<Int> with_last(SizeVector<Int> batch, const Int& rows, const Int& cols) {
  batch.insert(batch.end(), {rows, cols});
  return batch;
}
// The size of the last dimension, or of the one before it.
template <SizeType Int>
Int cols_of(const Tensor& t) {
  return sizes_of<Int>(t).back();
}
template <SizeType Int>
Int rows_of(const Tensor& t) {
  return sizes_of<Int>(t)[sizes_of<Int>(t).size() - 2];
}

// Of any p: the backward takes what the forward refuses.
template <SizeType Int>
BasicTensorMeta<Int> distances_rule(const Tensor& x1, const Tensor& x2) {
  check_floating("cdist: x1", x1);
  check_floating("cdist: x2", x2);
  SB_CHECK(x1.dim() >= 2 && x2.dim() >= 2, "cdist: expected at least 2 dimensions, got ",
           x1.describe(), " and ", x2.describe());
  SB_CHECK(cols_of<Int>(x1) == cols_of<Int>(x2), "cdist: expected equally many columns, got ",
           x1.describe(), " and ", x2.describe());
  SB_CHECK(x1.dtype() == x2.dtype(), "cdist: expected one dtype, got ", x1.describe(), " and ",
           x2.describe());
  return {with_last<Int>(batch_of<Int>(x1, x2), rows_of<Int>(x1), rows_of<Int>(x2)), x1.dtype()};
}
template <SizeType Int>
BasicTensorMeta<Int> cdist_rule(const Tensor& x1, const Tensor& x2, double p,
                                std::optional<int64_t> compute_mode) {
  const BasicTensorMeta<Int> meta = distances_rule<Int>(x1, x2);
  SB_CHECK(p >= 0, "cdist: p: expected a number that is not negative, got ", p);
  SB_CHECK(!compute_mode || (*compute_mode >= 0 && *compute_mode <= 2),
           "cdist: compute_mode: expected 0, 1 or 2, got ", compute_mode.value_or(0));
  return meta;
}

// Those of a new tensor like t.
template <SizeType Int>
SizeVector<Int> strides_like(const Tensor& t) {
  if constexpr (std::is_same_v<Int, SymInt>) {
    return internal::dense_strides_like(t);
  } else {
    return empty_like_strides(t);
  }
}

// x broadcast to the batch, its matrices contiguous.
Tensor spread(const Tensor& x, const DimVector& batch) {
  return contiguous(expand(x, with_last<int64_t>(batch, x.size(-2), x.size(-1))));
}

template <class F>
void visit_floating(DType dtype, const F& f) {
  dtype == DType::Float32 ? f.template operator()<float>() : f.template operator()<double>();
}
int64_t grain_of(int64_t work) { return kElementGrain / std::max<int64_t>(work, 1) + 1; }

void cdist_kernel(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t>,
                  const Tensor& out) {
  if (out.numel() == 0) return;
  const DimVector batch = batch_of(x1, x2);
  const Tensor a = spread(x1, batch);
  const Tensor b = spread(x2, batch);
  const DenseOut result(out);
  const int64_t n = x1.size(-2);
  const int64_t m = x2.size(-2);
  const int64_t k = x1.size(-1);
  visit_floating(out.dtype(), [&]<class T>() {
    const T* const lhs = a.data<T>();
    const T* const rhs = b.data<T>();
    T* const to = result.data<T>();
    parallel_for(0, out.numel() / m, grain_of(m * k), [&](int64_t from, int64_t end) {
      for (int64_t i = from; i < end; ++i) {
        for (int64_t j = 0; j < m; ++j) {
          to[i * m + j] =
              distance<T>(Row<T>(lhs + i * k, k), Row<T>(rhs + (i / n * m + j) * k, k), p);
        }
      }
    });
  });
  result.finish();
}

template <SizeType Int>
BasicTensorMeta<Int> cdist_backward_rule(const Tensor& grad, const Tensor& x1, const Tensor& x2,
                                         double, const Tensor& cdist) {
  const BasicTensorMeta<Int> forward = distances_rule<Int>(x1, x2);
  for (const Tensor* t : {&grad, &cdist}) {
    SB_CHECK(t->dtype() == x1.dtype(), "_cdist_backward: expected ", to_string(x1.dtype()),
             ", got ", t->describe());
    SB_CHECK(equal_sizes<Int>(sizes_of<Int>(*t), SizesRef<Int>(forward.sizes)),
             "_cdist_backward: expected the shape ", shape_text(SizesRef<Int>(forward.sizes)),
             ", got ", t->describe());
  }
  // As PyTorch: where there is nothing to compute, zeros like x1.
  if (same_size(numel_of<Int>(grad), Int(0)) || same_size(cols_of<Int>(x1), Int(0)))
    return {size_vector<Int>(x1), x1.dtype(), strides_like<Int>(x1)};
  return {with_last<Int>(batch_of<Int>(x1, x2), rows_of<Int>(x1), cols_of<Int>(x1)), x1.dtype()};
}
void cdist_backward_kernel(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                           const Tensor& cdist, const Tensor& out) {
  if (out.numel() == 0) return;
  if (grad.numel() == 0) {
    zero_(out);
    return;
  }
  const DimVector batch = batch_of(x1, x2);
  const Tensor a = spread(x1, batch);
  const Tensor b = spread(x2, batch);
  const Tensor distances = contiguous(cdist);
  const Tensor gradients = contiguous(grad);
  const DenseOut result(out);
  const int64_t n = x1.size(-2);
  const int64_t m = x2.size(-2);
  const int64_t k = x1.size(-1);
  visit_floating(out.dtype(), [&]<class T>() {
    const T* const lhs = a.data<T>();
    const T* const rhs = b.data<T>();
    const T* const d = distances.data<T>();
    const T* const g = gradients.data<T>();
    T* const to = result.data<T>();
    parallel_for(0, out.numel() / k, grain_of(m * k), [&](int64_t from, int64_t end) {
      for (int64_t i = from; i < end; ++i) {
        MutableRow<T> row(to + i * k, k);
        row.setZero();
        for (int64_t j = 0; j < m; ++j) {
          add_gradient<T>(Row<T>(lhs + i * k, k), Row<T>(rhs + (i / n * m + j) * k, k), p,
                          d[i * m + j], g[i * m + j], row);
        }
      }
    });
  });
  result.finish();
}

int64_t pairs_of(int64_t n) { return n < 2 ? 0 : checked_mul(n, n - 1) / 2; }
SymInt pairs_of(const SymInt& n) { return n * (n - 1) / 2; }  // of 0 and 1, too

template <SizeType Int>
BasicTensorMeta<Int> pdist_rule(const Tensor& self, double) {
  check_floating("pdist", self);
  SB_CHECK(self.dim() == 2, "pdist: expected a matrix, got ", self.describe());
  SB_CHECK(self.is_contiguous(), "pdist: expected a contiguous tensor, got ", self.describe());
  return {{pairs_of(sizes_of<Int>(self)[0])}, self.dtype()};
}
// The distances stand in the order of the pairs (0, 1), (0, 2) ... (1, 2) ... Calls f(j, place) for
// each pair (i, j) of i < j, place being where its distance stands.
template <class F>
void for_pairs_of(int64_t i, int64_t n, const F& f) {
  int64_t place = i * (2 * n - i - 1) / 2;  // behind the n - 1, n - 2, ... pairs of the rows before
  for (int64_t j = i + 1; j < n; ++j) f(j, place++);
}
void pdist_kernel(const Tensor& self, double p, const Tensor& out) {
  if (out.numel() == 0) return;
  const Tensor x = contiguous(self);
  const DenseOut result(out);
  const int64_t n = self.size(0);
  const int64_t k = self.size(1);
  visit_floating(out.dtype(), [&]<class T>() {
    const T* const rows = x.data<T>();
    T* const to = result.data<T>();
    parallel_for(0, n, grain_of(n * k / 2), [&](int64_t from, int64_t end) {
      for (int64_t i = from; i < end; ++i) {
        for_pairs_of(i, n, [&](int64_t j, int64_t place) {
          to[place] = distance<T>(Row<T>(rows + i * k, k), Row<T>(rows + j * k, k), p);
        });
      }
    });
  });
  result.finish();
}

template <SizeType Int>
BasicTensorMeta<Int> pdist_backward_rule(const Tensor& grad, const Tensor& self, double p,
                                         const Tensor& pdist) {
  const BasicTensorMeta<Int> forward = pdist_rule<Int>(self, p);
  SB_CHECK(pdist.is_contiguous(), "_pdist_backward: expected a contiguous tensor, got ",
           pdist.describe());
  const auto check = [&](const Tensor& t, const auto& truth) {
    SB_CHECK(truth, "_pdist_backward: expected ", shape_text(SizesRef<Int>(forward.sizes)), " of ",
             to_string(self.dtype()), ", got ", t.describe());
  };
  for (const Tensor* t : {&grad, &pdist}) {
    check(*t, t->dtype() == self.dtype());
    check(*t, equal_sizes<Int>(sizes_of<Int>(*t), SizesRef<Int>(forward.sizes)));
  }
  return {size_vector<Int>(self), self.dtype()};
}
void pdist_backward_kernel(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist,
                           const Tensor& out) {
  if (out.numel() == 0) return;
  const Tensor x = contiguous(self);
  const Tensor distances = contiguous(pdist);
  const Tensor gradients = contiguous(grad);
  const DenseOut result(out);
  const int64_t n = self.size(0);
  const int64_t k = self.size(1);
  visit_floating(out.dtype(), [&]<class T>() {
    const T* const rows = x.data<T>();
    const T* const d = distances.data<T>();
    const T* const g = gradients.data<T>();
    T* const to = result.data<T>();
    std::fill_n(to, n * k, T(0));
    for (int64_t i = 0; i < n; ++i) {
      const Row<T> a(rows + i * k, k);
      for_pairs_of(i, n, [&](int64_t j, int64_t place) {
        const Row<T> b(rows + j * k, k);
        add_gradient<T>(a, b, p, d[place], g[place], MutableRow<T>(to + i * k, k));
        add_gradient<T>(b, a, p, d[place], g[place], MutableRow<T>(to + j * k, k));
      });
    }
  });
  result.finish();
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, _cdist_forward)
      .structured<by_size_rule<cdist_rule<int64_t>, cdist_rule<SymInt>>, cdist_kernel>()
      .out("out");
  define(m, _cdist_backward)
      .structured<by_size_rule<cdist_backward_rule<int64_t>, cdist_backward_rule<SymInt>>,
                  cdist_backward_kernel>()
      .out("out");
  define(m, _pdist_forward)
      .structured<by_size_rule<pdist_rule<int64_t>, pdist_rule<SymInt>>, pdist_kernel>()
      .out("out");
  define(m, _pdist_backward)
      .structured<by_size_rule<pdist_backward_rule<int64_t>, pdist_backward_rule<SymInt>>,
                  pdist_backward_kernel>()
      .out("out");
  define(m, cdist).composed(
      [](const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
        return _cdist_forward(x1, x2, p, compute_mode);
      });
  define(m, pdist).composed([](const Tensor& self, double p) {
    check_defined("pdist", self);
    SB_CHECK(p >= 0, "pdist: p: expected a number that is not negative, got ", p);
    return _pdist_forward(contiguous(self), p);
  });
}

}  // namespace sb
