#include "switchboard/ops/indexing/masked.h"

#include <algorithm>
#include <cstring>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/indexing/advanced_index.h"
#include "switchboard/ops/indexing/strided_walk.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/shape/resize.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Calls f(data, mask) for each element, in row-major order; `data` and `mask` broadcast to `sizes`.
template <class F>
void for_each_masked(IntArrayRef sizes, const Tensor& data, const Tensor& mask, F&& f) {
  strided_walk<2>(DimVector(sizes.begin(), sizes.end()),
                  {broadcast_byte_strides(data, sizes), broadcast_byte_strides(mask, sizes)},
                  {static_cast<char*>(data.data_ptr()), static_cast<char*>(mask.data_ptr())},
                  [&](std::array<char*, 2> at, const std::array<int64_t, 2>& stride, int64_t n) {
                    for (int64_t i = 0; i < n; ++i) {
                      f(at[0], *at[1] != 0);
                      at[0] += stride[0];
                      at[1] += stride[1];
                    }
                  });
}

// How many elements are true where the mask is broadcast to `sizes`.
int64_t count_true(IntArrayRef sizes, const Tensor& mask) {
  int64_t count = 0;
  for_each_masked(sizes, mask, mask, [&](char*, bool chosen) { count += chosen; });
  return count;
}

void check_mask(const char* op, const Tensor& mask) {
  SB_CHECK(mask.dtype() == DType::Bool || mask.dtype() == DType::UInt8, op,
           ": mask: expected bool or uint8, got ", mask.describe());
}
// A uint8 mask has no other elements than 0 and 1.
void check_mask_values(const char* op, const Tensor& mask) {
  if (mask.dtype() != DType::UInt8) return;
  for_each_masked(mask.sizes(), mask, mask, [&](const char* at, bool) {
    SB_CHECK(static_cast<unsigned char>(*at) <= 1, op, ": mask: expected zeros and ones, got ",
             static_cast<int>(static_cast<unsigned char>(*at)));
  });
}

// Calls f(copy) with a function that copies one element from its second argument to its first.
template <class F>
void with_element_copy(size_t itemsize, F&& f) {
  switch (itemsize) {
    case 1:
      return f([](char* to, const char* from) { std::memcpy(to, from, 1); });
    case 2:
      return f([](char* to, const char* from) { std::memcpy(to, from, 2); });
    case 4:
      return f([](char* to, const char* from) { std::memcpy(to, from, 4); });
    case 8:
      return f([](char* to, const char* from) { std::memcpy(to, from, 8); });
    default:
      SB_ASSERT(itemsize == 16);
      return f([](char* to, const char* from) { std::memcpy(to, from, 16); });
  }
}

// Everything but the size of the result.
void check_masked_select(const Tensor& self, const Tensor& mask) {
  check_defined("masked_select: self", self);
  check_defined("masked_select: mask", mask);
  internal::check_arguments("masked_select", {&self, &mask});
  check_mask("masked_select", mask);
}
Tensor masked_select_cpu(const Tensor& self, const Tensor& mask) {
  check_masked_select(self, mask);
  const auto sizes = broadcast_shapes(self.sizes(), mask.sizes());
  check_mask_values("masked_select", mask);
  const Tensor result = empty_on(Device(DeviceType::CPU), {count_true(sizes, mask)}, self.dtype());
  if (result.numel() == 0) return result;
  with_element_copy(self.itemsize(), [&](auto copy) {
    char* to = static_cast<char*>(result.data_ptr());
    for_each_masked(sizes, self, mask, [&](const char* from, bool chosen) {
      if (!chosen) return;
      copy(to, from);
      to += self.itemsize();
    });
  });
  return result;
}
Tensor masked_select_out_cpu(const Tensor& self, const Tensor& mask, const Tensor& out) {
  check_defined("masked_select: out", out);
  check_defined("masked_select: self", self);
  SB_CHECK(out.dtype() == self.dtype(), "masked_select: out: expected ", to_string(self.dtype()),
           ", got ", out.describe());
  check_no_internal_overlap(out);
  check_no_overlap(out, self);
  check_no_overlap(out, mask);
  copy_result_to_out("masked_select", masked_select_cpu(self, mask), out);
  return out;
}

