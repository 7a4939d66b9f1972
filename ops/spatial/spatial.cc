#include "switchboard/ops/spatial/spatial.h"

#include <algorithm>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/memory_format.h"
#include "switchboard/ops/parallel.h"
#include "switchboard/ops/resize.h"

namespace sb::spatial {

Size3 space_of(IntArrayRef sizes, int dims) {
  Size3 result = {1, 1, 1};
  std::copy_n(sizes.end() - dims, dims, result.end() - dims);
  return result;
}

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

void check_batched_or_not(std::string_view op, const Tensor& self, int dims) {
  SB_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, op, ": expected ", dims + 1, " or ",
           dims + 2, " dimensions, got ", self.describe());
  for (int64_t d = self.dim() == dims + 2; d < self.dim(); ++d) {
    SB_CHECK(self.size(d) != 0, op, ": expected no empty dimension besides the batch, got ",
             self.describe());
  }
}

void check_sizes(std::string_view op, const char* name, const Tensor& t, IntArrayRef expected) {
  SB_CHECK(t.sizes() == expected, op, ": ", name, ": expected shape ", shape_text(expected),
           ", got ", t.describe());
}

void check_dtype(std::string_view op, const char* name, const Tensor& t, DType expected) {
  SB_CHECK(t.dtype() == expected, op, ": ", name, ": expected ", to_string(expected), ", got ",
           t.describe());
}

DimVector with_space(IntArrayRef like, const Size3& space, int dims) {
  DimVector sizes(like.begin(), like.end() - dims);
  sizes.insert(sizes.end(), space.end() - dims, space.end());
  return sizes;
}

TensorMeta laid_out_like(const Tensor& like, IntArrayRef sizes, DType dtype) {
  const MemoryFormat format = suggest_memory_format(like);
  TensorMeta meta{{sizes.begin(), sizes.end()}, dtype};
  if (format != MemoryFormat::Contiguous) {
    const Tensor shape = empty_on(Device{DeviceType::Meta}, meta.sizes, DType::UInt8, format);
    meta.strides.assign(shape.strides().begin(), shape.strides().end());
  }
  return meta;
}

TensorMeta pool_laid_out_like(int dims, const Tensor& like, IntArrayRef sizes, DType dtype) {
  if (dims == 2) return laid_out_like(like, sizes, dtype);
  return {{sizes.begin(), sizes.end()}, dtype};
}

DType computed_in(std::string_view op, DType dtype) {
  SB_CHECK(dtype != DType::Bool, op, ": not implemented for ", to_string(dtype));
  if (dtype == DType::Float16 || dtype == DType::BFloat16) return DType::Float32;
  return is_integral(dtype) ? DType::Int64 : dtype;
}

DType computed_in_real(std::string_view op, DType dtype) {
  SB_CHECK(!is_complex(dtype), op, ": not implemented for ", to_string(dtype));
  return computed_in(op, dtype);
}

DType computed_in_float(std::string_view op, DType dtype) {
  SB_CHECK(is_floating_point(dtype), op, ": not implemented for ", to_string(dtype));
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

namespace detail {

void check_restridable(std::string_view op, const Tensor& out, const TensorMeta& meta,
                       Device device) {
  SB_CHECK(out.dtype() == meta.dtype && out.device() == device, op, ": out: expected ",
           to_string(meta.dtype), " on ", sb::to_string(device), ", got ", out.describe());
}

void take_over(const Tensor& out, const Tensor& result) {
  // Fewer dimensions have no memory format to be given: out keeps its strides where it fits.
  if (result.dim() > 3 || out.sizes() != result.sizes()) {
    resize_tensor(out, result.sizes(), result.strides());
  }
  if (out.is_cpu() && out.numel() != 0) copy_elements(out, result, false);
}

}  // namespace detail

int64_t grain_for(int64_t cost) {
  return std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, cost));
}

}  // namespace sb::spatial
