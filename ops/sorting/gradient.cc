#include "switchboard/ops/sorting/gradient.h"

#include <optional>
#include <vector>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/sorting/cumulative.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Scalars = absl::Span<const Scalar>;
using Tensors = std::vector<Tensor>;

void check_gradient(const Tensor& self, IntArrayRef dims, size_t spacings, int64_t edge_order) {
  SB_CHECK(self.dtype() != DType::UInt8, "gradient: self: not implemented for uint8");
  SB_CHECK(edge_order == 1 || edge_order == 2, "gradient: edge_order: expected 1 or 2, got ",
           edge_order);
  dim_set("gradient", dims, self.dim());  // none twice
  SB_CHECK(spacings == dims.size(), "gradient: spacing: expected as many as dimensions, ",
           dims.size(), ", got ", spacings);
  for (int64_t d : dims) {
    SB_CHECK(self.sym_size(d) > edge_order, "gradient: self: expected at least ", edge_order + 1,
             " elements in dimension ", d, ", got ", self.describe());
  }
}

// The values along one dimension, counted from both ends.
class Values {
 public:
  Values(const Tensor& self, int64_t dim) : self_(self), dim_(dim), size_(self.sym_size(dim)) {}

  // All but `skipped` at the beginning and `left` at the end.
  Tensor without(int64_t skipped, int64_t left) const {
    return slice(self_, dim_, skipped, size_ - left);
  }
  Tensor first(int64_t i) const { return slice(self_, dim_, i, i + 1); }
  Tensor last(int64_t i) const { return slice(self_, dim_, size_ - 1 - i, size_ - i); }

 private:
  const Tensor& self_;
  const int64_t dim_;
  const SymInt size_;
};

// At even distances. The factors that are integers leave integers what they are, as PyTorch's.
Tensor even_gradient(const Tensor& self, const Scalar& spacing, int64_t dim, int64_t edge_order) {
  const Values y(self, dim);
  const Tensor inner = (y.without(2, 0) - y.without(0, 2)) / spacing / Scalar(2);
  Tensor first, last;
  if (edge_order == 1) {
    first = (y.first(1) - y.first(0)) / spacing;
    last = (y.last(0) - y.last(1)) / spacing;
  } else {
    first =
        (y.first(0) * Scalar(-3.0) + y.first(1) * Scalar(4) - y.first(2)) / Scalar(2.0) / spacing;
    last = (y.last(0) * Scalar(3.0) - y.last(1) * Scalar(4) + y.last(2)) / Scalar(2.0) / spacing;
  }
  return cat({first, inner, last}, dim);
}

// At these coordinates: the derivatives of the parabolas through three points, of which the
// distances are d and e.
Tensor uneven_gradient(const Tensor& self, const Tensor& points, int64_t dim, int64_t edge_order) {
  SB_CHECK(points.defined() && points.dim() == 1,
           "gradient: spacing: expected coordinates of 1 dimension, got ", points.describe());
  SB_CHECK(points.device() == self.device(),
           "gradient: spacing: expected the device of self = ", self.describe(), ", got ",
           points.describe());
  const Values y(self, dim);
  const Tensor steps = diff(points);
  const Tensor d = slice(steps, 0, 0, -1), e = slice(steps, 0, 1);
  std::vector<SymInt> shape(static_cast<size_t>(self.dim()), 1);
  shape[static_cast<size_t>(dim)] = -1;
  const auto along = [&](const Tensor& factors) { return reshape(factors, shape); };
  const Tensor inner = along(-e / (d * (d + e))) * y.without(0, 2) +
                       along((e - d) / (d * e)) * y.without(1, 1) +
                       along(d / (e * (d + e))) * y.without(2, 0);
  Tensor first, last;
  if (edge_order == 1) {
    first = (y.first(1) - y.first(0)) / select(steps, 0, 0);
    last = (y.last(0) - y.last(1)) / select(steps, 0, -1);
  } else {
    const Tensor d0 = select(d, 0, 0), e0 = select(e, 0, 0);
    first = -(Scalar(2) * d0 + e0) / (d0 * (d0 + e0)) * y.first(0) +
            (d0 + e0) / (d0 * e0) * y.first(1) - d0 / (e0 * (d0 + e0)) * y.first(2);
    const Tensor d1 = select(d, 0, -1), e1 = select(e, 0, -1);
    last = e1 / (d1 * (d1 + e1)) * y.last(2) - (d1 + e1) / (d1 * e1) * y.last(1) +
           (Scalar(2) * e1 + d1) / (e1 * (d1 + e1)) * y.last(0);
  }
  return cat({first, inner, last}, dim);
}

template <class Spacing>
Tensors gradients(const Tensor& self, absl::Span<const Spacing> spacing, IntArrayRef dims,
                  int64_t edge_order) {
  check_defined("gradient", self);
  check_gradient(self, dims, spacing.size(), edge_order);
  Tensors result;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = wrap_dim("gradient", dims[i], self.dim());
    if constexpr (std::is_same_v<Spacing, Scalar>) {
      result.push_back(even_gradient(self, spacing[i], dim, edge_order));
    } else {
      result.push_back(uneven_gradient(self, spacing[i], dim, edge_order));
    }
  }
  return result;
}

// The dimension, or all.
DimVector dims_of(const Tensor& self, std::optional<int64_t> dim) {
  check_defined("gradient", self);
  if (dim) return {*dim};
  DimVector all;
  for (int64_t d = 0; d < self.dim(); ++d) all.push_back(d);
  return all;
}

Tensors equal_gradients(const Tensor& self, const Scalar& spacing, IntArrayRef dims,
                        int64_t edge_order) {
  return gradients<Scalar>(self, std::vector<Scalar>(dims.size(), spacing), dims, edge_order);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, gradient_scalarint)
      .composed([](const Tensor& self, const std::optional<Scalar>& spacing,
                   std::optional<int64_t> dim, int64_t edge_order) {
        return equal_gradients(self, spacing.value_or(1.0), dims_of(self, dim), edge_order);
      });
  define(m, gradient_scalararray).composed(equal_gradients);
  define(m, gradient_array).composed([](const Tensor& self, IntArrayRef dims, int64_t edge_order) {
    return equal_gradients(self, 1.0, dims, edge_order);
  });
  define(m, gradient_scalarrayint)
      .composed(
          [](const Tensor& self, Scalars spacing, std::optional<int64_t> dim, int64_t edge_order) {
            return gradients<Scalar>(self, spacing, dims_of(self, dim), edge_order);
          });
  define(m, gradient_scalarrayarray).composed(gradients<Scalar>);
  define(m, gradient_tensorarrayint)
      .composed([](const Tensor& self, TensorList spacing, std::optional<int64_t> dim,
                   int64_t edge_order) {
        return gradients<Tensor>(self, spacing, dims_of(self, dim), edge_order);
      });
  define(m, gradient_tensorarray).composed(gradients<Tensor>);
}

}  // namespace sb
