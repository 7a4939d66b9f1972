#include "switchboard/ops/loss/nll.h"

#include <cstring>
#include <vector>

#include "switchboard/core/dtype_types.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

using OptionalTensor = std::optional<Tensor>;

// What both directions and both ranks demand of dtypes, once the shapes fit.
void check_dtypes(const char* op, const Tensor& self, const Tensor& target,
                  const OptionalTensor& weight) {
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(self.dtype()), op, ": not implemented for ",
                           to_string(self.dtype()));
  const bool bytes = target.dtype() == DType::UInt8 && self.dim() != 4;  // not with images
  SB_CHECK(target.dtype() == DType::Int64 || bytes, op, ": target: expected int64, got ",
           target.describe());
  if (is_given(weight)) check_dtype(op, "weight", *weight, self.dtype());
}

template <SizeType Int>
Int size_at(const Tensor& t, size_t d) {
  return sizes_of<Int>(t)[d];
}

template <SizeType Int>
void check_vectors(const char* op, const Tensor& self, const Tensor& target) {
  SB_CHECK(self.dim() == 1 || self.dim() == 2, op, ": self: expected 1 or 2 dimensions, got ",
           self.describe());
  SB_CHECK(target.dim() <= 1, op, ": target: expected at most one dimension, got ",
           target.describe());
  if (self.dim() == 1 && target.dim() == 0) return;
  SB_CHECK_INDEX(target.dim() != 0, op, ": target: expected one dimension, got ",
                 target.describe());
  SB_CHECK(size_at<Int>(self, 0) == size_at<Int>(target, 0), op, ": sizes of ", self.describe(),
           " and ", target.describe(), " do not fit");
}
template <SizeType Int>
void check_images(const char* op, const Tensor& self, const Tensor& target) {
  SB_CHECK(target.dim() == 3, op, ": target: expected 3 dimensions, got ", target.describe());
  SB_CHECK(self.dim() == 4, op, ": self: expected 4 dimensions, got ", self.describe());
  for (const size_t d : {0, 2, 3}) {
    SB_CHECK(size_at<Int>(self, d) == size_at<Int>(target, d == 0 ? 0 : d - 1), op, ": sizes of ",
             self.describe(), " and ", target.describe(), " do not fit");
  }
}
template <SizeType Int>
Int count_classes(const Tensor& self) {
  return self.dim() == 4 ? size_at<Int>(self, 1) : sizes_of<Int>(self).back();
}
template <SizeType Int>
void check_weight_count(const char* op, const Tensor& self, const OptionalTensor& weight) {
  if (!is_given(weight)) return;
  SB_CHECK(numel_of<Int>(*weight) == count_classes<Int>(self), op,
           ": weight: expected one for each of ", size_text(count_classes<Int>(self)),
           " classes, got ", weight->describe());
}

// Whether there is a result for each target.
bool keeps_targets(const Tensor& self, int64_t reduction) {
  return reduction == kReduceNone && self.dim() != 1;
}

// self as [batch, classes, height, width], and target as [batch, height, width], whatever their
// ranks: a walk that all kernels share.
class Targets {
 public:
  Targets(const char* op, const Tensor& self, const Tensor& target, const OptionalTensor& weight,
          int64_t ignore_index)
      : classes_(count_classes<int64_t>(self)), ignore_index_(ignore_index) {
    const Tensor wide = cast_copy(target, DType::Int64);
    target_.assign(wide.data<int64_t>(), wide.data<int64_t>() + wide.numel());
    // 1-D self: the first target is that of the only row.
    if (self.dim() == 1) target_.resize(1);
    for (int64_t t : target_) {
      SB_CHECK_INDEX(t == ignore_index || (t >= 0 && t < classes_), op, ": target ", t,
                     " is out of bounds for ", classes_, " classes");
    }
    if (is_given(weight)) {
      const Tensor numbers = cast_copy(*weight, DType::Float64);
      weight_.assign(numbers.data<double>(), numbers.data<double>() + classes_);
    }
    area_ = self.dim() == 4 ? self.size(2) * self.size(3) : 1;
    width_ = self.dim() == 4 ? self.size(3) : 1;
  }

