#include "switchboard/ops/views/cat.h"

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

// A tensor of shape [0] fits any others, for old programs' sake.
template <SizeType Int>
bool is_skipped(const Tensor& t) {
  return t.dim() == 1 && same_size(sizes_of<Int>(t)[0], Int(0));
}

template <SizeType Int>
const Tensor* first_that_counts(TensorList tensors) {
  for (const Tensor& t : tensors) {
    if (!is_skipped<Int>(t)) return &t;
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

template <SizeType Int>
BasicTensorMeta<Int> cat_out_rule(TensorList tensors, int64_t dim) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    SB_CHECK(tensors[i].dim() > 0, "cat: tensor ", i, " has no dimensions");
  }
  BasicTensorMeta<Int> meta{{Int(0)}, common_dtype(tensors)};
  const Tensor* const first = first_that_counts<Int>(tensors);
  if (!first) return meta;
  const size_t d = static_cast<size_t>(wrap_dim("cat", dim, first->dim()));
  meta.sizes = size_vector<Int>(*first);
  meta.sizes[d] = Int(0);
  for (const Tensor& t : tensors) {
    if (is_skipped<Int>(t)) continue;
    SB_CHECK(t.dim() == first->dim(), "cat: expected tensors of equally many dimensions, got ",
             first->describe(), " and ", t.describe());
    const SizesRef<Int> sizes = sizes_of<Int>(t);
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (i == d) continue;
      SB_CHECK(sizes[i] == meta.sizes[i], "cat: sizes of ", first->describe(), " and ",
               t.describe(), " differ in another dimension than ", d);
      if (!any_symbolic(sizes[i])) meta.sizes[i] = sizes[i];
    }
    meta.sizes[d] = sum_of(meta.sizes[d], sizes[d]);
  }
  return meta;
}
template <SizeType Int>
BasicTensorMeta<Int> cat_rule(TensorList tensors, int64_t dim) {
  BasicTensorMeta<Int> meta = cat_out_rule<Int>(tensors, dim);
  meta.strides = strides_in_format<Int>(meta.sizes, common_format(tensors));
  return meta;
}

void cat_kernel(TensorList tensors, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  const size_t d = static_cast<size_t>(wrap_dim("cat", dim, out.dim()));
  int64_t offset = out.storage_offset();
  for (const Tensor& t : tensors) {
    if (is_skipped<int64_t>(t)) continue;
    if (t.numel() != 0) {
      copy_elements(alias_with_unchecked(out, t.sizes(), out.strides(), offset), t, false);
    }
    offset += t.sizes()[d] * out.strides()[d];
  }
}

template <SizeType Int>
void check_stackable(TensorList tensors) {
  for (const Tensor& t : tensors) {
    SB_CHECK(equal_sizes<Int>(sizes_of<Int>(t), sizes_of<Int>(tensors[0])),
             "stack: expected tensors of equal size, got ", tensors[0].describe(), " and ",
             t.describe());
  }
}

template <SizeType Int>
BasicTensorMeta<Int> stack_out_rule(TensorList tensors, int64_t dim) {
  const int64_t d = wrap_dim("stack", dim, tensors[0].dim() + 1);
  check_stackable<Int>(tensors);
  BasicTensorMeta<Int> meta{size_vector<Int>(tensors[0]), common_dtype(tensors)};
  meta.sizes.insert(meta.sizes.begin() + d, Int(static_cast<int64_t>(tensors.size())));
  return meta;
}
// In PyTorch a view of what cat gives, strides included.
template <SizeType Int>
BasicTensorMeta<Int> stack_rule(TensorList tensors, int64_t dim) {
  BasicTensorMeta<Int> meta = stack_out_rule<Int>(tensors, dim);
  const int64_t d = wrap_dim("stack", dim, tensors[0].dim() + 1);
  const MemoryFormat format = common_format(tensors);
  if (d == tensors[0].dim() || format == MemoryFormat::Contiguous) return meta;
  SizeVector<Int> joined = size_vector<Int>(tensors[0]);
  const size_t at = static_cast<size_t>(d);
  const Int size = joined[at];
  joined[at] = product_of(size, Int(static_cast<int64_t>(tensors.size())));
  meta.strides = strides_in_format<Int>(joined, format);
  const Int step = meta.strides[at] * size;
  meta.strides.insert(meta.strides.begin() + d, step);
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

void check_some_to_cat(TensorList tensors) {
  SB_CHECK_VALUE(!tensors.empty(), "cat: expected a non-empty list of tensors");
}
void check_some_to_stack(TensorList tensors) {
  SB_CHECK(!tensors.empty(), "stack: expected a non-empty list of tensors");
}

// A new result may be channels-last as the inputs are; a given out is not made so. An empty list,
// which names no device, is refused by `check`.
template <auto check, auto rule, auto out_rule, auto kernel, const auto& op, const auto& out>
void define_join(Library& m) {
  define(m, op).template structured<rule, kernel>().kernel(
      DispatchKey::Undefined, [](TensorList tensors, int64_t) -> Tensor {  // where such a list goes
        check(tensors);
        SB_THROW(RuntimeError, op.name(), ": expected tensors, got undefined ones");
      });
  const auto into = []<bool with_data>(TensorList tensors, int64_t dim, const Tensor& to) {
    check(tensors);
    return structured_form<out_rule, kernel>(out, with_data, kOptions)(tensors, dim, to);
  };
  define(m, out)
      .cpu([into](TensorList tensors, int64_t dim, const Tensor& to) {
        return into.template operator()<true>(tensors, dim, to);
      })
      .meta([into](TensorList tensors, int64_t dim, const Tensor& to) {
        return into.template operator()<false>(tensors, dim, to);
      });
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_join<check_some_to_cat, by_size_rule<cat_rule<int64_t>, cat_rule<SymInt>>,
              by_size_rule<cat_out_rule<int64_t>, cat_out_rule<SymInt>>, cat_kernel, cat, cat_out>(
      m);
  define_join<check_some_to_stack, by_size_rule<stack_rule<int64_t>, stack_rule<SymInt>>,
              by_size_rule<stack_out_rule<int64_t>, stack_out_rule<SymInt>>, stack_kernel, stack,
              stack_out>(m);
}

}  // namespace sb