void check_masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  check_defined("masked_scatter: self", self);
  check_defined("masked_scatter: mask", mask);
  check_defined("masked_scatter: source", source);
  internal::check_arguments("masked_scatter", {&self, &mask, &source});
  check_no_internal_overlap(self);
  SB_CHECK(self.dtype() == source.dtype(), "masked_scatter: source: expected ",
           to_string(self.dtype()), ", got ", source.describe());
  SB_CHECK(mask.dtype() == DType::Bool, "masked_scatter: mask: expected bool, got ",
           mask.describe());
  const SymDimVector common = broadcast_sizes<SymInt>(self.sym_sizes(), mask.sym_sizes());
  SB_CHECK(equal_sizes<SymInt>(common, self.sym_sizes()), "masked_scatter: mask ", mask.describe(),
           " does not broadcast to self, ", self.describe());
}
// The tensor itself, or a copy of it where some of its elements may lie where `written` has others.
Tensor apart_from(const Tensor& written, const Tensor& read) {
  return overlap_between(written, read) == Overlap::No ? read : clone(read);
}
// PyTorch reads what it has just written where source and self overlap; here source and mask are
// what they were before the call, as functionalization has them.
Tensor masked_scatter_cpu(const Tensor& self, const Tensor& given_mask,
                          const Tensor& given_source) {
  check_masked_scatter(self, given_mask, given_source);
  const Tensor mask = apart_from(self, given_mask), source = apart_from(self, given_source);
  check_mask_values("masked_scatter", mask);
  const int64_t count = count_true(self.sizes(), mask);
  SB_CHECK(count <= source.numel(), "masked_scatter: source has ", source.numel(),
           " elements for the ", count, " that the mask chooses");
  const Tensor from = source.is_contiguous() ? source : cast_copy(source, source.dtype());
  const char* next = static_cast<const char*>(count == 0 ? nullptr : from.data_ptr());
  with_element_copy(self.itemsize(), [&](auto copy) {
    for_each_masked(self.sizes(), self, mask, [&](char* to, bool chosen) {
      if (!chosen) return;
      copy(to, next);
      next += self.itemsize();
    });
  });
  return self;
}
Tensor masked_scatter_meta(const Tensor& self, const Tensor& mask, const Tensor& source) {
  check_masked_scatter(self, mask, source);
  return self;
}
Tensor masked_scatter_functional(const Tensor& self, const Tensor& mask, const Tensor& source) {
  check_defined("masked_scatter: self", self);
  check_defined("masked_scatter: mask", mask);
  const SymDimVector common = broadcast_sizes<SymInt>(self.sym_sizes(), mask.sym_sizes());
  const SymIntArrayRef sizes = common;
  return masked_scatter_(clone(expand(self, sizes), MemoryFormat::Contiguous), expand(mask, sizes),
                         source);
}

Tensor nonzero_cpu(const Tensor& self) {
  check_defined("nonzero", self);
  return nonzero_places(self);
}
Tensor nonzero_out_cpu(const Tensor& self, const Tensor& out) {
  check_defined("nonzero: out", out);
  check_defined("nonzero: self", self);
  SB_CHECK(out.dtype() == DType::Int64, "nonzero: out: expected int64, got ", out.describe());
  SB_CHECK(out.device() == self.device(), "nonzero: out: expected a tensor on ",
           to_string(self.device()), ", got ", out.describe());
  check_no_internal_overlap(out);
  check_no_overlap(out, self);
  const Tensor places = nonzero_places(self);
  resize_output(out, places.sizes(), places.strides());
  copy_elements(out, places);
  return out;
}

