#include "switchboard/ops/loss/margin.h"

#include <algorithm>
#include <vector>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

using OptionalTensor = std::optional<Tensor>;

// self as rows of classes; one element is a row of one class.
template <SizeType Int>
Int rows_of(const Tensor& self) {
  return self.dim() == 2 ? sizes_of<Int>(self)[0] : Int(1);
}
template <SizeType Int>
Int classes_of(const Tensor& self) {
  return self.dim() == 0 ? Int(1) : sizes_of<Int>(self).back();
}

template <SizeType Int>
void check_rows(const char* op, const Tensor& self) {
  const auto check_shape = [&](const auto& fits) {
    SB_CHECK(fits, op, ": self: expected [classes] or [batch, classes], got ", self.describe());
  };
  check_shape(self.dim() <= 2);
  check_shape(classes_of<Int>(self) != 0);
  SB_CHECK_NOT_IMPLEMENTED(self.dtype() == DType::Float32 || self.dtype() == DType::Float64, op,
                           ": not implemented for ", to_string(self.dtype()));
}
int64_t row_count(const Tensor& self) { return rows_of<int64_t>(self); }
int64_t class_count(const Tensor& self) { return classes_of<int64_t>(self); }

// The elements one behind the other.
template <class T>
std::vector<T> elements(const Tensor& t) {
  const Tensor dense = cast_copy(t, dtype_of<T>);
  if (dense.numel() == 0) return {};
  return std::vector<T>(dense.data<T>(), dense.data<T>() + dense.numel());
}
void write(const std::vector<double>& values, const Tensor& to) {
  if (to.numel() == 0) return;
  const Tensor t = empty_on(to.device(), to.sizes(), DType::Float64);
  std::copy(values.begin(), values.end(), t.data<double>());
  copy_elements(to, t);
}
// The loss of each row, or their sum or mean.
void write_reduced(const std::vector<double>& losses, bool each, int64_t reduction,
                   const Tensor& to) {
  if (each) return write(losses, to);
  double total = 0;
  for (double loss : losses) total += loss;
  if (reduction == kReduceMean && !losses.empty()) total /= static_cast<double>(losses.size());
  write({total}, to);
}

constexpr const char* kMulti = "multi_margin_loss";

template <SizeType Int>
BasicTensorMeta<Int> multi_rule(const Tensor& self, const Tensor& target, const Scalar& p,
                                const Scalar& margin, const OptionalTensor& weight,
                                int64_t reduction) {
  check_rows<Int>(kMulti, self);
  margin.to<double>();
  const int64_t power = p.to<int64_t>();
  SB_CHECK(power == 1 || power == 2, kMulti, ": p: expected 1 or 2, got ", p.to_string());
  const auto check_target = [&](const auto& fits) {
    SB_CHECK(fits, kMulti, ": target: expected one class for each row of ", self.describe(),
             ", got ", target.describe());
  };
  check_target(target.dim() <= 1);
  check_target(numel_of<Int>(target) == rows_of<Int>(self));
  check_dtype(kMulti, "target", target, DType::Int64);
  if (is_given(weight)) {
    check_dtype(kMulti, "weight", *weight, self.dtype());
    const Int classes = classes_of<Int>(self);
    SB_CHECK(numel_of<Int>(*weight) >= classes, kMulti, ": weight: expected one for each of ",
             size_text(classes), " classes, got ", weight->describe());
  }
  return {reduction == kReduceNone ? size_vector<Int>(target) : SizeVector<Int>(), self.dtype()};
}

// Calls f(row, class, target, excess, weight) for the classes within the margin.
template <class F>
void for_each_violation(const Tensor& self, const Tensor& target, double margin,
                        const OptionalTensor& weight, F f) {
  const std::vector<double> scores = elements<double>(self);
  const std::vector<int64_t> targets = elements<int64_t>(target);
  const std::vector<double> weights =
      is_given(weight) ? elements<double>(*weight) : std::vector<double>();
  const int64_t classes = class_count(self);
  for (int64_t t : targets) {
    SB_CHECK(t >= 0 && t < classes, kMulti, ": target ", t, " is out of range for ", classes,
             " classes");
  }
  for (int64_t row = 0; row < row_count(self); ++row) {
    const double* const x = scores.data() + row * classes;
    const int64_t t = targets[static_cast<size_t>(row)];
    const double w = weights.empty() ? 1.0 : weights[static_cast<size_t>(t)];
    for (int64_t c = 0; c < classes; ++c) {
      const double excess = margin - x[t] + x[c];
      if (c != t && excess > 0) f(row, c, t, excess, w / static_cast<double>(classes));
    }
  }
}

