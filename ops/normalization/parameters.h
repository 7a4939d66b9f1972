// What the normalisations ask of their inputs and give for shapes.

#ifndef SWITCHBOARD_OPS_NORMALIZATION_PARAMETERS_H_
#define SWITCHBOARD_OPS_NORMALIZATION_PARAMETERS_H_

#include <optional>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/tensor.h"
#include "switchboard/ops/dims.h"
#include "switchboard/ops/memory_format.h"
#include "switchboard/ops/optional_tensor.h"
#include "switchboard/ops/structured.h"

namespace sb::internal {

// RuntimeError where a weight, bias or statistic is given and has another shape or dtype. Without
// sizes, any shape will do.
inline void check_parameter(const char* op, const char* name, const std::optional<Tensor>& t,
                            std::optional<IntArrayRef> sizes, DType dtype) {
  if (!is_given(t)) return;
  SB_CHECK(t->dtype() == dtype, op, ": ", name, ": expected ", to_string(dtype), ", got ",
           t->describe());
  SB_CHECK(!sizes || t->sizes() == *sizes, op, ": ", name, ": expected shape ",
           sizes ? shape_text(*sizes) : "", ", got ", t->describe());
}

// A tensor as the input is, contiguous in the memory format that the input suggests.
inline TensorMeta meta_in_format(const Tensor& input) {
  TensorMeta meta{{input.sizes().begin(), input.sizes().end()}, input.dtype()};
  const MemoryFormat format = suggest_memory_format(input);
  if (format != MemoryFormat::Contiguous) {
    const Tensor shape = empty_on(DeviceType::Meta, input.sizes(), input.dtype(), format);
    meta.strides.assign(shape.strides().begin(), shape.strides().end());
  }
  return meta;
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_NORMALIZATION_PARAMETERS_H_
