#include <algorithm>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/modes/trace_hooks.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/shape/size_text.h"
#include "switchboard/ops/views/views.h"

namespace sb {

namespace {

// The stride of what lies before a chunk; one that no tensor has where that does not fit.
int64_t chunk_end(int64_t chunk, int64_t base) {
  int64_t end;
  return __builtin_mul_overflow(chunk, base, &end) ? -1 : end;
}
SymInt chunk_end(const SymInt& chunk, const SymInt& base) { return chunk * base; }

// As `at::infer_size`.
template <SizeType Int>
SizeVector<Int> infer_size_of(const char* op, SizesRef<Int> sizes, const Int& numel) {
  SizeVector<Int> result(sizes.begin(), sizes.end());
  std::optional<size_t> unknown;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (known(sizes[d] >= 0)) continue;
    SB_CHECK(sizes[d] >= -1, op, ": shape ", shape_text(sizes), " has a negative size");
    if (!same_size(sizes[d], Int(-1))) continue;
    SB_CHECK(!unknown, op, ": shape ", shape_text(sizes), " has more than one -1");
    unknown = d;
    result[d] = Int(1);
  }
  const Int product = product_of_sizes<Int>(result);
  if (!unknown) {
    SB_CHECK(product == numel, op, ": shape ", shape_text(sizes), " is invalid for ",
             size_text(numel), " elements");
  } else {
    // Of zero elements, -1 could be any size.
    SB_CHECK(!same_size(product, Int(0)) && numel % product == 0, op, ": shape ", shape_text(sizes),
             " is invalid for ", size_text(numel), " elements");
    result[*unknown] = numel / product;
  }
  return result;
}

// Whether dimensions of `taken` elements are not yet all of a chunk. What only data tells is taken
// to be so unless they are equal for sure: whether they are in the end is asked then.
bool lacks(int64_t taken, int64_t chunk) { return taken < chunk; }
bool lacks(const SymInt& taken, const SymInt& chunk) {
  if (known(taken == chunk)) return false;
  const SymBool less = taken < chunk;
  if (has_hint(less)) return guard_bool(less);
  return statically_known(less).value_or(true);
}

// As `at::detail::computeStride`, for a tensor that has elements.
template <SizeType Int>
std::optional<SizeVector<Int>> strides_by_chunk(SizesRef<Int> sizes, SizesRef<Int> strides,
                                                SizesRef<Int> new_sizes) {
  SizeVector<Int> result(new_sizes.size(), Int(1));
  // Dimensions that lie one behind the other in memory form a chunk; each takes whole dimensions of
  // the new shape.
  size_t to = new_sizes.size();  // dimensions of the new shape that are left
  Int base = strides.back();
  Int chunk = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    chunk = chunk * sizes[d];
    if (d > 0 && (is_one(sizes[d - 1]) || same_size(strides[d - 1], chunk_end(chunk, base)))) {
      continue;
    }
    Int taken = 1;
    while (to > 0 && (is_one(new_sizes[to - 1]) || lacks(taken, chunk))) {
      --to;
      result[to] = product_of(taken, base);
      taken = taken * new_sizes[to];
    }
    if (!same_size(taken, chunk)) return std::nullopt;
    if (d > 0) base = strides[d - 1];
    chunk = Int(1);
  }
  if (to != 0) return std::nullopt;
  return result;
}

}  // namespace

std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides,
                                      IntArrayRef new_sizes) {
  const int64_t numel = checked_numel(sizes);
  DimVector result(new_sizes.size(), 1);
  if (sizes.empty()) return result;
  if (numel != 0) return strides_by_chunk<int64_t>(sizes, strides, new_sizes);
  if (sizes == new_sizes) return DimVector(strides.begin(), strides.end());
  int64_t stride = 1;
  for (size_t d = new_sizes.size(); d-- > 0;) {
    result[d] = stride;
    stride = checked_mul(stride, std::max<int64_t>(new_sizes[d], 1));
  }
  return result;
}

