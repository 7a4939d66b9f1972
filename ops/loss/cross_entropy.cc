// nll_loss and cross_entropy_loss: composed of others, with the derivatives of these.

#include <limits>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/loss/nll.h"
#include "switchboard/ops/normalization/softmax.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using OptionalTensor = std::optional<Tensor>;

Tensor nll_loss_kernel(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                       int64_t reduction, const SymInt& ignore_index) {
  return std::get<0>(nll_loss_forward(self, target, weight, reduction, ignore_index));
}
Tensor nll_loss2d_kernel(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                         int64_t reduction, const SymInt& ignore_index) {
  return std::get<0>(nll_loss2d_forward(self, target, weight, reduction, ignore_index));
}
Tensor nll_loss_out_kernel(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                           int64_t reduction, const SymInt& ignore_index, const Tensor& out) {
  nll_loss_forward_out(self, target, weight, reduction, ignore_index, out, new_empty(self, {0}));
  return out;
}
Tensor nll_loss2d_out_kernel(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                             int64_t reduction, const SymInt& ignore_index, const Tensor& out) {
  nll_loss2d_forward_out(self, target, weight, reduction, ignore_index, out, new_empty(self, {0}));
  return out;
}

Tensor nll_loss_nd_kernel(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                          int64_t reduction, const SymInt& ignore_index) {
  SB_CHECK_VALUE(self.dim() >= 1, "nll_loss_nd: self: expected a dimension, got ", self.describe());
  if (self.dim() != 1) {
    SB_CHECK_VALUE(target.dim() != 0, "nll_loss_nd: batch sizes of ", self.describe(), " and ",
                   target.describe(), " differ");
    SB_CHECK_VALUE(self.sym_size(0) == target.sym_size(0), "nll_loss_nd: batch sizes of ",
                   self.describe(), " and ", target.describe(), " differ");
  }
  if (self.dim() <= 2) return nll_loss(self, target, weight, reduction, ignore_index);
  if (self.dim() == 4) return nll_loss2d(self, target, weight, reduction, ignore_index);
  // As an image of one row.
  const SymInt n = self.sym_size(0);
  SymDimVector sizes = size_vector<SymInt>(self);
  sizes.erase(sizes.begin() + 1);
  SB_CHECK(equal_sizes<SymInt>(target.sym_sizes(), sizes), "nll_loss_nd: target: expected shape ",
           shape_text(SymIntArrayRef(sizes)), ", got ", target.describe());
  const bool empty = same_size(self.sym_numel(), SymInt(0));
  const SymInt area = empty ? SymInt(0) : sym_product(target.sym_sizes().subspan(1));
  const SymInt rows = empty ? 0 : 1;
  const Tensor loss =
      nll_loss2d(view(contiguous(self), {n, self.sym_size(1), rows, area}),
                 view(contiguous(target), {n, rows, area}), weight, reduction, ignore_index);
  return reduction == kReduceNone ? view(loss, SymIntArrayRef(sizes)) : loss;
}

// The classes' weights in a shape that broadcasts with `t`.
Tensor weight_along(const Tensor& weight, const Tensor& t, int64_t class_dim) {
  SymDimVector sizes(static_cast<size_t>(t.dim()), 1);
  sizes[static_cast<size_t>(class_dim)] = weight.sym_size(0);
  return view(weight, SymIntArrayRef(sizes));
}
void check_reduction(int64_t reduction) {
  SB_CHECK(reduction >= kReduceNone && reduction <= kReduceSum,
           "cross_entropy_loss: reduction: expected 0 (none), 1 (mean) or 2 (sum), got ",
           reduction);
}

