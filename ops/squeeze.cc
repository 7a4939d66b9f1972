#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/views.h"

namespace sb {
namespace {

struct Shape {
  DimVector sizes;
  DimVector strides;
};

Tensor view_as_shape(const Tensor& self, const Shape& shape) {
  return alias_with_unchecked(self, shape.sizes, shape.strides, self.storage_offset());
}
Tensor set_shape(const Tensor& self, const Shape& shape) {
  self.impl()->set_sizes_and_strides(shape.sizes, shape.strides);
  return self;
}

// Without the dimensions of size 1; all of them, or those in `dims`.
Shape squeezed(const char* op, const Tensor& self, std::optional<IntArrayRef> dims = {}) {
  check_defined(op, self);
  DimSet droppable;
  if (dims) droppable = dim_set(op, *dims, self.dim());
  Shape shape;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (self.sizes()[d] == 1 && (!dims || droppable[d])) continue;
    shape.sizes.push_back(self.sizes()[d]);
    shape.strides.push_back(self.strides()[d]);
  }
  return shape;
}

Shape unsqueezed(const char* op, const Tensor& self, int64_t dim) {
  check_defined(op, self);
  const int64_t rank = self.dim();
  const int64_t at = wrap_dim(op, dim, rank + 1);
  Shape shape{DimVector(self.sizes().begin(), self.sizes().end()),
              DimVector(self.strides().begin(), self.strides().end())};
  const int64_t stride = at == rank ? 1 : checked_mul(self.size(at), self.stride(at));
  shape.sizes.insert(shape.sizes.begin() + at, 1);
  shape.strides.insert(shape.strides.begin() + at, stride);
  return shape;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  const auto all = DispatchKey::CompositeExplicitAutograd;
  m.define(squeeze);
  m.impl(squeeze, all,
         [](const Tensor& self) { return view_as_shape(self, squeezed("squeeze", self)); });
  m.define(squeeze_dim);
  m.impl(squeeze_dim, all, [](const Tensor& self, int64_t dim) {
    return view_as_shape(self, squeezed("squeeze", self, IntArrayRef(&dim, 1)));
  });
  m.define(squeeze_dims);
  m.impl(squeeze_dims, all, [](const Tensor& self, IntArrayRef dims) {
    return view_as_shape(self, squeezed("squeeze", self, dims));
  });
  m.define(squeeze_, Tag::inplace_view);
  m.impl(squeeze_, all,
         [](const Tensor& self) { return set_shape(self, squeezed("squeeze_", self)); });
  m.define(squeeze__dim, Tag::inplace_view);
  m.impl(squeeze__dim, all, [](const Tensor& self, int64_t dim) {
    return set_shape(self, squeezed("squeeze_", self, IntArrayRef(&dim, 1)));
  });
  m.define(squeeze__dims, Tag::inplace_view);
  m.impl(squeeze__dims, all, [](const Tensor& self, IntArrayRef dims) {
    return set_shape(self, squeezed("squeeze_", self, dims));
  });
  m.define(unsqueeze);
  m.impl(unsqueeze, all, [](const Tensor& self, int64_t dim) {
    return view_as_shape(self, unsqueezed("unsqueeze", self, dim));
  });
  m.define(unsqueeze_, Tag::inplace_view);
  m.impl(unsqueeze_, all, [](const Tensor& self, int64_t dim) {
    return set_shape(self, unsqueezed("unsqueeze_", self, dim));
  });
}

}  // namespace sb