namespace {

template <SizeType Int>
std::optional<SizeVector<Int>> view_strides_of(const Tensor& self, const SizeVector<Int>& sizes) {
  if constexpr (std::same_as<Int, int64_t>) {
    return view_strides(self.sizes(), self.strides(), sizes);
  } else {
    if (self.dim() == 0) return SymDimVector(sizes.size(), SymInt(1));
    // Says nothing of sizes: what is contiguous stays so.
    if (self.is_contiguous()) return contiguous_strides(sizes);
    if (same_size(self.sym_numel(), SymInt(0))) {
      const bool same = self.sym_sizes().size() == sizes.size() &&
                        known(equal_sizes<SymInt>(self.sym_sizes(), sizes));
      return same ? SymDimVector(self.sym_strides().begin(), self.sym_strides().end())
                  : contiguous_strides(sizes);
    }
    return strides_by_chunk<SymInt>(self.sym_sizes(), self.sym_strides(), sizes);
  }
}

template <SizeType Int>
Tensor view_of_size(const char* op, const Tensor& self, SizesRef<Int> size) {
  const SizeVector<Int> sizes = infer_size_of<Int>(op, size, numel_of<Int>(self));
  const std::optional<SizeVector<Int>> strides = view_strides_of<Int>(self, sizes);
  SB_CHECK(strides, op, ": no view of ", self.describe(), " with strides ",
           shape_text(strides_of<Int>(self)), " has shape ", shape_text(size), "; reshape copies");
  return alias_of_shape(self, sizes, *strides, storage_offset_of<Int>(self));
}

Tensor view_of(const char* op, const Tensor& self, SymIntArrayRef size) {
  check_defined(op, self);
  return by_size(any_symbolic(self, size),
                 [&]<class Int>() { return view_of_size<Int>(op, self, sizes_as<Int>(size)); });
}

Tensor view_kernel(const Tensor& self, SymIntArrayRef size) { return view_of("view", self, size); }
Tensor unsafe_view_kernel(const Tensor& self, SymIntArrayRef size) {
  return view_of("_unsafe_view", self, size);
}
Tensor unsafe_view_out_kernel(const Tensor& self, IntArrayRef size, const Tensor& out) {
  copy_result_to_out("_unsafe_view", view_of("_unsafe_view", self, size), out, kCopiedOut);
  return out;
}

// Callers have computed the strides; the check costs little.
Tensor reshape_alias_kernel(const Tensor& self, SymIntArrayRef size, SymIntArrayRef stride) {
  check_defined("_reshape_alias", self);
  if (any_symbolic(self, size, stride))
    return alias_of_shape(self, size, stride, self.sym_storage_offset());
  return alias_with(self, size.expect_ints(), stride.expect_ints(), self.storage_offset());
}

// As `isTensorSubclassLike`.
bool may_be_recorded(const Tensor& t) {
  return t.key_set().has_any({DispatchKey::Python, DispatchKey::Functionalize}) || current_mode();
}

Tensor reshape_kernel(const Tensor& self, SymIntArrayRef shape) {
  check_defined("reshape", self);
  return by_size(any_symbolic(self, shape), [&]<class Int>() {
    const SizeVector<Int> sizes =
        infer_size_of<Int>("reshape", sizes_as<Int>(shape), numel_of<Int>(self));
    const std::optional<SizeVector<Int>> strides = view_strides_of<Int>(self, sizes);
    const auto copy = [&] {
      return _unsafe_view(clone(self, MemoryFormat::Contiguous), SizesRef<Int>(sizes));
    };
    if (!may_be_recorded(self))
      return strides ? _reshape_alias(self, SizesRef<Int>(sizes), SizesRef<Int>(*strides)) : copy();
    // A graph would have the strides burnt in, and may run on a tensor with others.
    const Tensor result = strides ? view(self, SizesRef<Int>(sizes)) : copy();
    internal::trace_hooks->gave_view_or_copy(self, result, "aten::reshape",
                                             internal::ViewOrCopyBy::Layout);
    return result;
  });
}

template <SizeType Int>
Tensor flattened(const Tensor& self, int64_t first, int64_t last) {
  const SizesRef<Int> sizes = sizes_of<Int>(self);
  SizeVector<Int> shape(sizes.begin(), sizes.begin() + first);
  shape.push_back(product_of_sizes<Int>(
      sizes.subspan(static_cast<size_t>(first), static_cast<size_t>(last - first + 1))));
  shape.insert(shape.end(), sizes.begin() + last + 1, sizes.end());
  return reshape(self, SizesRef<Int>(shape));
}

Tensor flatten_kernel(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  check_defined("flatten", self);
  const int64_t first = wrap_dim("flatten", start_dim, self.dim());
  const int64_t last = wrap_dim("flatten", end_dim, self.dim());
  SB_CHECK(first <= last, "flatten: start_dim ", start_dim, " is behind end_dim ", end_dim, " in ",
           self.describe());
  if (self.dim() == 0) return reshape(self, {1});
  if (first == last) return self;
  return by_size(self.is_symbolic(),
                 [&]<class Int>() { return flattened<Int>(self, first, last); });
}

template <SizeType Int>
Tensor unflattened(const Tensor& self, int64_t d, SizesRef<Int> sizes) {
  const SizesRef<Int> old = sizes_of<Int>(self);
  const SizeVector<Int> parts = infer_size_of<Int>("unflatten", sizes, old[static_cast<size_t>(d)]);
  SizeVector<Int> shape(old.begin(), old.end());
  shape.erase(shape.begin() + d);
  shape.insert(shape.begin() + d, parts.begin(), parts.end());
  return view(self, SizesRef<Int>(shape));
}

Tensor unflatten_kernel(const Tensor& self, int64_t dim, SymIntArrayRef sizes) {
  check_defined("unflatten", self);
  const int64_t d = wrap_dim("unflatten", dim, self.dim());
  SB_CHECK(!sizes.empty(), "unflatten: sizes is empty");
  SB_CHECK_INDEX(self.dim() > 0, "unflatten: ", self.describe(), " has no dimensions");
  return by_size(any_symbolic(self, sizes),
                 [&]<class Int>() { return unflattened<Int>(self, d, sizes_as<Int>(sizes)); });
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
  SymDimVector sizes(self.sym_sizes().begin(), self.sym_sizes().end());
  SymDimVector strides(self.sym_strides().begin(), self.sym_strides().end());
  SymInt offset = self.sym_storage_offset();
  if (from != to) {
    SB_CHECK(self.dim() > 0, "view: ", self.describe(),
             " has no dimension to hold the elements of ", to_string(dtype));
    const bool shrinks = from < to;
    const int64_t ratio = shrinks ? to / from : from / to;
    SB_CHECK(strides.back() == 1, "view: ", self.describe(), " as ", to_string(dtype),
             ": expected the last stride to be 1, got ", size_text(strides.back()));
    if (shrinks) {
      SB_CHECK(sizes.back() % ratio == 0, "view: ", self.describe(), " as ", to_string(dtype),
               ": the last size is not a multiple of ", ratio);
      SB_CHECK(offset % ratio == 0, "view: ", self.describe(), " as ", to_string(dtype),
               ": storage offset ", size_text(offset), " is not a multiple of ", ratio);
    }
    for (size_t d = 0; d + 1 < strides.size(); ++d) {
      if (shrinks) {
        SB_CHECK(strides[d] % ratio == 0, "view: ", self.describe(), " as ", to_string(dtype),
                 ": stride ", size_text(strides[d]), " of dimension ", d, " is not a multiple of ",
                 ratio);
      }
      strides[d] = shrinks ? strides[d] / ratio : strides[d] * ratio;
    }
    sizes.back() = shrinks ? sizes.back() / ratio : sizes.back() * ratio;
    offset = shrinks ? offset / ratio : offset * ratio;
  }
  Tensor result = alias_with_symbols(self, self.sym_sizes(), self.sym_strides(), offset);
  result.impl()->set_dtype(dtype);
  result.impl()->set_sym_sizes_and_strides(sizes, strides, offset);
  return result;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, view).view(view_kernel);
  define(m, view_dtype).view(view_dtype_kernel);
  define(m, _unsafe_view, Tag::maybe_aliasing_or_mutating)
      .composite_explicit(unsafe_view_kernel)
      .out(_unsafe_view_out, unsafe_view_out_kernel);
  define(m, _reshape_alias).view(reshape_alias_kernel);

  define(m, reshape).composed(reshape_kernel);
  define(m, flatten).composed(flatten_kernel);
  define(m, unflatten).composed(unflatten_kernel);
  define(m, view_as).composed([](const Tensor& self, const Tensor& other) {
    check_defined("view_as", other);
    return view(self, other.sym_sizes());
  });
  define(m, reshape_as).composed([](const Tensor& self, const Tensor& other) {
    check_defined("reshape_as", other);
    return reshape(self, other.sym_sizes());
  });
}

}  // namespace sb
