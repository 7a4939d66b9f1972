#include "switchboard/ops/indexing/index.h"

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/indexing/accumulate.h"
#include "switchboard/ops/indexing/advanced_index.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/indexing/offsets.h"

namespace sb {
namespace {

TensorMeta index_rule(const Tensor& self, OptionalTensorList indices) {
  AdvancedIndex plan = plan_index("index", self, indices);
  return {std::move(plan.sizes), self.dtype(), std::move(plan.result_strides)};
}
SymTensorMeta index_rule_for_symbols(const Tensor& self, OptionalTensorList indices) {
  IndexedShape<SymInt> shape = indexed_shape<SymInt>("index", self, indices);
  SymDimVector strides = symbolic_result_strides(self, shape);
  return {std::move(shape.sizes), self.dtype(), std::move(strides)};
}
void index_kernel(const Tensor& self, OptionalTensorList indices, const Tensor& out) {
  if (out.numel() == 0) return;
  const AdvancedIndex plan = plan_index("index", self, indices);
  const Tensor offsets = index_offsets("index", self, plan);
  run_indexed(walk_index(self, plan, offsets, out), read_loop(self.itemsize()));
}

template <bool with_data>
constexpr auto index_into_new = structured_form<index_rule, index_kernel>(index, with_data);
template <bool with_data>
constexpr auto index_into_out = structured_form<index_rule, index_kernel>(index_out, with_data,
                                                                          {.refuse_overlap = true});

bool any_symbolic_operand(const Tensor& self, OptionalTensorList indices) {
  return self.is_symbolic() ||
         std::ranges::any_of(indices, [](const auto& i) { return any_symbolic(i); });
}

// The shape of what a mask selects depends on data, so masks are gone before the rule.
template <class F>
Tensor without_masks(const Tensor& self, OptionalTensorList indices, F&& f) {
  check_defined("index", self);
  SB_CHECK_INDEX(!indices.empty(), "index: indices: expected at least one");
  check_index_list("index", self, indices);
  if (!has_mask(indices)) return f(indices);
  if (self.is_meta()) {
    SB_THROW(DynamicOutputShapeError,
             "index: the result's shape depends on the mask, which meta tensors do not have");
  }
  internal::TensorArguments tensors = {&self};
  for (const auto& i : indices) internal::collect_tensor(&tensors, i);
  internal::check_arguments("index", tensors);
  return f(expand_masks(indices, nonzero_places));
}
template <bool with_data>
Tensor index_functional(const Tensor& self, OptionalTensorList indices) {
  return without_masks(self, indices, [&](OptionalTensorList expanded) {
    if (!with_data && any_symbolic_operand(self, indices))
      return internal::make_result(index_rule_for_symbols(self, indices), self.device());
    return index_into_new<with_data>(self, expanded);
  });
}
template <bool with_data>
Tensor index_out_form(const Tensor& self, OptionalTensorList indices, const Tensor& out) {
  return without_masks(self, indices, [&](OptionalTensorList expanded) {
    return index_into_out<with_data>(self, expanded, out);
  });
}

// The tensor, or a copy of what may overlap `written`: it is read before anything is written.
Tensor apart_from(const Tensor& written, const Tensor& read) {
  const bool may_overlap = overlap_between(written, read) == Overlap::TooHard;
  return may_overlap ? cast_copy(read, read.dtype()) : read;
}

void write_or_add(const Tensor& self, const Tensor& values, bool accumulate, MakeWalk make_walk) {
  const Tensor given = apart_from(self, values);
  if (accumulate) {
    accumulate_indexed(Accumulation::Sum, self, given, true, make_walk);
  } else {
    write_indexed(self, given, make_walk);
  }
}

// The one mask among absent indices, undefined where there is none or more.
Tensor only_mask(OptionalTensorList indices) {
  Tensor mask;
  for (const auto& i : indices) {
    if (!is_given(i)) continue;
    if (!is_mask(*i) || mask.defined()) return Tensor();
    mask = *i;
  }
  return mask;
}

// Whether index_put is the filling of a mask with a number, which may be of any dtype.
bool is_masked_fill(OptionalTensorList indices, const Tensor& values, bool accumulate) {
  return !accumulate && only_mask(indices).defined() && is_one(values.sym_numel());
}

void check_put(const Tensor& self, OptionalTensorList indices, const Tensor& values,
               bool accumulate) {
  check_defined("index_put: self", self);
  check_defined("index_put: values", values);
  internal::TensorArguments tensors = {&self, &values};
  for (const auto& i : indices) internal::collect_tensor(&tensors, i);
  internal::check_arguments("index_put", tensors);
  check_index_list("index_put", self, indices);
  check_no_overlap(self, values);
  for (const auto& i : indices) {
    if (is_given(i)) check_no_overlap(self, *i);
  }
  SB_CHECK(self.dtype() == values.dtype() || is_masked_fill(indices, values, accumulate),
           "index_put: values: expected ", to_string(self.dtype()), ", got ", values.describe());
}
// Throws RuntimeError unless values broadcast to the indexed part.
template <SizeType Int>
void check_values(SizesRef<Int> part, const Tensor& values) {
  const SizesRef<Int> sizes = sizes_of<Int>(values);
  const auto fits = [&](const auto& truth) {
    SB_CHECK(truth, "index_put: values ", values.describe(), " do not broadcast to ",
             shape_text(part));
  };
  fits(sizes.size() <= part.size());
  for (size_t i = 1; i <= sizes.size(); ++i) {
    const Int &size = sizes[sizes.size() - i], &expected = part[part.size() - i];
    if (!known(size == expected) && !is_one(size)) fits(size == expected);
  }
}
// Of a call without indices, which as in PyTorch can write nothing: throws RuntimeError where there
// is something to write.
template <SizeType Int>
void check_put_without_index(const Tensor& self, const Tensor& values, bool accumulate) {
  check_values<Int>(sizes_of<Int>(self), values);
  const bool one_number = !accumulate && is_one(values.sym_numel());
  SB_CHECK(!one_number && numel_of<Int>(self) == Int(0),
           "index_put: indices: expected at least one index tensor");
}

// A tensor whose elements overlap is written to all the same, as in PyTorch.
Tensor index_put_cpu(const Tensor& self, OptionalTensorList indices, const Tensor& values,
                     bool accumulate, bool) {
  check_put(self, indices, values, accumulate);
  if (is_masked_fill(indices, values, accumulate)) {
    const Tensor number = empty_on(Device(DeviceType::CPU), {}, self.dtype());
    store_scalar(load_scalar(values.dtype(), values.data_ptr()), self.dtype(), number.data_ptr());
    // The mask's dimensions are where it stands among the indices.
    int64_t before = 0;
    while (!is_given(indices[static_cast<size_t>(before)])) ++before;
    fill_masked(self, only_mask(indices), before, number);
    return self;
  }
  if (std::ranges::none_of(indices, [](const auto& i) { return is_given(i); })) {
    check_put_without_index<int64_t>(self, values, accumulate);
    return self;
  }
  const std::vector<std::optional<Tensor>> expanded = expand_masks(indices, nonzero_places);
  const AdvancedIndex plan = plan_index("index_put", self, expanded);
  check_values<int64_t>(plan.sizes, values);
  if (std::ranges::find(plan.sizes, 0) != plan.sizes.end()) return self;
  Tensor offsets;
  write_or_add(self, values, accumulate, [&](const Tensor& table, const Tensor& other) {
    offsets = index_offsets("index_put", table, plan);
    IndexedWalk walk = walk_index(table, plan, offsets, other);
    for (size_t d = plan.begin; d < plan.end; ++d) walk.serial.set(d);
    set_repeated_serial(&walk);
    return walk;
  });
  return self;
}
Tensor index_put_meta(const Tensor& self, OptionalTensorList indices, const Tensor& values,
                      bool accumulate, bool) {
  check_put(self, indices, values, accumulate);
  if (has_mask(indices)) return self;
  const bool no_index = std::ranges::none_of(indices, [](const auto& i) { return is_given(i); });
  by_size(any_symbolic(values) || any_symbolic_operand(self, indices), [&]<class Int>() {
    if (no_index) return check_put_without_index<Int>(self, values, accumulate);
    check_values<Int>(indexed_shape<Int>("index_put", self, indices).sizes, values);
  });
  return self;
}
Tensor index_put_composite(const Tensor& self, OptionalTensorList indices, const Tensor& values,
                           bool accumulate) {
  return _index_put_impl_(self, indices, values, accumulate, false);
}

void check_put_flat(const Tensor& self, const Tensor& index, const Tensor& source) {
  check_defined("put: self", self);
  check_defined("put: index", index);
  check_defined("put: source", source);
  internal::check_arguments("put", {&self, &index, &source});
  SB_CHECK(index.dtype() == DType::Int64, "put: index: expected int64, got ", index.describe());
  SB_CHECK(self.dtype() == source.dtype(), "put: source: expected ", to_string(self.dtype()),
           ", got ", source.describe());
  SB_CHECK_INDEX(source.sym_numel() == index.sym_numel(),
                 "put: index and source: expected equally many elements, got ", index.describe(),
                 " and ", source.describe());
  SB_CHECK_INDEX(sym_or(self.sym_numel() != 0, index.sym_numel() == 0), "put: self ",
                 self.describe(), " has no element to write to");
  check_no_internal_overlap(self);
  check_no_overlap(self, index);
  check_no_overlap(self, source);
}
Tensor put_meta(const Tensor& self, const Tensor& index, const Tensor& source, bool) {
  check_put_flat(self, index, source);
  return self;
}
Tensor put_cpu(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  check_put_flat(self, index, source);
  if (index.numel() == 0) return self;
  const auto flat = [](const Tensor& t) {
    const Tensor dense = t.is_contiguous() ? t : cast_copy(t, t.dtype());
    return alias_with_unchecked(dense, {dense.numel()}, {1}, dense.storage_offset());
  };
  const Tensor places = flat(index);
  Tensor offsets;
  write_or_add(self, flat(source), accumulate, [&](const Tensor& table, const Tensor& other) {
    offsets = flat_offsets("put", table, places);
    IndexedWalk walk = walk_offsets(table, offsets, other);
    walk.serial.set(0);
    return walk;
  });
  return self;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, index).cpu(index_functional<true>).meta(index_functional<false>);
  define(m, index_out).cpu(index_out_form<true>).meta(index_out_form<false>);

  define(m, index_put).on_clone(index_put_).out(index_put_out);
  define(m, index_put_).composite_explicit(index_put_composite);
  define(m, _index_put_impl).on_clone(_index_put_impl_).out(_index_put_impl_out);
  define(m, _index_put_impl_).cpu(index_put_cpu).meta(index_put_meta);

  // What TorchScript calls with a list of tensors.
  const auto optional = [](TensorList indices) {
    return std::vector<std::optional<Tensor>>(indices.begin(), indices.end());
  };
  define(m, "aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor")
      .composed(
          [=](const Tensor& self, TensorList indices) { return index(self, optional(indices)); });
  define(m,
         "aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool "
         "accumulate=False) -> Tensor")
      .composed([=](const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
        return index_put(self, optional(indices), values, accumulate);
      });
  define(m,
         "aten::index_put_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor values, bool "
         "accumulate=False) -> Tensor(a!)")
      .composed([=](const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
        return index_put_(self, optional(indices), values, accumulate);
      });

  define(m, put).on_clone(put_).out(put_out);
  define(m, put_).cpu(put_cpu).meta(put_meta);
}

}  // namespace sb
