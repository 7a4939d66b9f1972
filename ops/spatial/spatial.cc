#include "switchboard/ops/spatial/spatial.h"

#include <algorithm>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/outputs/output_plan.h"
#include "switchboard/ops/shape/resize.h"

namespace sb::spatial {

int64_t volume(const Size3& s) { return s[0] * s[1] * s[2]; }

Size3 list_argument(std::string_view op, const char* name, IntArrayRef list, int dims) {
  SB_CHECK(list.size() == 1 || list.size() == static_cast<size_t>(dims), op, ": ", name,
           ": expected 1 or ", dims, " elements, got ", shape_text(list));
  Size3 result = {list[0], list[0], list[0]};
  if (list.size() > 1) std::copy(list.begin(), list.end(), result.end() - dims);
  return result;
}

Size3 list_argument(std::string_view op, const char* name, IntArrayRef list, int dims,
                    const Size3& if_empty) {
  return list.empty() ? if_empty : list_argument(op, name, list, dims);
}

int64_t one_int(std::string_view op, const char* name, IntArrayRef list) {
  SB_CHECK(list.size() == 1, op, ": ", name, ": expected 1 element, got ", shape_text(list));
  return list[0];
}

void check_rank_1d(std::string_view op, const Tensor& self) {
  SB_CHECK(self.dim() == 2 || self.dim() == 3, op, ": expected 2 or 3 dimensions, got ",
           self.describe());
}

DimVector guarded(SymIntArrayRef list) {
  DimVector result;
  for (const SymInt& s : list) result.push_back(s.guard_int());
  return result;
}

DType computed_in(std::string_view op, DType dtype) {
  SB_CHECK_NOT_IMPLEMENTED(dtype != DType::Bool, op, ": not implemented for ", to_string(dtype));
  if (dtype == DType::Float16 || dtype == DType::BFloat16) return DType::Float32;
  return is_integral(dtype) ? DType::Int64 : dtype;
}

DType computed_in_real(std::string_view op, DType dtype) {
  SB_CHECK_NOT_IMPLEMENTED(!is_complex(dtype), op, ": not implemented for ", to_string(dtype));
  return computed_in(op, dtype);
}

DType computed_in_float(std::string_view op, DType dtype) {
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(dtype), op, ": not implemented for ",
                           to_string(dtype));
  return computed_in(op, dtype);
}

Tensor dense_input(const Tensor& t, DType dtype) {
  return t.dtype() == dtype && t.is_contiguous() ? t : cast_copy(t, dtype);
}

DenseOutput::DenseOutput(const Tensor& out, DType dtype)
    : out_(out),
      dense_(out.dtype() == dtype && out.is_contiguous()
                 ? out
                 : empty_on(Device{DeviceType::CPU}, out.sizes(), dtype)) {}

void DenseOutput::finish() const {
  if (!dense_.is_same(out_)) copy_elements(out_, dense_, false);
}

void give_restrided(std::string_view op, const Tensor& result, const Tensor& out) {
  SB_CHECK(out.defined() && out.dtype() == result.dtype() && out.device() == result.device(), op,
           ": out: expected ", to_string(result.dtype()), " on ", sb::to_string(result.device()),
           ", got ", out.defined() ? out.describe() : "an undefined tensor");
  if (any_symbolic(result, out)) {
    if (result.dim() > 3)
      set_symbolic_sizes(out, result.sym_sizes(), result.sym_strides());
    else
      resize_symbolic_output(out, result.sym_sizes());
    return;
  }
  // Fewer dimensions have no memory format to be given: out keeps its strides where it fits.
  if (result.dim() > 3 || out.sizes() != result.sizes()) {
    resize_tensor(out, result.sizes(), result.strides());
  }
  if (out.is_cpu() && out.numel() != 0) copy_elements(out, result, false);
}

int64_t grain_for(int64_t cost) {
  return std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, cost));
}

}  // namespace sb::spatial