void multi_kernel(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin,
                  const OptionalTensor& weight, int64_t reduction, const Tensor& out) {
  const bool squared = p.to<int64_t>() == 2;
  std::vector<double> losses(static_cast<size_t>(row_count(self)), 0.0);
  for_each_violation(self, target, margin.to<double>(), weight,
                     [&](int64_t row, int64_t, int64_t, double excess, double w) {
                       losses[static_cast<size_t>(row)] += (squared ? excess * excess : excess) * w;
                     });
  write_reduced(losses, reduction == kReduceNone, reduction, out);
}

// grad_output has an element for each row, or one for all.
template <SizeType Int>
void check_gradient(const char* op, const Tensor& grad, const Tensor& self, int64_t reduction) {
  check_dtype(op, "grad_output", grad, self.dtype());
  const Int count = numel_of<Int>(grad);
  const auto each = count == rows_of<Int>(self), one = count == 1;
  const bool of_each = reduction == kReduceNone;
  SB_CHECK(of_each && !known(one) ? sym_or(each, one) : one, op,
           ": grad_output: expected one element, or one for each row of ", self.describe(),
           ", got ", grad.describe());
}
class RowGradients {
 public:
  RowGradients(const Tensor& grad, const Tensor& self, int64_t reduction)
      : values_(elements<double>(grad)),
        factor_(reduction == kReduceMean ? 1.0 / static_cast<double>(row_count(self)) : 1.0) {}
  double operator()(int64_t row) const {
    return factor_ * values_[values_.size() == 1 ? 0 : static_cast<size_t>(row)];
  }

 private:
  std::vector<double> values_;
  double factor_;
};

template <SizeType Int>
BasicTensorMeta<Int> multi_backward_rule(const Tensor& grad, const Tensor& self,
                                         const Tensor& target, const Scalar& p,
                                         const Scalar& margin, const OptionalTensor& weight,
                                         int64_t reduction) {
  multi_rule<Int>(self, target, p, margin, weight, reduction);
  check_gradient<Int>(kMulti, grad, self, reduction);
  return {size_vector<Int>(self), self.dtype()};
}
void multi_backward_kernel(const Tensor& grad, const Tensor& self, const Tensor& target,
                           const Scalar& p, const Scalar& margin, const OptionalTensor& weight,
                           int64_t reduction, const Tensor& grad_input) {
  const bool squared = p.to<int64_t>() == 2;
  const RowGradients gradient(grad, self, reduction);
  std::vector<double> result(static_cast<size_t>(self.numel()), 0.0);
  for_each_violation(self, target, margin.to<double>(), weight,
                     [&](int64_t row, int64_t c, int64_t t, double excess, double w) {
                       const double g = (squared ? 2 * excess : 1) * w * gradient(row);
                       double* const of_row = result.data() + row * class_count(self);
                       of_row[c] += g;
                       of_row[t] -= g;
                     });
  write(result, grad_input);
}

constexpr const char* kLabels = "multilabel_margin_loss";

template <SizeType Int>
std::array<BasicTensorMeta<Int>, 2> labels_rule(const Tensor& self, const Tensor& target,
                                                int64_t reduction) {
  check_rows<Int>(kLabels, self);
  const auto check_target = [&](const auto& fits) {
    SB_CHECK(fits, kLabels, ": target: expected the shape of ", self.describe(), ", got ",
             target.describe());
  };
  check_target(target.dim() <= self.dim());
  if (self.dim() < 2)
    check_target(numel_of<Int>(target) == numel_of<Int>(self));
  else
    check_target(equal_sizes<Int>(sizes_of<Int>(target), sizes_of<Int>(self)));
  check_dtype(kLabels, "target", target, DType::Int64);
  BasicTensorMeta<Int> output{{}, self.dtype()};
  if (reduction == kReduceNone && self.dim() == 2) output.sizes = {sizes_of<Int>(self)[0]};
  return {{output, BasicTensorMeta<Int>{size_vector<Int>(target), self.dtype()}}};
}

