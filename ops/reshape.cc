#include <algorithm>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/out_by_copy.h"
#include "switchboard/ops/views.h"

namespace sb {

DimVector infer_size(const char* op, IntArrayRef sizes, int64_t numel) {
  DimVector result(sizes.begin(), sizes.end());
  std::optional<size_t> unknown;
  for (size_t d = 0; d < sizes.size(); ++d) {
    SB_CHECK(sizes[d] >= -1, op, ": shape ", shape_text(sizes), " has a negative size");
    if (sizes[d] != -1) continue;
    SB_CHECK(!unknown, op, ": shape ", shape_text(sizes), " has more than one -1");
    unknown = d;
    result[d] = 1;
  }
  const int64_t known = checked_numel(result);
  if (!unknown) {
    SB_CHECK(known == numel, op, ": shape ", shape_text(sizes), " is invalid for ", numel,
             " elements");
  } else {
    // Of zero elements, -1 could be any size.
    SB_CHECK(known != 0 && numel % known == 0, op, ": shape ", shape_text(sizes),
             " is invalid for ", numel, " elements");
    result[*unknown] = numel / known;
  }
  return result;
}

std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides,
                                      IntArrayRef new_sizes) {
  const int64_t numel = checked_numel(sizes);
  DimVector result(new_sizes.size(), 1);
  if (sizes.empty()) return result;
  if (numel == 0) {
    if (sizes == new_sizes) return DimVector(strides.begin(), strides.end());
    int64_t stride = 1;
    for (size_t d = new_sizes.size(); d-- > 0;) {
      result[d] = stride;
      stride = checked_mul(stride, std::max<int64_t>(new_sizes[d], 1));
    }
    return result;
  }
  // Dimensions that lie one behind the other in memory form a chunk; each takes whole dimensions of
  // the new shape.
  size_t to = new_sizes.size();  // dimensions of the new shape that are left
  int64_t base = strides.back();
  int64_t chunk = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    chunk *= sizes[d];
    int64_t next = 0;
    const bool fits = !__builtin_mul_overflow(chunk, base, &next);
    if (d > 0 && (sizes[d - 1] == 1 || (fits && strides[d - 1] == next))) continue;
    int64_t taken = 1;
    while (to > 0 && (taken < chunk || new_sizes[to - 1] == 1)) {
      --to;
      result[to] = checked_mul(taken, base);
      taken *= new_sizes[to];
    }
    if (taken != chunk) return std::nullopt;
    if (d > 0) base = strides[d - 1];
    chunk = 1;
  }
  if (to != 0) return std::nullopt;
  return result;
}

