#include "switchboard/ops/indexing/index_along.h"

#include <algorithm>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/indexing/accumulate.h"
#include "switchboard/ops/indexing/along_dim.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

template <SizeType Int>
BasicTensorMeta<Int> like(const Tensor& self) {
  return {size_vector<Int>(self), self.dtype()};
}
template <SizeType Int>
Int size_along(const Tensor& t, int64_t dim) {
  return t.dim() == 0 ? Int(1)
                      : sizes_of<Int>(t)[static_cast<size_t>(wrap_dim("size", dim, t.dim()))];
}
int64_t size_along(const Tensor& t, int64_t dim) { return size_along<int64_t>(t, dim); }

// The shape without one dimension.
template <SizeType Int>
SizeVector<Int> without(SizesRef<Int> sizes, int64_t dim) {
  SizeVector<Int> rest(sizes.begin(), sizes.end());
  if (!rest.empty()) rest.erase(rest.begin() + dim);
  return rest;
}
DimVector without(IntArrayRef sizes, int64_t dim) { return without<int64_t>(sizes, dim); }

template <SizeType Int>
BasicTensorMeta<Int> combine_rule(const char* op, const Tensor& self, int64_t dim,
                                  const Tensor& index, const Tensor& source) {
  const int64_t d = wrap_dim(op, dim, self.dim());
  SB_CHECK_INDEX(index.dim() <= 1, op, ": index: expected a vector, got ", index.describe());
  SB_CHECK(is_place_dtype(index.dtype()), op, ": index: expected int32 or int64, got ",
           index.describe());
  SB_CHECK(self.dtype() == source.dtype(), op, ": source: expected ", to_string(self.dtype()),
           ", got ", source.describe());
  SB_CHECK(d == 0 || d < source.dim(), op, ": source ", source.describe(), " has no dimension ", d);
  const Int count = numel_of<Int>(index);
  if (source.dim() == 0) {
    // PyTorch's own message fails where source has no dimension.
    SB_CHECK_INDEX(count == Int(1), op, ": ", size_text(count), " indices, but source is ",
                   source.describe());
  } else {
    SB_CHECK(count == size_along<Int>(source, d), op, ": ", size_text(count),
             " indices, but source is ", source.describe());
  }
  SizeVector<Int> part = size_vector<Int>(self), given = size_vector<Int>(source);
  if (self.dim() != 0 && source.dim() != 0) {
    part = without<Int>(SizesRef<Int>(part), d);
    given = without<Int>(SizesRef<Int>(given), d);
  }
  SB_CHECK(equal_sizes<Int>(SizesRef<Int>(part), SizesRef<Int>(given)), op, ": source ",
           source.describe(), " and self ", self.describe(), " differ in another dimension than ",
           d);
  return like<Int>(self);
}

// `source`, whose parts have the shape of self's, with the dimension that it lacks where it is a
// number.
Tensor as_parts(const Tensor& self, int64_t dim, const Tensor& source) {
  DimVector sizes = without(self.sizes(), dim), strides = without(source.strides(), dim);
  sizes.insert(sizes.begin() + dim, size_along(source, dim));
  strides.insert(strides.begin() + dim, source.dim() == 0 ? 0 : source.stride(dim));
  return alias_with_unchecked(source, sizes, strides, source.storage_offset());
}

// Calls f(source, make_walk) with the parts that match those of `out`.
template <class F>
void with_walk(const Tensor& out, int64_t d, const Tensor& index, const Tensor& source, F&& f) {
  f(as_parts(out, d, source), [&](const Tensor& table, const Tensor& other) {
    IndexedWalk walk = walk_along(table, d, index, IndexShape::Vector, other);
    walk.serial.set(static_cast<size_t>(d));
    set_repeated_serial(&walk);
    return walk;
  });
}

// Of the data: every index is in range.
template <auto& op, class... Rest>
void check(const Tensor& self, int64_t dim, const Tensor& index, const Rest&...) {
  check_indices<IndexError>(op.name(), as_int64(index), 0, size_along(self, from_first(dim, self)));
}

void combine(Accumulation kind, int64_t dim, const Tensor& index, const Tensor& source,
             bool include_self, const Tensor& out) {
  if (out.numel() == 0 || index.numel() == 0) return;
  const int64_t d = from_first(dim, out);
  with_walk(out, d, as_int64(index), source, [&](const Tensor& parts, MakeWalk make_walk) {
    accumulate_indexed(kind, out, parts, include_self, make_walk);
  });
}

