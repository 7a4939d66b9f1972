// Indexing whose places compilers know to be inside, and the gradient of masked_scatter: of index,
// index_put and masked_select. Here, too, places are checked.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/index.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Indices = std::vector<std::optional<Tensor>>;

void check_indices(const char* op, OptionalTensorList indices) {
  for (const std::optional<Tensor>& index : indices) {
    SB_CHECK(!index || !index->defined() || index->dtype() == DType::Int64 ||
                 index->dtype() == DType::Int32,
             op, ": argument indices: expected int64 or int32, got ", index->describe());
  }
}

Tensor unsafe_index(const Tensor& self, OptionalTensorList indices) {
  check_indices("_unsafe_index", indices);
  return index(self, indices);
}
Tensor unsafe_index_put(const Tensor& self, OptionalTensorList indices, const Tensor& values,
                        bool accumulate) {
  check_indices("_unsafe_index_put", indices);
  return index_put(self, indices, values, accumulate);
}

// The places, those outside moved to the nearest one. Below 0 they count from the end, or are
// outside.
Indices limited(const char* op, const Tensor& self, OptionalTensorList indices, bool from_end) {
  SB_CHECK_INDEX(indices.size() <= static_cast<size_t>(self.dim()), op, ": got ", indices.size(),
                 " indices for ", self.describe());
  Indices result(indices.begin(), indices.end());
  for (size_t d = 0; d < result.size(); ++d) {
    if (!result[d] || !result[d]->defined()) continue;
    const SymInt size = self.sym_size(static_cast<int64_t>(d));
    const SymInt least = from_end ? -size : SymInt(0);
    result[d] = clamp(*result[d], Scalar(least), Scalar(size - 1));
  }
  return result;
}

Tensor unsafe_masked_index(const Tensor& self, const Tensor& mask, OptionalTensorList indices,
                           const Scalar& fill) {
  const char* const op = "_unsafe_masked_index";
  check_defined(op, self);
  const Indices places = limited(op, self, indices, /*from_end=*/false);
  return masked_fill(unsafe_index(self, places), logical_not(mask), fill);
}
Tensor unsafe_masked_index_put(const Tensor& self, const Tensor& mask, OptionalTensorList indices,
                               const Tensor& values) {
  const char* const op = "_unsafe_masked_index_put_accumulate";
  check_defined(op, self);
  if (same_size(self.sym_numel(), SymInt(0))) return clone(self);
  const Indices places = limited(op, self, indices, /*from_end=*/true);
  return unsafe_index_put(self, places, masked_fill(values, logical_not(mask), 0),
                          /*accumulate=*/true);
}

// What the mask chooses, in the shape of the source; 0 for the elements that were not taken.
Tensor masked_scatter_gradient(const Tensor& grad_output, const Tensor& mask,
                               SymIntArrayRef sizes) {
  const Tensor chosen = masked_select(grad_output, mask);
  const SymInt rest = sym_product(sizes) - chosen.sym_size(0);
  SB_CHECK(rest >= 0, "masked_scatter_backward: argument sizes: ", shape_text(sizes),
           " is less than ", chosen.describe());
  const Tensor parts[] = {chosen, new_zeros(chosen, {rest})};
  return view(cat(parts, 0), sizes);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, "aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
         Tag::derived_through)
      .composite_explicit(unsafe_index);
  define(m,
         "aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool "
         "accumulate=False) -> Tensor",
         Tag::derived_through)
      .composite_explicit(unsafe_index_put);
  define(m,
         "aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> "
         "Tensor",
         Tag::derived_through)
      .composite_explicit(unsafe_masked_index);
  define(m,
         "aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, "
         "Tensor values) -> Tensor",
         Tag::derived_through)
      .composite_explicit(unsafe_masked_index_put);
  define(m,
         "aten::masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor",
         Tag::derived_through)
      .composite_explicit(masked_scatter_gradient)
      .meta([](const Tensor& grad_output, const Tensor&, SymIntArrayRef sizes) {
        return new_empty(grad_output, sizes);
      });
}

}  // namespace
}  // namespace sb