  int64_t size() const { return static_cast<int64_t>(target_.size()); }
  bool ignored(int64_t i) const { return target_[static_cast<size_t>(i)] == ignore_index_; }
  double weight(int64_t i) const {
    return weight_.empty() ? 1.0 : weight_[static_cast<size_t>(target_[static_cast<size_t>(i)])];
  }
  // The offset of target i's class in a tensor of self's shape, in elements.
  int64_t offset(const Tensor& t, int64_t i) const {
    const int64_t c = target_[static_cast<size_t>(i)];
    if (t.dim() == 1) return c * t.stride(0);
    if (t.dim() == 2) return i * t.stride(0) + c * t.stride(1);
    const int64_t at = i % area_;
    return i / area_ * t.stride(0) + c * t.stride(1) + at / width_ * t.stride(2) +
           at % width_ * t.stride(3);
  }
  // The offset of target i in a tensor of the target's shape.
  int64_t plain_offset(const Tensor& t, int64_t i) const {
    if (t.dim() == 0) return 0;
    if (t.dim() == 1) return i * t.stride(0);
    const int64_t at = i % area_;
    return i / area_ * t.stride(0) + at / width_ * t.stride(1) + at % width_ * t.stride(2);
  }

 private:
  std::vector<int64_t> target_;
  std::vector<double> weight_;
  int64_t classes_;
  int64_t ignore_index_;
  int64_t area_;
  int64_t width_;
};

template <class F>
void visit_loss_dtype(DType dtype, F f) {
  if (dtype == DType::Float64) return f.template operator()<double>();
  if (dtype == DType::BFloat16) return f.template operator()<BFloat16>();
  if (dtype == DType::Float16) return f.template operator()<Half>();
  f.template operator()<float>();
}

template <bool images>
struct Nll {
  static constexpr const char* op = images ? "nll_loss2d" : "nll_loss";

  template <SizeType Int>
  static void check_shapes(const Tensor& self, const Tensor& target) {
    images ? check_images<Int>(op, self, target) : check_vectors<Int>(op, self, target);
  }

  template <SizeType Int>
  static std::array<BasicTensorMeta<Int>, 2> forward_rule(const Tensor& self, const Tensor& target,
                                                          const OptionalTensor& weight,
                                                          int64_t reduction, const SymInt&) {
    check_shapes<Int>(self, target);
    check_weight_count<Int>(op, self, weight);
    SB_CHECK(images || !is_given(weight) || weight->dim() == 1, op,
             ": weight: expected one dimension, got ", weight->describe());
    check_dtypes(op, self, target, weight);
    BasicTensorMeta<Int> output{{}, self.dtype()};
    if (keeps_targets(self, reduction)) output.sizes = size_vector<Int>(target);
    return {output, BasicTensorMeta<Int>{{}, self.dtype()}};
  }
  static void forward(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                      int64_t reduction, const SymInt& ignore_index, const Tensor& output,
                      const Tensor& total_weight) {
    const Targets targets(op, self, target, weight, ignore_index.expect_int());
    visit_loss_dtype(self.dtype(), [&]<class T>() {
      const T* const from = self.numel() == 0 ? nullptr : self.data<T>();
      const auto loss_of = [&](int64_t i) {
        const double value = static_cast<double>(from[targets.offset(self, i)]);
        return -value * targets.weight(i);
      };
      if (keeps_targets(self, reduction)) {
        T* const to = output.numel() == 0 ? nullptr : output.data<T>();
        for (int64_t i = 0; i < targets.size(); ++i) {
          to[targets.plain_offset(output, i)] =
              static_cast<T>(targets.ignored(i) ? 0.0 : loss_of(i));
        }
        *total_weight.data<T>() = T(0);
        return;
      }
      double loss = 0;
      double total = 0;
      for (int64_t i = 0; i < targets.size(); ++i) {
        if (targets.ignored(i)) continue;
        loss += loss_of(i);
        total += targets.weight(i);
      }
      *output.data<T>() = static_cast<T>(reduction == kReduceMean ? loss / total : loss);
      *total_weight.data<T>() = static_cast<T>(total);
    });
  }

