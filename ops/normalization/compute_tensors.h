// Inputs and outputs as the loops of norm_kernels.h want them: contiguous, in float or double.

#ifndef SWITCHBOARD_OPS_NORMALIZATION_COMPUTE_TENSORS_H_
#define SWITCHBOARD_OPS_NORMALIZATION_COMPUTE_TENSORS_H_

#include <optional>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/normalization/norm_kernels.h"
#include "switchboard/ops/shape/optional_tensor.h"

namespace sb::internal {

// An input that a loop can read: the tensor itself, or a copy of it. Counts no reference of its own
// to what the caller holds anyway: for small tensors that takes as long as the loop.
class ComputeInput {
 public:
  ComputeInput(const Tensor& t, DType dtype, MemoryFormat format = MemoryFormat::Contiguous) {
    take(t, dtype, format);
  }
  // Of one that may not be given.
  ComputeInput(const std::optional<Tensor>& t, DType dtype) {
    if (is_given(t)) take(*t, dtype, MemoryFormat::Contiguous);
  }
  ComputeInput(const ComputeInput&) = delete;
  ComputeInput& operator=(const ComputeInput&) = delete;

  const Tensor& tensor() const { return *tensor_; }
  // nullptr where there is no element.
  template <class T>
  const T* data() const {
    return tensor_ && tensor_->numel() != 0 ? tensor_->data<T>() : nullptr;
  }

 private:
  void take(const Tensor& t, DType dtype, MemoryFormat format) {
    tensor_ = &t;
    if (t.dtype() == dtype && t.is_contiguous(format)) return;
    copy_ = empty_on(t.device(), t.sizes(), dtype, format);
    copy_elements(copy_, t);
    tensor_ = &copy_;
  }

  const Tensor* tensor_ = nullptr;
  Tensor copy_;
};

// An output that a loop can write to: `out`, or a tensor of its own that finish() copies to it.
class ComputeOutput {
 public:
  ComputeOutput(const Tensor& out, DType dtype, MemoryFormat format = MemoryFormat::Contiguous)
      : out_(out) {
    if (out.dtype() == dtype && out.is_contiguous(format)) return;
    target_ = empty_on(out.device(), out.sizes(), dtype, format);
  }
  // nullptr where there is no element.
  template <class T>
  T* data() const {
    const Tensor& target = target_.defined() ? target_ : out_;
    return target.numel() != 0 ? target.data<T>() : nullptr;
  }
  void finish() const {
    if (target_.defined()) copy_elements(out_, target_);
  }

 private:
  const Tensor& out_;
  Tensor target_;
};

// Calls f.operator()<T>() with float or double, whichever elements of `dtype` are computed in.
template <class F>
void visit_compute(DType dtype, const F& f) {
  if (dtype == DType::Float64) {
    f.template operator()<double>();
  } else {
    f.template operator()<float>();
  }
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_NORMALIZATION_COMPUTE_TENSORS_H_