template <SizeType Int>
BasicTensorMeta<Int> index_add_rule(const Tensor& self, int64_t dim, const Tensor& index,
                                    const Tensor& source, const Scalar& alpha) {
  BasicTensorMeta<Int> meta = combine_rule<Int>("index_add", self, dim, index, source);
  check_scalar_fits(alpha, self.dtype());
  return meta;
}
void index_add_kernel(const Tensor&, int64_t dim, const Tensor& index, const Tensor& source,
                      const Scalar& alpha, const Tensor& out) {
  const bool plain = !alpha.is_complex() && alpha.to<double>() == 1;
  Tensor scaled = source;
  if (!plain) {
    const DType dtype = compute_dtype(out.dtype());
    const Tensor factor = empty_on(Device(DeviceType::CPU), {}, dtype);
    store_scalar(alpha, dtype, factor.data_ptr());
    scaled = mul(dtype == source.dtype() ? source : cast_copy(source, dtype), factor);
  }
  combine(Accumulation::Sum, dim, index, scaled, true, out);
}

Accumulation parse_reduction(std::string_view reduce) {
  return parse_accumulation("index_reduce", reduce, /*with_sum=*/false);
}
template <SizeType Int>
BasicTensorMeta<Int> index_reduce_rule(const Tensor& self, int64_t dim, const Tensor& index,
                                       const Tensor& source, std::string_view reduce,
                                       bool include_self) {
  const Accumulation kind = parse_reduction(reduce);
  BasicTensorMeta<Int> meta = combine_rule<Int>("index_reduce", self, dim, index, source);
  // PyTorch has fewer dtypes where it walks over elements than where it walks over parts.
  const bool any_dtype = include_self && self.dim() > 1;
  const bool real_number = !is_complex(self.dtype()) && self.dtype() != DType::Bool;
  SB_CHECK_NOT_IMPLEMENTED((has_accumulation(kind, self.dtype()) && (any_dtype || real_number)) ||
                               same_size(numel_of<Int>(index), Int(0)),
                           "index_reduce: ", reduce, " is not implemented for ", self.describe());
  return meta;
}
void index_reduce_kernel(const Tensor&, int64_t dim, const Tensor& index, const Tensor& source,
                         std::string_view reduce, bool include_self, const Tensor& out) {
  combine(parse_reduction(reduce), dim, index, source, include_self, out);
}

template <SizeType Int>
BasicTensorMeta<Int> index_copy_rule(const Tensor& self, int64_t dim, const Tensor& index,
                                     const Tensor& source) {
  const int64_t d = wrap_dim("index_copy", dim, self.dim());
  SB_CHECK_INDEX(index.dim() <= 1, "index_copy: index: expected a vector, got ", index.describe());
  const Int count = numel_of<Int>(index);
  if (source.dim() == 0) {
    SB_CHECK_INDEX(count == Int(1), "index_copy: a source without dimensions takes 1 index, got ",
                   size_text(count));
  }
  SB_CHECK_INDEX(source.dim() == self.dim() || source.dim() == 0 || self.dim() == 0,
                 "index_copy: source: expected ", self.dim(), " dimensions, got ",
                 source.describe());
  SB_CHECK(index.dtype() == DType::Int64, "index_copy: index: expected int64, got ",
           index.describe());
  SB_CHECK(self.dtype() == source.dtype(), "index_copy: source: expected ", to_string(self.dtype()),
           ", got ", source.describe());
  const SizeVector<Int> part = without<Int>(sizes_of<Int>(self), d);
  const SizeVector<Int> given = without<Int>(sizes_of<Int>(source), d);
  SB_CHECK(equal_sizes<Int>(SizesRef<Int>(part), SizesRef<Int>(given)),
           "index_copy: parts of source ", source.describe(), " and of self ", self.describe(),
           " differ in shape");
  SB_CHECK_INDEX(count == size_along<Int>(source, d), "index_copy: ", size_text(count),
                 " indices, but source is ", source.describe());
  return like<Int>(self);
}
void check_index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  if (source.numel() == 0) return;
  const int64_t size = size_along(self, from_first(dim, self));
  if (size == 0) check_indices<RuntimeError>("index_copy", index, 0, 0);
  check_indices<IndexError>("index_copy", index, 0, size);
}
void index_copy_kernel(const Tensor&, int64_t dim, const Tensor& index, const Tensor& source,
                       const Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t d = from_first(dim, out);
  with_walk(out, d, index, source,
            [&](const Tensor& parts, MakeWalk make_walk) { write_indexed(out, parts, make_walk); });
}