  template <SizeType Int>
  static BasicTensorMeta<Int> backward_rule(const Tensor& grad, const Tensor& self,
                                            const Tensor& target, const OptionalTensor& weight,
                                            int64_t reduction, const SymInt&,
                                            const Tensor& total_weight) {
    check_shapes<Int>(self, target);
    SB_CHECK(numel_of<Int>(total_weight) == 1, op, ": total_weight: expected one element, got ",
             total_weight.describe());
    check_weight_count<Int>(op, self, weight);
    if (keeps_targets(self, reduction)) {
      SB_CHECK_INDEX(images || grad.dim() != 0, op, ": grad_output: expected a dimension, got ",
                     grad.describe());
      SB_CHECK(equal_sizes<Int>(sizes_of<Int>(grad), sizes_of<Int>(target)), op,
               ": grad_output: expected the shape of ", target.describe(), ", got ",
               grad.describe());
    } else {
      SB_CHECK(grad.dim() <= 1, op, ": grad_output: expected one element, got ", grad.describe());
      SB_CHECK(numel_of<Int>(grad) == 1, op, ": grad_output: expected one element, got ",
               grad.describe());
    }
    check_dtypes(op, self, target, weight);
    check_dtype(op, "grad_output", grad, self.dtype());
    check_dtype(op, "total_weight", total_weight, self.dtype());
    BasicTensorMeta<Int> meta{size_vector<Int>(self), self.dtype()};
    // As a tensor like self, whose dimensions of one element may have any stride.
    if constexpr (images && std::is_same_v<Int, int64_t>) {
      if (self.is_contiguous()) meta.strides = empty_like_strides(self);
    }
    return meta;
  }
  static void backward(const Tensor& grad, const Tensor& self, const Tensor& target,
                       const OptionalTensor& weight, int64_t reduction, const SymInt& ignore_index,
                       const Tensor& total_weight, const Tensor& grad_input) {
    const Targets targets(op, self, target, weight, ignore_index.expect_int());
    if (self.numel() == 0) return;
    visit_loss_dtype(self.dtype(), [&]<class T>() {
      T* const to = grad_input.data<T>();
      const T zero = T(0);
      copy_elements(grad_input, from_number(self.dtype(), &zero));
      const T* const from = grad.data<T>();
      const double total = static_cast<double>(*total_weight.data<T>());
      for (int64_t i = 0; i < targets.size(); ++i) {
        if (targets.ignored(i)) continue;
        const bool each = keeps_targets(self, reduction);
        double g = static_cast<double>(from[each ? targets.plain_offset(grad, i) : 0]);
        if (reduction == kReduceMean) g /= total;
        to[targets.offset(grad_input, i)] = static_cast<T>(-g * targets.weight(i));
      }
    });
  }

 private:
  static Tensor from_number(DType dtype, const void* number) {
    const Tensor t = empty_on(DeviceType::CPU, {}, dtype);
    std::memcpy(t.data_ptr(), number, t.itemsize());
    return t;
  }
};

template <bool images>
void define_nll(Library& m, const auto& forward, const auto& backward) {
  using N = Nll<images>;
  define(m, forward)
      .template structured<
          by_size_rule<N::template forward_rule<int64_t>, N::template forward_rule<SymInt>>,
          N::forward>()
      .out();
  define(m, backward)
      .template structured<
          by_size_rule<N::template backward_rule<int64_t>, N::template backward_rule<SymInt>>,
          N::backward>()
      .out();
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_nll<false>(m, nll_loss_forward, nll_loss_backward);
  define_nll<true>(m, nll_loss2d_forward, nll_loss2d_backward);
}

}  // namespace sb