// The right classes of each row, the same one perhaps twice.
std::vector<std::vector<int64_t>> right_classes(const Tensor& self, const Tensor& target) {
  const int64_t classes = class_count(self);
  const std::vector<int64_t> all = elements<int64_t>(target);
  for (int64_t t : all) {
    SB_CHECK(t >= -1 && t < classes, kLabels, ": target ", t, " is out of range for ", classes,
             " classes");
  }
  std::vector<std::vector<int64_t>> rows;
  for (int64_t row = 0; row < row_count(self); ++row) {
    const auto begin = all.begin() + row * classes;
    rows.emplace_back(begin, std::find(begin, begin + classes, -1));
  }
  return rows;
}
// Calls f(row, right, other, excess) for the pairs within the margin.
template <class F>
void for_each_pair(const Tensor& self, const std::vector<double>& is_target,
                   const std::vector<std::vector<int64_t>>& right, F f) {
  const std::vector<double> scores = elements<double>(self);
  const int64_t classes = class_count(self);
  for (int64_t row = 0; row < row_count(self); ++row) {
    const int64_t begin = row * classes;
    for (int64_t r : right[static_cast<size_t>(row)]) {
      for (int64_t c = 0; c < classes; ++c) {
        if (is_target[static_cast<size_t>(begin + c)] != 0) continue;
        const double excess =
            1 - scores[static_cast<size_t>(begin + r)] + scores[static_cast<size_t>(begin + c)];
        if (excess > 0) f(row, r, c, excess);
      }
    }
  }
}

void labels_kernel(const Tensor& self, const Tensor& target, int64_t reduction,
                   const Tensor& output, const Tensor& is_target) {
  const auto right = right_classes(self, target);
  const int64_t classes = class_count(self);
  std::vector<double> marks(static_cast<size_t>(self.numel()), 0.0);
  for (size_t row = 0; row < right.size(); ++row) {
    for (int64_t r : right[row])
      marks[row * static_cast<size_t>(classes) + static_cast<size_t>(r)] = 1;
  }
  std::vector<double> losses(right.size(), 0.0);
  for_each_pair(self, marks, right, [&](int64_t row, int64_t, int64_t, double excess) {
    losses[static_cast<size_t>(row)] += excess / static_cast<double>(classes);
  });
  write(marks, is_target);
  write_reduced(losses, output.dim() != 0, reduction, output);
}

template <SizeType Int>
BasicTensorMeta<Int> labels_backward_rule(const Tensor& grad, const Tensor& self,
                                          const Tensor& target, int64_t reduction,
                                          const Tensor& is_target) {
  labels_rule<Int>(self, target, reduction);
  SB_CHECK(equal_sizes<Int>(sizes_of<Int>(is_target), sizes_of<Int>(target)), kLabels,
           ": is_target: expected the shape of ", target.describe(), ", got ",
           is_target.describe());
  check_dtype(kLabels, "is_target", is_target, self.dtype());
  check_gradient<Int>(kLabels, grad, self, reduction);
  return {size_vector<Int>(self), self.dtype()};
}
void labels_backward_kernel(const Tensor& grad, const Tensor& self, const Tensor& target,
                            int64_t reduction, const Tensor& is_target, const Tensor& grad_input) {
  const auto right = right_classes(self, target);
  const int64_t classes = class_count(self);
  const RowGradients gradient(grad, self, reduction);
  std::vector<double> result(static_cast<size_t>(self.numel()), 0.0);
  for_each_pair(self, elements<double>(is_target), right,
                [&](int64_t row, int64_t r, int64_t c, double) {
                  const double g = gradient(row) / static_cast<double>(classes);
                  double* const of_row = result.data() + row * classes;
                  of_row[r] -= g;
                  of_row[c] += g;
                });
  write(result, grad_input);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, multi_margin_loss)
      .structured<by_size_rule<multi_rule<int64_t>, multi_rule<SymInt>>, multi_kernel>()
      .out(multi_margin_loss_out);
  define(m, multi_margin_loss_backward)
      .structured<by_size_rule<multi_backward_rule<int64_t>, multi_backward_rule<SymInt>>,
                  multi_backward_kernel>()
      .out(multi_margin_loss_backward_out);
  define(m, multilabel_margin_loss_forward)
      .structured<by_size_rule<labels_rule<int64_t>, labels_rule<SymInt>>, labels_kernel>()
      .out(multilabel_margin_loss_forward_out);
  define(m, multilabel_margin_loss_backward)
      .structured<by_size_rule<labels_backward_rule<int64_t>, labels_backward_rule<SymInt>>,
                  labels_backward_kernel>()
      .out(multilabel_margin_loss_backward_out);
  define(m, multilabel_margin_loss)
      .composed([](const Tensor& self, const Tensor& target, int64_t reduction) {
        return std::get<0>(multilabel_margin_loss_forward(self, target, reduction));
      })
      .out(multilabel_margin_loss_out,
           [](const Tensor& self, const Tensor& target, int64_t reduction, const Tensor& out) {
             multilabel_margin_loss_forward_out(self, target, reduction, out, new_empty(self, {0}));
             return out;
           });
}

}  // namespace sb
