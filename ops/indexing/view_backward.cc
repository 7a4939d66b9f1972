#include "switchboard/ops/indexing/view_backward.h"

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/index_along.h"
#include "switchboard/ops/indexing/scatter.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

template <SizeType Int>
Tensor unfolded(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const int64_t d = wrap_dim("unfold", dimension, self.dim());
  const size_t along = static_cast<size_t>(d);
  const bool number = self.dim() == 0;
  SizeVector<Int> sizes = size_vector<Int>(self);
  SizeVector<Int> strides(strides_of<Int>(self).begin(), strides_of<Int>(self).end());
  const Int length = number ? Int(1) : sizes[along], stride = number ? Int(1) : strides[along];
  SB_CHECK(size >= 0, "unfold: size ", size, " does not fit dimension ", d, " of ",
           self.describe());
  SB_CHECK(length >= size, "unfold: size ", size, " does not fit dimension ", d, " of ",
           self.describe());
  SB_CHECK(step > 0, "unfold: step ", step, " is not positive");
  if (!number) {
    sizes[along] = (length - size) / step + 1;
    strides[along] = product_of(stride, Int(step));
  }
  sizes.push_back(size);
  strides.push_back(stride);
  return alias_of_shape(self, sizes, strides, storage_offset_of<Int>(self));
}
Tensor unfold_kernel(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  check_defined("unfold", self);
  return by_size(any_symbolic(self),
                 [&]<class Int>() { return unfolded<Int>(self, dimension, size, step); });
}

Tensor unfold_backward_kernel(const Tensor& grad, SymIntArrayRef sizes, int64_t dim, int64_t size,
                              int64_t step) {
  check_defined("unfold_backward", grad);
  wrap_dim("unfold_backward", dim, static_cast<int64_t>(sizes.size()));
  const Tensor result = new_zeros(grad, sizes);
  const Tensor windows = unfold(result, dim, size, step);
  by_size(any_symbolic(windows, grad), [&]<class Int>() {
    SB_CHECK(equal_sizes<Int>(sizes_of<Int>(windows), sizes_of<Int>(grad)),
             "unfold_backward: grad: expected the shape of the windows, ",
             shape_text(sizes_of<Int>(windows)), ", got ", grad.describe());
  });
  // Windows overlap, but not their elements at one place.
  for (int64_t i = 0; i < size; ++i) add_(select(windows, -1, i), select(grad, -1, i));
  return result;
}

Tensor select_backward_kernel(const Tensor& grad, SymIntArrayRef sizes, int64_t dim,
                              const SymInt& index) {
  check_defined("select_backward", grad);
  const Tensor result = new_zeros(grad, sizes);
  copy_(select(result, dim, index), grad);
  return result;
}
Tensor slice_backward_kernel(const Tensor& grad, SymIntArrayRef sizes, int64_t dim,
                             const SymInt& start, const SymInt& end, const SymInt& step) {
  check_defined("slice_backward", grad);
  const Tensor result = new_zeros(grad, sizes);
  copy_(slice(result, dim, start, end, step), grad);
  return result;
}

Tensor index_select_backward_kernel(const Tensor& grad, SymIntArrayRef sizes, int64_t dim,
                                    const Tensor& index) {
  check_defined("index_select_backward", grad);
  return index_add_(new_zeros(grad, sizes), dim, index, grad);
}
Tensor value_selecting_backward_kernel(const Tensor& grad, int64_t dim, const Tensor& indices,
                                       SymIntArrayRef sizes, bool keepdim) {
  check_defined("value_selecting_reduction_backward", grad);
  check_defined("value_selecting_reduction_backward", indices);
  const bool kept = keepdim || sizes.empty();
  return scatter_(new_zeros(grad, sizes), dim, kept ? indices : unsqueeze(indices, dim),
                  kept ? grad : unsqueeze(grad, dim));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, unfold).view(unfold_kernel);
  define(m, unfold_backward).composite_explicit(unfold_backward_kernel).out(unfold_backward_out);
  // A backend that has no mutation of its own must not find these, which mutate what they make.
  const auto all = DispatchKey::CompositeExplicitAutogradNonFunctional;
  define(m, select_backward).kernel(all, select_backward_kernel).out(select_backward_out);
  define(m, slice_backward).kernel(all, slice_backward_kernel).out(slice_backward_out);
  define(m, index_select_backward).composed(index_select_backward_kernel);
  define(m, value_selecting_reduction_backward).composed(value_selecting_backward_kernel);
}

}  // namespace sb
