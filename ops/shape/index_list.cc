#include "switchboard/ops/shape/index_list.h"

#include <algorithm>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/shape/optional_tensor.h"

namespace sb {
namespace {

Tensor column(const Tensor& places, int64_t d) {
  if (places.is_symbolic()) {
    return alias_with_symbols(places, {places.sym_size(0)}, {places.sym_stride(0)},
                              places.sym_stride(1) * d);
  }
  return alias_with_unchecked(places, {places.sizes()[0]}, {places.strides()[0]},
                              d * places.strides()[1]);
}

}  // namespace

void check_index_list(const char* op, const Tensor& self, OptionalTensorList indices) {
  SB_CHECK_INDEX(indices.size() <= static_cast<size_t>(self.dim()), op,
                 ": too many indices for self, ", self.describe(), ": ", indices.size());
  for (const auto& index : indices) {
    if (!is_given(index)) continue;
    const bool places = index->dtype() == DType::Int64 || index->dtype() == DType::Int32;
    SB_CHECK_INDEX(places || is_mask(*index), op,
                   ": indices: expected int64, int32, bool or uint8 tensors, got ",
                   index->describe());
  }
  int64_t dim = 0;
  for (const auto& index : indices) {
    if (!is_given(index) || !is_mask(*index)) {
      ++dim;
      continue;
    }
    for (int64_t d = 0; d < index->dim(); ++d) {
      SB_CHECK_INDEX(dim < self.dim() && index->sym_size(d) == self.sym_size(dim), op,
                     ": the mask ", index->describe(), " does not fit self, ", self.describe(),
                     ", at dimension ", dim);
      ++dim;
    }
  }
  SB_CHECK_INDEX(dim <= self.dim(), op, ": too many indices for self, ", self.describe());
}

bool has_mask(OptionalTensorList indices) {
  return std::ranges::any_of(indices, [](const auto& i) { return is_given(i) && is_mask(*i); });
}

std::vector<std::optional<Tensor>> expand_masks(
    OptionalTensorList indices, absl::FunctionRef<Tensor(const Tensor& mask)> places) {
  std::vector<std::optional<Tensor>> result;
  for (const auto& index : indices) {
    if (!is_given(index) || !is_mask(*index)) {
      result.push_back(index);
      continue;
    }
    const Tensor found = places(*index);
    for (int64_t d = 0; d < index->dim(); ++d) result.push_back(column(found, d));
  }
  return result;
}

}  // namespace sb