Tensor new_static_places(const Tensor& self, const SymInt& size) {
  check_defined("nonzero_static", self);
  SB_CHECK(size >= 0, "nonzero_static: argument size: expected 0 or more, got ", size.to_string());
  const SymInt sizes[] = {size, SymInt(self.dim())};
  return empty(SymIntArrayRef(sizes, 2), DType::Int64, std::nullopt, self.device());
}
Tensor nonzero_static_cpu(const Tensor& self, const SymInt& size, int64_t fill_value) {
  const Tensor result = fill_(new_static_places(self, size), fill_value);
  const Tensor places = nonzero_places(self);
  const int64_t count = std::min(places.size(0), result.size(0));
  copy_(narrow(result, 0, 0, count), narrow(places, 0, 0, count));
  return result;
}

// A bool tensor that is true where self is not zero.
Tensor nonzero_mask(const Tensor& self) {
  if (!is_complex(self.dtype())) return cast_copy(self, DType::Bool);
  // To convert would be to look at the real part only.
  const Tensor wide = cast_copy(self, DType::Complex128);
  const Tensor mask = empty_on(Device(DeviceType::CPU), self.sizes(), DType::Bool);
  const auto* from = wide.data<std::complex<double>>();
  for (int64_t i = 0; i < mask.numel(); ++i) mask.data<bool>()[i] = from[i] != 0.0;
  return mask;
}

std::vector<Tensor> nonzero_columns(const Tensor& self) {
  check_defined("nonzero", self);
  // A number has one index, as of one dimension.
  return unbind(nonzero(self.dim() == 0 ? unsqueeze(self, 0) : self), 1);
}

}  // namespace

Tensor nonzero_places(const Tensor& self) {
  const Tensor mask = self.itemsize() == 1 ? self : nonzero_mask(self);
  const int64_t count = count_true(self.sizes(), mask);
  const int64_t rank = self.dim();
  const DimVector sizes = {count, rank}, strides = {1, count};
  const Tensor places = empty_strided_on(Device(DeviceType::CPU), sizes, strides, DType::Int64);
  if (count == 0 || rank == 0) return places;
  int64_t* to = places.data<int64_t>();
  DimVector position(static_cast<size_t>(rank), 0);
  for_each_masked(self.sizes(), mask, mask, [&](const char*, bool chosen) {
    if (chosen) {
      for (size_t d = 0; d < position.size(); ++d)
        to[static_cast<int64_t>(d) * count] = position[d];
      ++to;
    }
    for (size_t d = position.size(); d-- > 0;) {
      if (++position[d] < self.sizes()[d]) break;
      position[d] = 0;
    }
  });
  return places;
}

void fill_masked(const Tensor& self, const Tensor& mask, int64_t dim, const Tensor& value) {
  check_mask("index_put", mask);
  DimVector strides(self.sizes().size(), 0);
  for (int64_t d = 0; d < mask.dim(); ++d) {
    strides[static_cast<size_t>(dim + d)] = mask.strides()[static_cast<size_t>(d)];
  }
  const Tensor full = alias_with_unchecked(mask, self.sizes(), strides, mask.storage_offset());
  const char* const from = static_cast<const char*>(value.data_ptr());
  with_element_copy(self.itemsize(), [&](auto copy) {
    for_each_masked(self.sizes(), self, full, [&](char* to, bool chosen) {
      if (chosen) copy(to, from);
    });
  });
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, masked_select, Tag::dynamic_output_shape).cpu(masked_select_cpu);
  define(m, masked_select_out, Tag::dynamic_output_shape).cpu(masked_select_out_cpu);

  define(m, nonzero_static)
      .cpu(nonzero_static_cpu)
      .meta([](const Tensor& self, const SymInt& size, int64_t) {
        return new_static_places(self, size);
      })
      .out(nonzero_static_out);
  define(m, masked_scatter).composite_explicit(masked_scatter_functional).out(masked_scatter_out);
  define(m, masked_scatter_).cpu(masked_scatter_cpu).meta(masked_scatter_meta);

  define(m, nonzero, Tag::dynamic_output_shape).cpu(nonzero_cpu);
  define(m, nonzero_out, Tag::dynamic_output_shape).cpu(nonzero_out_cpu);
  define(m, argwhere).composed([](const Tensor& self) -> Tensor { return nonzero(self); });
  define(m, nonzero_numpy).composed(nonzero_columns);
  define(m, where_condition).composed(nonzero_columns);
}

}  // namespace sb
