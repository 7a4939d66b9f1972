#include "switchboard/ops/indexing/diagonal.h"

#include <algorithm>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copied_out.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/factories.h"
#include "switchboard/ops/fill.h"
#include "switchboard/ops/reductions.h"
#include "switchboard/ops/views.h"

namespace sb {
namespace {

// The length of a diagonal, which may be below 0 where it misses the matrix, and where it begins.
struct Diagonal {
  int64_t length, row, col;
};
Diagonal find_diagonal(int64_t rows, int64_t cols, int64_t offset) {
  if (offset >= 0) return {std::min(rows, cols - offset), 0, offset};
  // The lowest number has no opposite.
  offset = std::max(offset, -INT64_MAX);
  return {std::min(rows + offset, cols), -offset, 0};
}

Tensor diagonal_view(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t first = wrap_dim("diagonal", dim1, self.dim());
  const int64_t second = wrap_dim("diagonal", dim2, self.dim());
  SB_CHECK(first != second, "diagonal: expected two dimensions, got ", dim1, " and ", dim2);
  const int64_t row_stride = self.stride(first), col_stride = self.stride(second);
  const Diagonal d = find_diagonal(self.size(first), self.size(second), offset);
  int64_t at = self.storage_offset();
  if (d.length > 0) {
    at = checked_add(at,
                     checked_add(checked_mul(d.row, row_stride), checked_mul(d.col, col_stride)));
  }
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector strides(self.strides().begin(), self.strides().end());
  for (int64_t dim : {std::max(first, second), std::min(first, second)}) {
    sizes.erase(sizes.begin() + dim);
    strides.erase(strides.begin() + dim);
  }
  sizes.push_back(std::max<int64_t>(d.length, 0));
  strides.push_back(checked_add(row_stride, col_stride));
  return alias_with_unchecked(self, sizes, strides, at);
}
Tensor diagonal_kernel(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  check_defined("diagonal", self);
  return diagonal_view(self, offset, dim1, dim2);
}
Tensor linalg_diagonal_kernel(const Tensor& a, int64_t offset, int64_t dim1, int64_t dim2) {
  return diagonal(a, offset, dim1, dim2);
}

Tensor diagonal_scatter_kernel(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1,
                               int64_t dim2) {
  check_defined("diagonal_scatter", self);
  check_defined("diagonal_scatter", src);
  const Tensor result = clone(self);
  const Tensor part = diagonal(result, offset, dim1, dim2);
  SB_CHECK(part.sizes() == src.sizes(), "diagonal_scatter: src: expected the shape of the view, ",
           shape_text(part.sizes()), ", got ", src.describe());
  copy_(part, src);
  return result;
}

Tensor diagonal_backward_kernel(const Tensor& grad, SymIntArrayRef sizes, int64_t offset,
                                int64_t dim1, int64_t dim2) {
  check_defined("diagonal_backward", grad);
  const Tensor result = new_zeros(grad, sizes);
  copy_(diagonal(result, offset, dim1, dim2), grad);
  return result;
}

Tensor diag_embed_kernel(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  check_defined("diag_embed", self);
  const int64_t rank = self.dim() + 1;
  const int64_t first = wrap_dim("diag_embed", dim1, rank);
  const int64_t second = wrap_dim("diag_embed", dim2, rank);
  SB_CHECK(first != second, "diag_embed: expected two dimensions, got ", dim1, " and ", dim2);
  SB_CHECK(offset != INT64_MIN, "diag_embed: offset: ", offset, " is too far away");
  const int64_t length = checked_add(self.size(-1), std::abs(offset));
  DimVector sizes(self.sizes().begin(), self.sizes().end() - 1);
  sizes.insert(sizes.begin() + std::min(first, second), length);
  sizes.insert(sizes.begin() + std::max(first, second), length);
  const Tensor result = new_zeros(self, sizes);
  copy_(diagonal(result, offset, first, second), self);
  return result;
}

TensorMeta diag_rule(const Tensor& self, int64_t offset) {
  SB_CHECK(self.dim() == 1 || self.dim() == 2, "diag: expected a vector or a matrix, got ",
           self.describe());
  SB_CHECK(self.dtype() != DType::Float16, "diag: not implemented for ", self.describe());
  if (self.dim() == 2) {
    const Diagonal d = find_diagonal(self.size(0), self.size(1), offset);
    SB_CHECK(d.length >= 0, "diag: diagonal ", offset, " is not in ", self.describe());
    return {{d.length}, self.dtype()};
  }
  SB_CHECK(offset != INT64_MIN, "diag: diagonal: ", offset, " is too far away");
  const int64_t size = checked_add(self.numel(), std::abs(offset));
  return {{size, size}, self.dtype()};
}
void diag_kernel(const Tensor& self, int64_t offset, const Tensor& out) {
  if (self.dim() == 2) {
    copy_elements(out, diagonal_view(self, offset, 0, 1));
    return;
  }
  const Tensor zero = empty_on(Device(DeviceType::CPU), {}, DType::Bool);
  *zero.data<bool>() = false;
  copy_elements(out, zero);
  copy_elements(diagonal_view(out, offset, 0, 1), self);
}

Tensor diagflat_kernel(const Tensor& self, int64_t offset) {
  check_defined("diagflat", self);
  return diag(reshape(contiguous(self), {-1}), offset);
}

TensorMeta trace_rule(const Tensor& self) {
  SB_CHECK(self.dim() == 2, "trace: expected a matrix, got ", self.describe());
  const DType t = self.dtype();
  SB_CHECK(t != DType::Bool && t != DType::Float16 && t != DType::BFloat16,
           "trace: not implemented for ", self.describe());
  return {{}, is_integral(t) ? DType::Int64 : t};
}
void trace_kernel(const Tensor& self, const Tensor& out) {
  copy_elements(out, sum_all(diagonal_view(self, 0, 0, 1), out.dtype()));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  m.define(diagonal);
  m.impl(diagonal, DispatchKey::CompositeExplicitAutograd, diagonal_kernel);
  m.define(linalg_diagonal);
  m.impl(linalg_diagonal, DispatchKey::CompositeImplicitAutograd, linalg_diagonal_kernel);
  // A backend that has no mutation of its own must not find these, which mutate what they make.
  const auto all = DispatchKey::CompositeExplicitAutogradNonFunctional;
  m.define(diagonal_scatter);
  m.impl(diagonal_scatter, all, diagonal_scatter_kernel);
  define_out_by_copy<diagonal_scatter>(m);
  m.define(diagonal_backward);
  m.impl(diagonal_backward, all, diagonal_backward_kernel);
  define_out_by_copy<diagonal_backward>(m);
  m.define(diag_embed);
  m.impl(diag_embed, all, diag_embed_kernel);
  define_out_by_copy<diag_embed>(m);
  define_structured<diag_rule, diag_kernel>(m, diag);
  m.define(diagflat);
  m.impl(diagflat, DispatchKey::CompositeImplicitAutograd, diagflat_kernel);
  define_with_copied_out<trace, trace_rule, trace_kernel>(m);
}

}  // namespace sb
