// What the normalisations ask of their inputs and give for shapes.

#ifndef SWITCHBOARD_OPS_NORMALIZATION_PARAMETERS_H_
#define SWITCHBOARD_OPS_NORMALIZATION_PARAMETERS_H_

#include <optional>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/tensor.h"
#include "switchboard/ops/outputs/output_plan.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb::internal {

// RuntimeError where a weight, bias or statistic is given and has another shape or dtype. Without
// sizes, any shape will do.
template <SizeType Int>
void check_parameter_of(const char* op, const char* name, const std::optional<Tensor>& t,
                        std::optional<SizesRef<Int>> sizes, DType dtype) {
  if (!is_given(t)) return;
  SB_CHECK(t->dtype() == dtype, op, ": ", name, ": expected ", to_string(dtype), ", got ",
           t->describe());
  if (!sizes) return;
  SB_CHECK(equal_sizes<Int>(sizes_of<Int>(*t), *sizes), op, ": ", name, ": expected shape ",
           shape_text(*sizes), ", got ", t->describe());
}
inline void check_parameter(const char* op, const char* name, const std::optional<Tensor>& t,
                            std::optional<IntArrayRef> sizes, DType dtype) {
  check_parameter_of<int64_t>(op, name, t, sizes, dtype);
}

// A tensor as the input is, contiguous in the memory format that the input suggests.
template <SizeType Int>
BasicTensorMeta<Int> meta_in_format(const Tensor& input) {
  return {size_vector<Int>(input), input.dtype(),
          strides_in_format<Int>(sizes_of<Int>(input), suggest_memory_format(input))};
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_NORMALIZATION_PARAMETERS_H_
