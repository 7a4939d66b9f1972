#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

template <SizeType Int>
struct Shape {
  SizeVector<Int> sizes;
  SizeVector<Int> strides;
};

// A view of self of the shape that shape_of<Int>() gives.
template <class F>
Tensor view_as_shape(const char* op, const Tensor& self, F&& shape_of) {
  check_defined(op, self);
  return by_size(self.is_symbolic(), [&]<class Int>() {
    const Shape<Int> shape = shape_of.template operator()<Int>();
    return alias_of_shape(self, shape.sizes, shape.strides, storage_offset_of<Int>(self));
  });
}
template <class F>
Tensor set_shape(const char* op, const Tensor& self, F&& shape_of) {
  check_defined(op, self);
  return by_size(self.is_symbolic(), [&]<class Int>() {
    const Shape<Int> shape = shape_of.template operator()<Int>();
    if constexpr (std::is_same_v<Int, SymInt>) {
      self.impl()->set_sym_sizes_and_strides(shape.sizes, shape.strides, self.sym_storage_offset());
    } else {
      self.impl()->set_sizes_and_strides(shape.sizes, shape.strides);
    }
    return self;
  });
}

// Without the dimensions of size 1; all of them, or those in `dims`.
template <SizeType Int>
Shape<Int> squeezed(const char* op, const Tensor& self, std::optional<IntArrayRef> dims) {
  DimSet droppable;
  if (dims) droppable = dim_set(op, *dims, self.dim());
  const SizesRef<Int> sizes = sizes_of<Int>(self);
  Shape<Int> shape;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const bool may_drop = !dims || droppable[d];
    if (may_drop && is_one(sizes[d])) continue;
    // The number of dimensions is settled here: a size that only data will tell is asserted not to
    // be 1, as it has counted.
    if (may_drop) SB_CHECK(sizes[d] != 1, op, ": dimension ", d, " was taken not to be of size 1");
    shape.sizes.push_back(sizes[d]);
    shape.strides.push_back(strides_of<Int>(self)[d]);
  }
  return shape;
}
Tensor squeezed_view(const Tensor& self, std::optional<IntArrayRef> dims) {
  return view_as_shape("squeeze", self,
                       [&]<class Int>() { return squeezed<Int>("squeeze", self, dims); });
}
Tensor squeeze_in_place(const Tensor& self, std::optional<IntArrayRef> dims) {
  return set_shape("squeeze_", self,
                   [&]<class Int>() { return squeezed<Int>("squeeze_", self, dims); });
}

template <SizeType Int>
Shape<Int> unsqueezed(const char* op, const Tensor& self, int64_t dim) {
  const int64_t rank = self.dim();
  const int64_t at = wrap_dim(op, dim, rank + 1);
  const SizesRef<Int> sizes = sizes_of<Int>(self), strides = strides_of<Int>(self);
  Shape<Int> shape{SizeVector<Int>(sizes.begin(), sizes.end()),
                   SizeVector<Int>(strides.begin(), strides.end())};
  const size_t i = static_cast<size_t>(at);
  const Int stride = at == rank ? Int(1) : product_of(sizes[i], strides[i]);
  shape.sizes.insert(shape.sizes.begin() + at, Int(1));
  shape.strides.insert(shape.strides.begin() + at, stride);
  return shape;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, squeeze).view([](const Tensor& self) { return squeezed_view(self, std::nullopt); });
  define(m, squeeze_dim).view([](const Tensor& self, int64_t dim) {
    return squeezed_view(self, IntArrayRef(&dim, 1));
  });
  define(m, squeeze_dims).view([](const Tensor& self, IntArrayRef dims) {
    return squeezed_view(self, dims);
  });
  define(m, squeeze_, Tag::inplace_view).composite_explicit([](const Tensor& self) {
    return squeeze_in_place(self, std::nullopt);
  });
  define(m, squeeze__dim, Tag::inplace_view)
      .composite_explicit([](const Tensor& self, int64_t dim) {
        return squeeze_in_place(self, IntArrayRef(&dim, 1));
      });
  define(m, squeeze__dims, Tag::inplace_view)
      .composite_explicit(
          [](const Tensor& self, IntArrayRef dims) { return squeeze_in_place(self, dims); });
  define(m, unsqueeze).view([](const Tensor& self, int64_t dim) {
    return view_as_shape("unsqueeze", self,
                         [&]<class Int>() { return unsqueezed<Int>("unsqueeze", self, dim); });
  });
  define(m, unsqueeze_, Tag::inplace_view).composite_explicit([](const Tensor& self, int64_t dim) {
    return set_shape("unsqueeze_", self,
                     [&]<class Int>() { return unsqueezed<Int>("unsqueeze_", self, dim); });
  });
}

}  // namespace sb