// The dimension, wrapped.
int64_t check_index_fill(const Tensor& self, int64_t dim, const Tensor& index, DType value) {
  check_defined("index_fill: self", self);
  check_defined("index_fill: index", index);
  internal::check_arguments("index_fill", {&self, &index});
  SB_CHECK_INDEX(index.dtype() == DType::Int64, "index_fill: index: expected int64, got ",
                 index.describe());
  check_no_overlap(self, index);
  SB_CHECK(is_complex(self.dtype()) || !is_complex(value),
           "index_fill: value: a complex number does not go into ", self.describe());
  const int64_t d = wrap_dim("index_fill", dim, self.dim());
  SB_CHECK(index.dim() <= 1, "index_fill: index: expected a vector, got ", index.describe());
  return d;
}
// A tensor whose elements overlap is filled all the same, as in PyTorch.
Tensor index_fill_cpu(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  const int64_t d = check_index_fill(self, dim, index, value.dtype());
  const Tensor number = empty_on(Device(DeviceType::CPU), {}, self.dtype());
  store_scalar(value, self.dtype(), number.data_ptr());
  const int64_t size = size_along(self, d);
  if (size == 0) check_indices<RuntimeError>("index_fill", index, 0, 0);
  if (self.numel() == 0) return self;
  check_indices<IndexError>("index_fill", index, -size, size);
  const Tensor places = cast_copy(index, DType::Int64);
  int64_t* const place = places.data<int64_t>();
  for (int64_t i = 0; i < places.numel(); ++i) place[i] += place[i] < 0 ? size : 0;
  DimVector part = without(self.sizes(), d);
  part.insert(part.begin() + d, places.numel());
  const Tensor source =
      alias_with_unchecked(number, part, DimVector(part.size(), 0), number.storage_offset());
  with_walk(self, d, places, source, [&](const Tensor& parts, MakeWalk make_walk) {
    write_indexed(self, parts, make_walk);
  });
  return self;
}
Tensor index_fill_meta(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  check_index_fill(self, dim, index, value.dtype());
  return self;
}

void check_is_number(const Tensor& value) {
  check_defined("index_fill: value", value);
  SB_CHECK(value.dim() == 0, "index_fill: value: expected no dimensions, got ", value.describe());
}
Tensor index_fill_tensor_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                             const Tensor& value) {
  check_is_number(value);
  return index_fill_cpu(self, dim, index, load_scalar(value.dtype(), value.data_ptr()));
}
Tensor index_fill_tensor_meta(const Tensor& self, int64_t dim, const Tensor& index,
                              const Tensor& value) {
  check_is_number(value);
  check_index_fill(self, dim, index, value.dtype());
  return self;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, index_add)
      .partial_write<by_size_rule<index_add_rule<int64_t>, index_add_rule<SymInt>>,
                     check<index_add, Tensor, Scalar>, index_add_kernel>()
      .inplace(index_add_)
      .out(index_add_out);
  define(m, index_reduce)
      .partial_write<by_size_rule<index_reduce_rule<int64_t>, index_reduce_rule<SymInt>>,
                     check<index_reduce, Tensor, std::string_view, bool>, index_reduce_kernel>()
      .inplace(index_reduce_)
      .out(index_reduce_out);
  define(m, index_copy)
      .partial_write<by_size_rule<index_copy_rule<int64_t>, index_copy_rule<SymInt>>,
                     check_index_copy, index_copy_kernel>()
      .inplace(index_copy_)
      .out(index_copy_out);
  define(m, index_fill).on_clone(index_fill_).out(index_fill_out);
  define(m, index_fill_).cpu(index_fill_cpu).meta(index_fill_meta);
  define(m, index_fill_Tensor).on_clone(index_fill_Tensor_).out(index_fill_Tensor_out);
  define(m, index_fill_Tensor_).cpu(index_fill_tensor_cpu).meta(index_fill_tensor_meta);
}

}  // namespace sb
