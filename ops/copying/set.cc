#include "switchboard/ops/copying/set.h"

#include <algorithm>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/core/symbols/symbolic_shape.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/resize.h"

namespace sb {
namespace {

// Checks that the format names an order of strides for that many dimensions.
void check_format(const char* op, std::optional<MemoryFormat> format, size_t rank) {
  if (!format) return;
  SB_CHECK(*format != MemoryFormat::Preserve, op, ": memory_format: got preserve_format");
  const bool fits = *format == MemoryFormat::Contiguous ||
                    (*format == MemoryFormat::ChannelsLast && rank == 4) ||
                    (*format == MemoryFormat::ChannelsLast3d && rank == 5);
  SB_CHECK(fits, op, ": memory_format ", to_string(*format), " does not fit ", rank, " dimensions");
}

Tensor resize_to(const char* op, const Tensor& self, SymIntArrayRef size,
                 std::optional<MemoryFormat> format) {
  check_defined(op, self);
  check_format(op, format, size.size());
  if (any_symbolic(self, size)) {
    if (format)
      set_symbolic_sizes(self, size, strides_in_format<SymInt>(size, *format));
    else
      resize_symbolic_output(self, size);
    return self;
  }
  const IntArrayRef numbers = size.expect_ints();
  const DimVector sizes(numbers.begin(), numbers.end());  // self may be the template
  if (!format) {
    if (self.sizes() != IntArrayRef(sizes)) resize_tensor(self, sizes);
    return self;
  }
  // A dense tensor needs as much memory in any format, and more than self may have had.
  resize_tensor(self, sizes);
  self.impl()->set_sizes_contiguous(sizes, *format);
  return self;
}

Tensor resize_kernel(const Tensor& self, SymIntArrayRef size, std::optional<MemoryFormat> format) {
  return resize_to("resize_", self, size, format);
}

Tensor resize_as_kernel(const Tensor& self, const Tensor& the_template,
                        std::optional<MemoryFormat> format) {
  check_defined("resize_as_: the_template", the_template);
  if (format == MemoryFormat::Preserve) format = suggest_memory_format(the_template);
  return resize_to("resize_as_", self, the_template.sym_sizes(), format);
}

// A storage of at least `bytes` with the bytes of `source`: itself, or a copy.
using MakeRoom = Storage (*)(const Storage& source, size_t bytes);
Storage grow(const Storage& source, size_t bytes) {
  if (bytes > source->nbytes()) source->resize(bytes);
  return source;
}
Storage grow_copy(const Storage& source, size_t bytes) {
  if (bytes <= source->nbytes()) return source;
  const DeviceType type = source->device().type;
  Allocator* const allocator = get_allocator(type);
  Storage copy = make_storage(bytes, allocator, type);
  if (source->data() && copy->data())
    allocator->copy_data(copy->data(), source->data(), source->nbytes());
  return copy;
}

template <MakeRoom make_room>
Tensor set_to(const Tensor& self, const Storage& source, const SymInt& offset, SymIntArrayRef size,
              SymIntArrayRef stride) {
  check_defined("set_", self);
  SB_CHECK(source, "set_: source: got no storage");
  SB_CHECK(source->device() == self.device(), "set_: source is on ", to_string(source->device()),
           ", self is ", self.describe());
  const SymDimVector sizes(size.begin(), size.end());
  SymDimVector strides(stride.begin(), stride.end());
  if (stride.empty()) {
    // As a resize, which leaves the same sizes as they are.
    const bool same = std::ranges::equal(
        self.sym_sizes(), sizes, [](const SymInt& a, const SymInt& b) { return same_size(a, b); });
    if (same)
      strides.assign(self.sym_strides().begin(), self.sym_strides().end());
    else
      strides = contiguous_strides(SymIntArrayRef(sizes));
  }
  // What symbols stand for, where there are some.
  DimVector size_numbers, stride_numbers;
  for (const SymInt& s : sizes) size_numbers.push_back(stand_in(s));
  for (const SymInt& s : strides) stride_numbers.push_back(stand_in(s));
  const int64_t needed = checked_storage_bytes(size_numbers, stride_numbers, stand_in(offset),
                                               static_cast<int64_t>(self.itemsize()));
  const Storage kept = make_room(source, static_cast<size_t>(needed));  // may be self's own
  self.impl()->set_sym_sizes_and_strides(sizes, strides, offset);
  self.impl()->set_storage(kept);
  return self;
}

template <MakeRoom make_room>
Tensor set_to_tensor(const Tensor& self, const Tensor& source) {
  check_defined("set_: source", source);
  return set_to<make_room>(self, source.storage(), source.sym_storage_offset(), source.sym_sizes(),
                           source.sym_strides());
}

// The offset counts from the source's first element.
Tensor set_to_tensor_part(const Tensor& self, const Tensor& source, const SymInt& storage_offset,
                          SymIntArrayRef size, SymIntArrayRef stride) {
  check_defined("set_: source", source);
  SB_CHECK(source.is_contiguous(), "set_: source: expected a contiguous tensor, got ",
           source.describe());
  return set_to<grow>(self, source.storage(), source.sym_storage_offset() + storage_offset, size,
                      stride);
}

// All of the storage, as a vector.
Tensor set_to_storage(const Tensor& self, const Storage& source) {
  check_defined("set_", self);
  SB_CHECK(source, "set_: source: got no storage");
  const int64_t numel = static_cast<int64_t>(source->nbytes() / self.itemsize());
  return set_to<grow>(self, source, 0, {SymInt(numel)}, {});
}

Tensor set_to_nothing(const Tensor& self) {
  check_defined("set_", self);
  const DeviceType type = self.device().type;
  return set_to<grow>(self, make_storage(0, get_allocator(type), type), 0, {SymInt(0)}, {});
}

// The functional forms.
template <auto set_in_place, class... A>
Tensor on_clone(const Tensor& self, A... args) {
  check_defined("set", self);
  return set_in_place(clone(self), args...);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, resize_, Tag::inplace_view).composite_explicit(resize_kernel);
  define(m, resize_as_, Tag::inplace_view).composite_explicit(resize_as_kernel);
  define(m, set_, Tag::inplace_view).composite_explicit(set_to_nothing);
  define(m, set__source_Tensor, {Tag::inplace_view, Tag::maybe_aliasing_or_mutating})
      .composite_explicit(set_to_tensor<grow>);
  define(m, set__source_Tensor_storage_offset, {Tag::inplace_view, Tag::maybe_aliasing_or_mutating})
      .composite_explicit(set_to_tensor_part);
  define(m, set__source_Storage, Tag::inplace_view).composite_explicit(set_to_storage);
  define(m, set__source_Storage_storage_offset, Tag::inplace_view).composite_explicit(set_to<grow>);

  define(m, set).composite_explicit(on_clone<set_to_nothing>).out("out");
  define(m, set_source_Tensor, Tag::maybe_aliasing_or_mutating)
      .composite_explicit(on_clone<set_to_tensor<grow_copy>, const Tensor&>)
      .out("source_Tensor_out");
  define(m, set_source_Storage)
      .composite_explicit(on_clone<set_to_storage, const Storage&>)
      .out("source_Storage_out");
  define(m, set_source_Storage_storage_offset)
      .composite_explicit(on_clone<set_to<grow_copy>, const Storage&, const SymInt&, SymIntArrayRef,
                                   SymIntArrayRef>)
      .out("source_Storage_storage_offset_out");
}

}  // namespace sb