Tensor with_probabilities(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                          int64_t reduction, double label_smoothing) {
  const int64_t class_dim = self.dim() == 1 ? 0 : 1;
  const SymInt classes = self.sym_size(class_dim);
  if (is_given(weight)) {
    SB_CHECK(weight->dim() == 1, "cross_entropy_loss: weight: expected one dimension, got ",
             weight->describe());
    SB_CHECK(weight->sym_numel() == classes,
             "cross_entropy_loss: weight: expected one for each of ", size_text(classes),
             " classes, got ", weight->describe());
  }
  check_reduction(reduction);
  const Tensor input = log_softmax(self, class_dim, self.dtype());
  Tensor wanted = target;
  if (label_smoothing > 0) {
    wanted = add_Scalar(mul_Scalar(target, 1 - label_smoothing),
                        SymFloat(label_smoothing) / sym_float(classes));
  }
  Tensor loss = mul(input, wanted);
  if (is_given(weight)) loss = mul(loss, weight_along(*weight, input, class_dim));
  if (reduction == kReduceNone) return neg(sum(loss, {class_dim}));
  const Tensor total = neg(sum(loss));
  if (reduction == kReduceSum) return total;
  if (same_size(input.sym_numel(), SymInt(0)))
    return fill_(total, std::numeric_limits<double>::quiet_NaN());
  return div_Scalar(total, input.sym_numel() / classes);
}

Tensor with_smoothed_labels(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                            int64_t reduction, const SymInt& ignore_index, double label_smoothing) {
  SB_CHECK(label_smoothing <= 1, "cross_entropy_loss: label_smoothing: expected 0 to 1, got ",
           label_smoothing);
  const int64_t class_dim = self.dim() == 1 ? 0 : 1;
  const Tensor input = log_softmax(self, class_dim, self.dtype());
  const Tensor nll = nll_loss_nd(input, target, weight, reduction, ignore_index);
  check_reduction(reduction);
  Tensor smooth = input;
  if (is_given(weight)) smooth = mul(input, weight_along(*weight, input, class_dim));
  smooth = neg(sum(smooth, {class_dim}));
  const Tensor ignored = eq_Scalar(target, Scalar(ignore_index));
  smooth = masked_fill(smooth, ignored, 0.0);
  if (reduction == kReduceSum) smooth = sum(smooth);
  if (reduction == kReduceMean) {
    Tensor divisor;
    if (is_given(weight)) {
      // As nll_loss: the weights of the classes that count.
      const Tensor classes = flatten(masked_fill(target, ignored, 0));
      const Tensor weights = gather(*weight, 0, classes);
      divisor = sum(masked_fill(weights, flatten(ignored), 0.0));
    } else {
      divisor = sum(logical_not(ignored));
    }
    smooth = div(sum(smooth), divisor);
  }
  const Scalar share = SymFloat(label_smoothing) / sym_float(input.sym_size(class_dim));
  return add(mul_Scalar(nll, 1 - label_smoothing), mul_Scalar(smooth, share));
}

Tensor cross_entropy_kernel(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                            int64_t reduction, const SymInt& ignore_index, double label_smoothing) {
  bool same_shape = self.dim() == target.dim();
  for (int64_t d = 0; same_shape && d < self.dim(); ++d)
    same_shape = same_size(self.sym_size(d), target.sym_size(d));
  if (same_shape) {
    SB_CHECK(is_floating_point(target.dtype()),
             "cross_entropy_loss: target: expected floating-point probabilities, got ",
             target.describe());
    SB_CHECK(ignore_index < 0, "cross_entropy_loss: ignore_index: probabilities have none, got ",
             size_text(ignore_index));
    return with_probabilities(self, target, weight, reduction, label_smoothing);
  }
  if (label_smoothing > 0) {
    return with_smoothed_labels(self, target, weight, reduction, ignore_index, label_smoothing);
  }
  const int64_t class_dim = self.dim() == 1 ? 0 : 1;
  return nll_loss_nd(log_softmax(self, class_dim, self.dtype()), target, weight, reduction,
                     ignore_index);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, nll_loss).composed(nll_loss_kernel).out(nll_loss_out, nll_loss_out_kernel);
  define(m, nll_loss2d).composed(nll_loss2d_kernel).out(nll_loss2d_out, nll_loss2d_out_kernel);
  define(m, nll_loss_nd).composed(nll_loss_nd_kernel);
  define(m, cross_entropy_loss).composed(cross_entropy_kernel);
}

}  // namespace sb
