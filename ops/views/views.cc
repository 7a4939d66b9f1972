#include "switchboard/ops/views/views.h"

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/by_size.h"

namespace sb {
namespace {

// A view that does not leave the storage; with symbols that is for the sizes to come to show.
Tensor strided_view(const Tensor& self, SymIntArrayRef size, SymIntArrayRef stride,
                    const std::optional<SymInt>& storage_offset) {
  if (any_symbolic(self, size, stride, storage_offset)) {
    SB_CHECK(size.size() == stride.size(), "as_strided: ", size.size(), " sizes but ",
             stride.size(), " strides");
    return alias_with_symbols(self, size, stride,
                              storage_offset.value_or(self.sym_storage_offset()));
  }
  const int64_t offset = storage_offset ? storage_offset->expect_int() : self.storage_offset();
  return alias_with(self, size.expect_ints(), stride.expect_ints(), offset);
}

Tensor as_strided_kernel(const Tensor& self, SymIntArrayRef size, SymIntArrayRef stride,
                         const std::optional<SymInt>& storage_offset) {
  check_defined("as_strided", self);
  return strided_view(self, size, stride, storage_offset);
}

Tensor as_strided_in_place(const Tensor& self, SymIntArrayRef size, SymIntArrayRef stride,
                           const std::optional<SymInt>& storage_offset) {
  check_defined("as_strided_", self);
  // The view that it would be makes every check.
  const Tensor checked = strided_view(self, size, stride, storage_offset);
  self.impl()->set_sym_sizes_and_strides(checked.sym_sizes(), checked.sym_strides(),
                                         checked.sym_storage_offset());
  return self;
}

// The same tensor once more.
Tensor same_view(const Tensor& self) {
  return by_size(any_symbolic(self), [&]<class Int>() {
    return alias_of_shape(self, sizes_of<Int>(self), strides_of<Int>(self),
                          storage_offset_of<Int>(self));
  });
}

Tensor alias_kernel(const Tensor& self) {
  check_defined("alias", self);
  return same_view(self);
}

Tensor detach_kernel(const Tensor& self) {
  check_defined("detach", self);
  return same_view(self);
}

// What is to be detached belongs to autograd.
Tensor detach_in_place(const Tensor& self) {
  check_defined("detach_", self);
  return self;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, as_strided).view(as_strided_kernel);
  define(m, as_strided_, Tag::inplace_view).composite_explicit(as_strided_in_place);
  define(m, alias).view(alias_kernel);
  define(m, detach).view(detach_kernel);
  define(m, detach_, Tag::inplace_view).composite_explicit(detach_in_place);
}

}  // namespace sb
