// Inputs and outputs as the loops of norm_kernels.h want them: contiguous, in float or double.

#ifndef SWITCHBOARD_OPS_NORMALIZATION_COMPUTE_TENSORS_H_
#define SWITCHBOARD_OPS_NORMALIZATION_COMPUTE_TENSORS_H_

#include <optional>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/tensor.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/normalization/norm_kernels.h"
#include "switchboard/ops/tensor_iterator.h"

namespace sb::internal {

// t itself where it is contiguous in the format and of `dtype`, else a copy that is.
inline Tensor as_compute(const Tensor& t, DType dtype,
                         MemoryFormat format = MemoryFormat::Contiguous) {
  if (t.dtype() == dtype && t.is_contiguous(format)) return t;
  const Tensor copy = empty_on(t.device(), t.sizes(), dtype, format);
  copy_elements(copy, t);
  return copy;
}
inline std::optional<Tensor> as_compute(const std::optional<Tensor>& t, DType dtype) {
  if (!t || !t->defined()) return std::nullopt;
  return as_compute(*t, dtype);
}

// An output that a loop can write to: `out`, or a tensor of its own that finish() copies to it.
class ComputeOutput {
 public:
  ComputeOutput(const Tensor& out, DType dtype, MemoryFormat format = MemoryFormat::Contiguous)
      : out_(out),
        target_(out.dtype() == dtype && out.is_contiguous(format)
                    ? out
                    : empty_on(out.device(), out.sizes(), dtype, format)) {}
  const Tensor& target() const { return target_; }
  void finish() const {
    if (!target_.is_same(out_)) copy_elements(out_, target_);
  }

 private:
  const Tensor& out_;
  Tensor target_;
};

template <class T>
T* data_or_null(const std::optional<Tensor>& t) {
  return t && t->numel() != 0 ? t->data<T>() : nullptr;
}
template <class T>
T* data_or_null(const Tensor& t) {
  return t.defined() && t.numel() != 0 ? t.data<T>() : nullptr;
}

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
