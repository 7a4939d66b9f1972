#include "switchboard/ops/cat.h"

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/dims.h"
#include "switchboard/ops/memory_format.h"
#include "switchboard/ops/structured.h"
#include "switchboard/ops/tensor_iterator.h"

namespace sb {
namespace {

// A tensor of shape [0] fits any others, for old programs' sake.
bool is_skipped(const Tensor& t) { return t.dim() == 1 && t.sizes()[0] == 0; }

const Tensor* first_that_counts(TensorList tensors) {
  for (const Tensor& t : tensors) {
    if (!is_skipped(t)) return &t;
  }
  return nullptr;
}

DType common_dtype(TensorList tensors) {
  absl::InlinedVector<const Tensor*, 8> pointers;
  for (const Tensor& t : tensors) pointers.push_back(&t);
  return result_type(pointers);
}

// The format that all agree on, or Contiguous.
MemoryFormat common_format(TensorList tensors) {
  const MemoryFormat format = suggest_memory_format(tensors[0]);
  for (const Tensor& t : tensors) {
    if (suggest_memory_format(t) != format) return MemoryFormat::Contiguous;
  }
  return format;
}

// The strides of a new tensor in that format.
DimVector strides_in(MemoryFormat format, IntArrayRef sizes) {
  if (format == MemoryFormat::Contiguous) return {};
  const Tensor shape = empty_on(Device{DeviceType::Meta}, sizes, DType::UInt8, format);
  return DimVector(shape.strides().begin(), shape.strides().end());
}

TensorMeta cat_out_rule(TensorList tensors, int64_t dim) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    SB_CHECK(tensors[i].dim() > 0, "cat: tensor ", i, " has no dimensions");
  }
  TensorMeta meta{{0}, common_dtype(tensors)};
  const Tensor* const first = first_that_counts(tensors);
  if (!first) return meta;
  const size_t d = static_cast<size_t>(wrap_dim("cat", dim, first->dim()));
  meta.sizes.assign(first->sizes().begin(), first->sizes().end());
  meta.sizes[d] = 0;
  for (const Tensor& t : tensors) {
    if (is_skipped(t)) continue;
    SB_CHECK(t.dim() == first->dim(), "cat: expected tensors of equally many dimensions, got ",
             first->describe(), " and ", t.describe());
    for (size_t i = 0; i < meta.sizes.size(); ++i) {
      SB_CHECK(i == d || t.sizes()[i] == meta.sizes[i], "cat: sizes of ", first->describe(),
               " and ", t.describe(), " differ in another dimension than ", d);
    }
    meta.sizes[d] = checked_add(meta.sizes[d], t.sizes()[d]);
  }
  return meta;
}
TensorMeta cat_rule(TensorList tensors, int64_t dim) {
  TensorMeta meta = cat_out_rule(tensors, dim);
  meta.strides = strides_in(common_format(tensors), meta.sizes);
  return meta;
}

void cat_kernel(TensorList tensors, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  const size_t d = static_cast<size_t>(wrap_dim("cat", dim, out.dim()));
  int64_t offset = out.storage_offset();
  for (const Tensor& t : tensors) {
    if (is_skipped(t)) continue;
    if (t.numel() != 0) {
      copy_elements(alias_with_unchecked(out, t.sizes(), out.strides(), offset), t, false);
    }
    offset += t.sizes()[d] * out.strides()[d];
  }
}

void check_stackable(TensorList tensors) {
  for (const Tensor& t : tensors) {
    SB_CHECK(t.sizes() == tensors[0].sizes(), "stack: expected tensors of equal size, got ",
             tensors[0].describe(), " and ", t.describe());
  }
}

TensorMeta stack_out_rule(TensorList tensors, int64_t dim) {
  const int64_t d = wrap_dim("stack", dim, tensors[0].dim() + 1);
  check_stackable(tensors);
  TensorMeta meta{{tensors[0].sizes().begin(), tensors[0].sizes().end()}, common_dtype(tensors)};
  meta.sizes.insert(meta.sizes.begin() + d, static_cast<int64_t>(tensors.size()));
  return meta;
}
// In PyTorch a view of what cat gives, strides included.
TensorMeta stack_rule(TensorList tensors, int64_t dim) {
  TensorMeta meta = stack_out_rule(tensors, dim);
  const int64_t d = wrap_dim("stack", dim, tensors[0].dim() + 1);
  const MemoryFormat format = common_format(tensors);
  if (d == tensors[0].dim() || format == MemoryFormat::Contiguous) return meta;
  DimVector joined(tensors[0].sizes().begin(), tensors[0].sizes().end());
  const size_t at = static_cast<size_t>(d);
  joined[at] = checked_mul(joined[at], static_cast<int64_t>(tensors.size()));
  meta.strides = strides_in(format, joined);
  meta.strides.insert(meta.strides.begin() + d, meta.strides[at] * tensors[0].sizes()[at]);
  return meta;
}

void stack_kernel(TensorList tensors, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t d = wrap_dim("stack", dim, out.dim());
  DimVector strides(out.strides().begin(), out.strides().end());
  const int64_t step = strides[static_cast<size_t>(d)];
  strides.erase(strides.begin() + d);
  int64_t offset = out.storage_offset();
  for (const Tensor& t : tensors) {
    copy_elements(alias_with_unchecked(out, t.sizes(), strides, offset), t, false);
    offset += step;
  }
}

constexpr StructuredOptions kOptions = {.cast_to_out = true, .refuse_overlap = true};

// A new result may be channels-last as the inputs are; a given out is not made so.
template <auto rule, auto out_rule, auto kernel, class Tag>
void define_join(Library& m, const Op<Tag>& op) {
  using Forms = internal::StructuredForms<TensorMeta (*)(TensorList, int64_t)>;
  using OutTag = typename Tag::Out;
  constexpr Op<OutTag> out;
  m.define(op);
  m.impl(op, DispatchKey::CPU,
         typename Forms::template Functional<Tag, rule, kernel, StructuredOptions{}, true>());
  m.impl(op, DispatchKey::Meta,
         typename Forms::template Functional<Tag, rule, kernel, StructuredOptions{}, false>());
  // Where an empty list goes.
  m.impl(op, DispatchKey::Undefined, [](TensorList, int64_t) -> Tensor {
    SB_THROW(RuntimeError, Op<Tag>::name(), ": expected a non-empty list of tensors");
  });
  m.define(out);
  m.impl(out, DispatchKey::CPU,
         typename Forms::template Out<OutTag, out_rule, kernel, kOptions, true>());
  m.impl(out, DispatchKey::Meta,
         typename Forms::template Out<OutTag, out_rule, kernel, kOptions, false>());
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_join<cat_rule, cat_out_rule, cat_kernel>(m, cat);
  define_join<stack_rule, stack_out_rule, stack_kernel>(m, stack);
}

}  // namespace sb
