#include "switchboard/ops/views.h"

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"

namespace sb {
namespace {

Tensor as_strided_kernel(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                         std::optional<int64_t> storage_offset) {
  check_defined("as_strided", self);
  return alias_with(self, size, stride, storage_offset.value_or(self.storage_offset()));
}

Tensor as_strided_in_place(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                           std::optional<int64_t> storage_offset) {
  check_defined("as_strided_", self);
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  // The view that it would be makes every check.
  const Tensor checked = alias_with(self, size, stride, offset);
  self.impl()->set_sizes_and_strides(size, stride);
  self.impl()->set_storage_offset(offset);
  return self;
}

Tensor alias_kernel(const Tensor& self) {
  check_defined("alias", self);
  return alias_with_unchecked(self, self.sizes(), self.strides(), self.storage_offset());
}

Tensor detach_kernel(const Tensor& self) {
  check_defined("detach", self);
  return alias_with_unchecked(self, self.sizes(), self.strides(), self.storage_offset());
}

// What is to be detached belongs to autograd.
Tensor detach_in_place(const Tensor& self) {
  check_defined("detach_", self);
  return self;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  m.define(as_strided);
  m.impl(as_strided, DispatchKey::CompositeExplicitAutograd, as_strided_kernel);
  m.define(as_strided_, Tag::inplace_view);
  m.impl(as_strided_, DispatchKey::CompositeExplicitAutograd, as_strided_in_place);
  m.define(alias);
  m.impl(alias, DispatchKey::CompositeExplicitAutograd, alias_kernel);
  m.define(detach);
  m.impl(detach, DispatchKey::CompositeExplicitAutograd, detach_kernel);
  m.define(detach_, Tag::inplace_view);
  m.impl(detach_, DispatchKey::CompositeExplicitAutograd, detach_in_place);
}

}  // namespace sb
