// prelu and its gradients, composed of other operators.

#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/activation_gradients.h"
#include "switchboard/ops/elementwise/activations.h"
#include "switchboard/ops/elementwise/regular.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {

SB_ELEMENTWISE(_prelu_kernel_arithmetic, "_prelu_kernel", kBinaryFlags,
               element_loops<2>([](auto x, auto weight) { return x > 0 ? x : weight * x; },
                                FloatTypes()));

namespace {

// weight, so that it broadcasts to self.
Tensor weight_for(const char* op, const Tensor& self, const Tensor& weight) {
  check_defined(op, self);
  check_defined(op, weight);
  SB_CHECK(weight.dim() <= 1, op, ": argument weight: expected one number or one dimension, got ",
           weight.dim(), " dimensions");
  const SymInt count = weight.sym_numel();
  const bool one_number = same_size(count, 1);
  SB_CHECK(one_number || self.dim() > 0, op,
           ": argument self: expected dimensions, got a 0-dim tensor");
  const SymInt channels = self.dim() > 1 ? self.sym_size(1) : SymInt(1);
  SB_CHECK(one_number ? SymBool(true) : channels == count, op, ": argument weight: expected ",
           channels.to_string(), " numbers, one for each channel, got ", count.to_string());
  SB_CHECK(self.dtype() == weight.dtype(), op, ": argument weight: expected ",
           to_string(self.dtype()), ", got ", to_string(weight.dtype()));
  // Last, as in PyTorch: what is of the wrong shape is refused for that.
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(self.dtype()), op, ": not implemented for ",
                           to_string(self.dtype()));
  // One dimension has one channel.
  if (one_number || self.dim() < 2) return view(weight, {});
  SymDimVector shape(static_cast<size_t>(self.dim()), SymInt(1));
  shape[1] = channels;
  return view(weight, SymIntArrayRef(shape));
}

Tensor is_positive(const Tensor& self) { return gt_Scalar(self, 0); }

Tensor prelu_of(const Tensor& self, const Tensor& weight) {
  const Tensor w = weight_for("prelu", self, weight);
  const Tensor result = where(is_positive(self), self, mul(self, w));
  // As a tensor like self, which nothing but dimensions of size 1 or 0 can make another.
  if (self.is_symbolic() || result.strides() == IntArrayRef(empty_like_strides(self)))
    return result;
  return copy_(empty_like(self), result);
}

std::tuple<Tensor, Tensor> prelu_gradients(const Tensor& grad_output, const Tensor& self,
                                           const Tensor& weight) {
  check_defined("prelu_backward", grad_output);
  check_defined("prelu_backward", self);
  SB_CHECK(grad_output.dtype() == self.dtype(), "prelu_backward: argument grad_output: expected ",
           to_string(self.dtype()), ", got ", grad_output.describe());
  const Tensor w = weight_for("prelu_backward", self, weight);
  by_size(any_symbolic(grad_output, self), [&]<class Int>() {
    SB_CHECK(equal_sizes<Int>(sizes_of<Int>(grad_output), sizes_of<Int>(self)),
             "prelu_backward: argument grad_output: expected shape ",
             shape_text(sizes_of<Int>(self)), ", got ", grad_output.describe());
  });
  const Tensor positive = is_positive(self);
  const Tensor to_self =
      contiguous(where(positive, grad_output, mul(grad_output, w)), suggest_memory_format(self));
  const Tensor parts = where_ScalarSelf(positive, 0, mul(self, grad_output));
  if (w.dim() == 0) return {to_self, view(sum_all(parts), weight.sym_sizes())};
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != 1) dims.push_back(d);
  }
  return {to_self, sum_dim(parts, dims)};
}

void check_kernel_dtypes(const char* op, const Tensor& self, const Tensor& other) {
  check_defined(op, self);
  check_defined(op, other);
  SB_CHECK(self.dtype() == other.dtype(), op, ": expected tensors of one dtype, got ",
           self.describe(), " and ", other.describe());
}
Tensor kernel_of(const Tensor& self, const Tensor& weight) {
  check_kernel_dtypes("_prelu_kernel", self, weight);
  const Tensor like_self = self.is_symbolic() ? Tensor() : empty_like(self);
  return elementwise(_prelu_kernel_arithmetic, like_self, self, weight);
}
std::tuple<Tensor, Tensor> kernel_gradients(const Tensor& grad_output, const Tensor& self,
                                            const Tensor& weight) {
  constexpr const char* op = "_prelu_kernel_backward";
  check_kernel_dtypes(op, self, grad_output);
  check_kernel_dtypes(op, self, weight);
  const Tensor positive = is_positive(self);
  return {where(positive, grad_output, mul(weight, grad_output)),
          where_ScalarSelf(positive, 0, mul(self, grad_output))};
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, _prelu_kernel, Tag::pointwise).cpu_and_meta(kernel_of);
  define(m, _prelu_kernel_backward, Tag::derived_through).composite_explicit(kernel_gradients);
  define(m, prelu).composite_explicit(prelu_of).out(prelu_out);
  define(m, prelu_backward, Tag::derived_through).composite_explicit(prelu_gradients).out("out");
}

}  // namespace
}  // namespace sb