namespace {

Tensor view_as_strided(const Tensor& self, IntArrayRef sizes, IntArrayRef strides) {
  return alias_with_unchecked(self, sizes, strides, self.storage_offset());
}

Tensor view_of(const char* op, const Tensor& self, IntArrayRef size) {
  check_defined(op, self);
  const DimVector sizes = infer_size(op, size, self.numel());
  const std::optional<DimVector> strides = view_strides(self.sizes(), self.strides(), sizes);
  SB_CHECK(strides, op, ": no view of ", self.describe(), " with strides ",
           shape_text(self.strides()), " has shape ", shape_text(size), "; reshape copies");
  return view_as_strided(self, sizes, *strides);
}

Tensor view_kernel(const Tensor& self, IntArrayRef size) { return view_of("view", self, size); }
Tensor unsafe_view_kernel(const Tensor& self, IntArrayRef size) {
  return view_of("_unsafe_view", self, size);
}
Tensor unsafe_view_out_kernel(const Tensor& self, IntArrayRef size, const Tensor& out) {
  copy_result_to_out("_unsafe_view", view_of("_unsafe_view", self, size), out);
  return out;
}

// Callers have computed the strides; the check costs little.
Tensor reshape_alias_kernel(const Tensor& self, IntArrayRef size, IntArrayRef stride) {
  check_defined("_reshape_alias", self);
  return alias_with(self, size, stride, self.storage_offset());
}

Tensor reshape_kernel(const Tensor& self, IntArrayRef shape) {
  check_defined("reshape", self);
  const DimVector sizes = infer_size("reshape", shape, self.numel());
  const std::optional<DimVector> strides = view_strides(self.sizes(), self.strides(), sizes);
  if (strides) return _reshape_alias(self, sizes, *strides);
  return _unsafe_view(clone(self, MemoryFormat::Contiguous), sizes);
}

Tensor flatten_kernel(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  check_defined("flatten", self);
  const int64_t first = wrap_dim("flatten", start_dim, self.dim());
  const int64_t last = wrap_dim("flatten", end_dim, self.dim());
  SB_CHECK(first <= last, "flatten: start_dim ", start_dim, " is behind end_dim ", end_dim, " in ",
           self.describe());
  if (self.dim() == 0) return reshape(self, {1});
  if (first == last) return self;
  DimVector shape(self.sizes().begin(), self.sizes().begin() + first);
  shape.push_back(checked_numel(
      self.sizes().subspan(static_cast<size_t>(first), static_cast<size_t>(last - first + 1))));
  shape.insert(shape.end(), self.sizes().begin() + last + 1, self.sizes().end());
  return reshape(self, shape);
}

Tensor unflatten_kernel(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  check_defined("unflatten", self);
  const int64_t d = wrap_dim("unflatten", dim, self.dim());
  SB_CHECK(!sizes.empty(), "unflatten: sizes is empty");
  SB_CHECK_INDEX(self.dim() > 0, "unflatten: ", self.describe(), " has no dimensions");
  const DimVector parts = infer_size("unflatten", sizes, self.size(d));
  DimVector shape(self.sizes().begin(), self.sizes().end());
  shape.erase(shape.begin() + d);
  shape.insert(shape.begin() + d, parts.begin(), parts.end());
  return view(self, shape);
}

// The same memory read as another dtype. The last dimension grows or shrinks with the element size.
Tensor view_dtype_kernel(const Tensor& self, DType dtype) {
  check_defined("view", self);
  const int64_t from = static_cast<int64_t>(self.itemsize());
  const int64_t to = static_cast<int64_t>(itemsize(dtype));
  SB_CHECK(!self.impl()->is_conj() && !self.impl()->is_neg(), "view: ", self.describe(),
           " has its conjugate or negative bit set, and cannot be seen as ", to_string(dtype));
  SB_CHECK(is_quantized(dtype) == is_quantized(self.dtype()), "view: ", self.describe(),
           " cannot be seen as ", to_string(dtype), ": only quantized tensors have a scale");
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector strides(self.strides().begin(), self.strides().end());
  int64_t offset = self.storage_offset();
  if (from != to) {
    SB_CHECK(self.dim() > 0, "view: ", self.describe(),
             " has no dimension to hold the elements of ", to_string(dtype));
    const bool shrinks = from < to;
    const int64_t ratio = shrinks ? to / from : from / to;
    SB_CHECK(strides.back() == 1, "view: ", self.describe(), " as ", to_string(dtype),
             ": expected the last stride to be 1, got ", strides.back());
    if (shrinks) {
      SB_CHECK(sizes.back() % ratio == 0, "view: ", self.describe(), " as ", to_string(dtype),
               ": the last size is not a multiple of ", ratio);
      SB_CHECK(offset % ratio == 0, "view: ", self.describe(), " as ", to_string(dtype),
               ": storage offset ", offset, " is not a multiple of ", ratio);
    }
    for (size_t d = 0; d + 1 < strides.size(); ++d) {
      SB_CHECK(!shrinks || strides[d] % ratio == 0, "view: ", self.describe(), " as ",
               to_string(dtype), ": stride ", strides[d], " of dimension ", d,
               " is not a multiple of ", ratio);
      strides[d] = shrinks ? strides[d] / ratio : checked_mul(strides[d], ratio);
    }
    sizes.back() = shrinks ? sizes.back() / ratio : checked_mul(sizes.back(), ratio);
    offset = shrinks ? offset / ratio : checked_mul(offset, ratio);
  }
  Tensor result = alias_with_unchecked(self, self.sizes(), self.strides(), offset);
  result.impl()->set_dtype(dtype);
  result.impl()->set_sizes_and_strides(sizes, strides);
  return result;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  const auto all = DispatchKey::CompositeExplicitAutograd;
  m.define(view);
  m.impl(view, all, view_kernel);
  m.define(view_dtype);
  m.impl(view_dtype, all, view_dtype_kernel);
  m.define(_unsafe_view);
  m.impl(_unsafe_view, all, unsafe_view_kernel);
  m.define(_unsafe_view_out);
  m.impl(_unsafe_view_out, all, unsafe_view_out_kernel);
  m.define(_reshape_alias);
  m.impl(_reshape_alias, all, reshape_alias_kernel);

  const auto composite = DispatchKey::CompositeImplicitAutograd;
  m.define(reshape);
  m.impl(reshape, composite, reshape_kernel);
  m.define(flatten);
  m.impl(flatten, composite, flatten_kernel);
  m.define(unflatten);
  m.impl(unflatten, composite, unflatten_kernel);
  m.define(view_as);
  m.impl(view_as, composite, [](const Tensor& self, const Tensor& other) {
    check_defined("view_as", other);
    return view(self, other.sizes());
  });
  m.define(reshape_as);
  m.impl(reshape_as, composite, [](const Tensor& self, const Tensor& other) {
    check_defined("reshape_as", other);
    return reshape(self, other.sizes());
  });
}

}  // namespace sb
