#include "switchboard/ops/indexing/diagonal.h"

#include <algorithm>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/keep_strides.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// The length of a diagonal, which may be below 0 where it misses the matrix, and where it begins.
template <SizeType Int>
struct Diagonal {
  Int length;
  int64_t row, col;
};
template <SizeType Int>
Diagonal<Int> find_diagonal(const Int& rows, const Int& cols, int64_t offset) {
  if (offset >= 0) return {sym_min(rows, Int(cols - offset)), 0, offset};
  // The lowest number has no opposite.
  offset = std::max(offset, -INT64_MAX);
  return {sym_min(Int(rows + offset), cols), -offset, 0};
}

template <SizeType Int>
Tensor diagonal_view(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t first = wrap_dim("diagonal", dim1, self.dim());
  const int64_t second = wrap_dim("diagonal", dim2, self.dim());
  SB_CHECK(first != second, "diagonal: expected two dimensions, got ", dim1, " and ", dim2);
  const auto along = [](SizesRef<Int> list, int64_t d) { return list[static_cast<size_t>(d)]; };
  const Int row_stride = along(strides_of<Int>(self), first);
  const Int col_stride = along(strides_of<Int>(self), second);
  const Diagonal<Int> d = find_diagonal<Int>(along(sizes_of<Int>(self), first),
                                             along(sizes_of<Int>(self), second), offset);
  Int at = storage_offset_of<Int>(self);
  // The first element is where it is, if there is one. That sizes from data leave one is assumed.
  if (offset != 0 && !asked_or_false(d.length <= 0)) {
    at = sum_of(at, sum_of(product_of(Int(d.row), row_stride), product_of(Int(d.col), col_stride)));
  }
  SizeVector<Int> sizes = size_vector<Int>(self);
  SizeVector<Int> strides(strides_of<Int>(self).begin(), strides_of<Int>(self).end());
  for (int64_t dim : {std::max(first, second), std::min(first, second)}) {
    sizes.erase(sizes.begin() + dim);
    strides.erase(strides.begin() + dim);
  }
  sizes.push_back(sym_max(d.length, Int(0)));
  strides.push_back(sum_of(row_stride, col_stride));
  return alias_of_shape(self, sizes, strides, at);
}
Tensor diagonal_view(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  return by_size(any_symbolic(self),
                 [&]<class Int>() { return diagonal_view<Int>(self, offset, dim1, dim2); });
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
  const Tensor result = clone_keeping_strides(self);
  const Tensor part = diagonal(result, offset, dim1, dim2);
  by_size(any_symbolic(part, src), [&]<class Int>() {
    SB_CHECK(equal_sizes<Int>(sizes_of<Int>(part), sizes_of<Int>(src)),
             "diagonal_scatter: src: expected the shape of the view, ",
             shape_text(sizes_of<Int>(part)), ", got ", src.describe());
  });
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
  const SymInt length = self.sym_size(-1) + std::abs(offset);
  SymDimVector sizes(self.sym_sizes().begin(), self.sym_sizes().end() - 1);
  sizes.insert(sizes.begin() + std::min(first, second), length);
  sizes.insert(sizes.begin() + std::max(first, second), length);
  const Tensor result = new_zeros(self, SymIntArrayRef(sizes));
  copy_(diagonal(result, offset, first, second), self);
  return result;
}

template <SizeType Int>
BasicTensorMeta<Int> diag_rule(const Tensor& self, int64_t offset) {
  SB_CHECK(self.dim() == 1 || self.dim() == 2, "diag: expected a vector or a matrix, got ",
           self.describe());
  if (self.dim() == 2) {
    const Diagonal<Int> d =
        find_diagonal<Int>(sizes_of<Int>(self)[0], sizes_of<Int>(self)[1], offset);
    return {{sym_max(d.length, Int(0))}, self.dtype()};
  }
  SB_CHECK(offset != INT64_MIN, "diag: diagonal: ", offset, " is too far away");
  const Int size = sum_of(numel_of<Int>(self), Int(std::abs(offset)));
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

template <SizeType Int>
BasicTensorMeta<Int> trace_rule(const Tensor& self) {
  SB_CHECK(self.dim() == 2, "trace: expected a matrix, got ", self.describe());
  const DType t = self.dtype();
  SB_CHECK_NOT_IMPLEMENTED(t != DType::Bool, "trace: not implemented for ", self.describe());
  return {{}, is_integral(t) ? DType::Int64 : t};
}
void trace_kernel(const Tensor& self, const Tensor& out) {
  copy_elements(out, sum_all(diagonal_view(self, 0, 0, 1), out.dtype()));
}

Tensor fill_diagonal_kernel(const Tensor& self, const Scalar& value, bool wrap) {
  check_defined("fill_diagonal_", self);
  SB_CHECK(self.dim() >= 2, "fill_diagonal_: expected 2 dimensions or more, got ", self.describe());
  const IntArrayRef sizes = self.sizes();
  SB_CHECK(self.dim() == 2 || std::equal(sizes.begin() + 1, sizes.end(), sizes.begin()),
           "fill_diagonal_: expected a matrix or equal sizes, got ", self.describe());
  const int64_t length = *std::min_element(sizes.begin(), sizes.end());
  int64_t step = 0;
  for (const int64_t stride : self.strides()) step = checked_add(step, stride);
  fill_(as_strided(self, {length}, {step}, self.storage_offset()), value);
  if (wrap && self.dim() == 2 && sizes[0] > sizes[1] + 1 && sizes[1] > 0) {
    // Each time round the diagonal skips a row.
    const int64_t round = sizes[1] + 1;
    const int64_t rest = (self.numel() + round - 1) / round - length;
    const int64_t start = checked_add(self.storage_offset(), checked_mul(self.strides()[0], round));
    fill_(as_strided(self, {rest}, {step}, start), value);
  }
  return self;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, fill_diagonal_).composed(fill_diagonal_kernel);
  define(m, diagonal).view(diagonal_kernel);
  define(m, linalg_diagonal).composed(linalg_diagonal_kernel);
  // A backend that has no mutation of its own must not find these, which mutate what they make.
  const auto all = DispatchKey::CompositeExplicitAutogradNonFunctional;
  define(m, diagonal_scatter).kernel(all, diagonal_scatter_kernel).out(diagonal_scatter_out);
  define(m, diagonal_backward).kernel(all, diagonal_backward_kernel).out(diagonal_backward_out);
  define(m, diag_embed).kernel(all, diag_embed_kernel).out(diag_embed_out);
  define(m, diag)
      .structured<by_size_rule<diag_rule<int64_t>, diag_rule<SymInt>>, diag_kernel>()
      .out(diag_out);
  define(m, diagflat).composed(diagflat_kernel);
  define(m, matrix_trace)
      .structured<by_size_rule<trace_rule<int64_t>, trace_rule<SymInt>>, trace_kernel>()
      .out(matrix_trace_out, kCopiedOut);
}

}  // namespace sb
