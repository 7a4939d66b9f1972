#include "switchboard/ops/indexing/scatter.h"

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/indexing/accumulate.h"
#include "switchboard/ops/indexing/along_dim.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

// Whether an index has no element. One with symbols is asked only where that would make it fit.
template <SizeType Int>
bool is_empty(const Tensor& index) {
  return same_size(numel_of<Int>(index), Int(0));
}

template <SizeType Int>
BasicTensorMeta<Int> rule(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                          const Tensor* src) {
  const int64_t d = wrap_dim(op, dim, self.dim());
  SB_CHECK(is_place_dtype(index.dtype()) || is_empty<Int>(index), op,
           ": index: expected int32 or int64, got ", index.describe());
  SB_CHECK(!src || src->dtype() == self.dtype(), op, ": src: expected ", to_string(self.dtype()),
           ", got ", to_string(src ? src->dtype() : self.dtype()));
  BasicTensorMeta<Int> meta{size_vector<Int>(self), self.dtype()};
  // A tensor without dimensions is one of one element in one dimension.
  const auto rank = [](const Tensor& t) { return std::max<int64_t>(t.dim(), 1); };
  const auto size_of = [](const Tensor& t, int64_t i) {
    return t.dim() == 0 ? Int(1) : sizes_of<Int>(t)[static_cast<size_t>(i)];
  };
  // Whether index fits whether it has elements or not.
  const auto surely_fits = [&](const Tensor& t, bool any_size_of_dim) {
    if (rank(t) != rank(index)) return false;
    for (int64_t i = 0; i < rank(index); ++i) {
      if (any_size_of_dim && i == d) continue;
      if (!known(size_of(index, i) <= size_of(t, i))) return false;
    }
    return true;
  };
  if (std::same_as<Int, SymInt> && surely_fits(self, true) && (!src || surely_fits(*src, false)))
    return meta;
  if (is_empty<Int>(index)) return meta;  // of any shape and dtype
  const auto check_fits = [&](const char* name, const Tensor& t, bool any_size_of_dim) {
    SB_CHECK(rank(t) == rank(index), op, ": index: expected as many dimensions as ", name, " ",
             t.describe(), ", got ", index.describe());
    for (int64_t i = 0; i < rank(index); ++i) {
      if (any_size_of_dim && i == d) continue;
      SB_CHECK(size_of(index, i) <= size_of(t, i), op, ": index ", index.describe(),
               " is larger than ", name, " ", t.describe(), " in dimension ", i);
    }
  };
  check_fits("self", self, true);
  if (src) check_fits("src", *src, false);
  return meta;
}

// The reductions of scatter, and those of scatter_reduce.
Accumulation parse_operator(const char* op, std::string_view reduce) {
  if (reduce == "add") return Accumulation::Sum;
  SB_CHECK(reduce == "multiply", op, ": reduce: expected add or multiply, got ", reduce);
  return Accumulation::Product;
}
Accumulation parse_scatter_reduction(std::string_view reduce) {
  return parse_accumulation("scatter_reduce", reduce, /*with_sum=*/true);
}

// The number at all places of a tensor of index's shape.
Tensor expanded_scalar(const Scalar& value, DType dtype, const Tensor& index) {
  const Tensor t = empty_on(Device(DeviceType::CPU), {}, dtype);
  store_scalar(value, dtype, t.data_ptr());
  return alias_with_unchecked(t, index.sizes(), DimVector(index.sizes().size(), 0), 0);
}
template <SizeType Int>
void check_value(const Tensor& self, const Tensor& index, const Scalar& value) {
  if (!is_empty<Int>(index)) check_scalar_fits(value, self.dtype());
}

// Of the data: every index is in range.
template <auto& op, class... Rest>
void check_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Rest&...) {
  if (index.numel() == 0) return;
  const int64_t size = self.dim() == 0 ? 1 : self.size(from_first(dim, self));
  check_indices<RuntimeError>(op.name(), as_int64(index), 0, size);
}

// Calls f(make_walk) where there is something to write.
template <class F>
void with_walk(const Tensor& out, int64_t dim, const Tensor& places, F&& f) {
  if (places.numel() == 0) return;
  const Tensor index = as_int64(places);
  const int64_t d = from_first(dim, out);
  f([&](const Tensor& table, const Tensor& other) {
    IndexedWalk walk = walk_along(table, d, index, IndexShape::Full, other);
    walk.serial.set(static_cast<size_t>(d));
    return walk;
  });
}
void write(int64_t dim, const Tensor& index, const Tensor& src, const Tensor& out) {
  with_walk(out, dim, index, [&](MakeWalk make_walk) { write_indexed(out, src, make_walk); });
}
void reduce(Accumulation kind, int64_t dim, const Tensor& index, const Tensor& src,
            bool include_self, const Tensor& out) {
  with_walk(out, dim, index, [&](MakeWalk make_walk) {
    accumulate_indexed(kind, out, src, include_self, make_walk);
  });
}

template <SizeType Int>
BasicTensorMeta<Int> scatter_rule(const Tensor& self, int64_t dim, const Tensor& index,
                                  const Tensor& src) {
  return rule<Int>("scatter", self, dim, index, &src);
}
void scatter_kernel(const Tensor&, int64_t dim, const Tensor& index, const Tensor& src,
                    const Tensor& out) {
  write(dim, index, src, out);
}

template <SizeType Int>
BasicTensorMeta<Int> scatter_value_rule(const Tensor& self, int64_t dim, const Tensor& index,
                                        const Scalar& value) {
  BasicTensorMeta<Int> meta = rule<Int>("scatter", self, dim, index, nullptr);
  check_value<Int>(self, index, value);
  return meta;
}
void scatter_value_kernel(const Tensor&, int64_t dim, const Tensor& index, const Scalar& value,
                          const Tensor& out) {
  if (index.numel() == 0) return;
  write(dim, index, expanded_scalar(value, out.dtype(), index), out);
}

template <SizeType Int>
BasicTensorMeta<Int> scatter_reduce_operator_rule(const Tensor& self, int64_t dim,
                                                  const Tensor& index, const Tensor& src,
                                                  std::string_view reduce) {
  BasicTensorMeta<Int> meta = rule<Int>("scatter", self, dim, index, &src);
  parse_operator("scatter", reduce);
  return meta;
}
void scatter_reduce_operator_kernel(const Tensor&, int64_t dim, const Tensor& index,
                                    const Tensor& src, std::string_view kind, const Tensor& out) {
  reduce(parse_operator("scatter", kind), dim, index, src, true, out);
}

template <SizeType Int>
BasicTensorMeta<Int> scatter_value_reduce_rule(const Tensor& self, int64_t dim, const Tensor& index,
                                               const Scalar& value, std::string_view reduce) {
  BasicTensorMeta<Int> meta = scatter_value_rule<Int>(self, dim, index, value);
  parse_operator("scatter", reduce);
  return meta;
}
void scatter_value_reduce_kernel(const Tensor&, int64_t dim, const Tensor& index,
                                 const Scalar& value, std::string_view kind, const Tensor& out) {
  if (index.numel() == 0) return;
  reduce(parse_operator("scatter", kind), dim, index, expanded_scalar(value, out.dtype(), index),
         true, out);
}

template <SizeType Int>
BasicTensorMeta<Int> scatter_add_rule(const Tensor& self, int64_t dim, const Tensor& index,
                                      const Tensor& src) {
  return rule<Int>("scatter_add", self, dim, index, &src);
}
void scatter_add_kernel(const Tensor&, int64_t dim, const Tensor& index, const Tensor& src,
                        const Tensor& out) {
  reduce(Accumulation::Sum, dim, index, src, true, out);
}

template <SizeType Int>
BasicTensorMeta<Int> scatter_reduce_rule(const Tensor& self, int64_t dim, const Tensor& index,
                                         const Tensor& src, std::string_view reduce, bool) {
  BasicTensorMeta<Int> meta = rule<Int>("scatter_reduce", self, dim, index, &src);
  const Accumulation kind = parse_scatter_reduction(reduce);
  SB_CHECK_NOT_IMPLEMENTED(has_accumulation(kind, self.dtype()) || is_empty<Int>(index),
                           "scatter_reduce: ", reduce, " is not implemented for ",
                           to_string(self.dtype()));
  return meta;
}
void scatter_reduce_kernel(const Tensor&, int64_t dim, const Tensor& index, const Tensor& src,
                           std::string_view kind, bool include_self, const Tensor& out) {
  reduce(parse_scatter_reduction(kind), dim, index, src, include_self, out);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, scatter)
      .partial_write<by_size_rule<scatter_rule<int64_t>, scatter_rule<SymInt>>,
                     check_scatter<scatter, Tensor>, scatter_kernel>()
      .inplace(scatter_)
      .out(scatter_out);
  define(m, scatter_value)
      .partial_write<by_size_rule<scatter_value_rule<int64_t>, scatter_value_rule<SymInt>>,
                     check_scatter<scatter_value, Scalar>, scatter_value_kernel>()
      .inplace(scatter_value_)
      .out(scatter_value_out);
  define(m, scatter_with_reduce)
      .partial_write<
          by_size_rule<scatter_reduce_operator_rule<int64_t>, scatter_reduce_operator_rule<SymInt>>,
          check_scatter<scatter_with_reduce, Tensor, std::string_view>,
          scatter_reduce_operator_kernel>()
      .inplace(scatter_with_reduce_)
      .out(scatter_with_reduce_out);
  define(m, scatter_value_reduce)
      .partial_write<
          by_size_rule<scatter_value_reduce_rule<int64_t>, scatter_value_reduce_rule<SymInt>>,
          check_scatter<scatter_value_reduce, Scalar, std::string_view>,
          scatter_value_reduce_kernel>()
      .inplace(scatter_value_reduce_)
      .out(scatter_value_reduce_out);
  define(m, scatter_add)
      .partial_write<by_size_rule<scatter_add_rule<int64_t>, scatter_add_rule<SymInt>>,
                     check_scatter<scatter_add, Tensor>, scatter_add_kernel>()
      .inplace(scatter_add_)
      .out(scatter_add_out);
  define(m, scatter_reduce)
      .partial_write<by_size_rule<scatter_reduce_rule<int64_t>, scatter_reduce_rule<SymInt>>,
                     check_scatter<scatter_reduce, Tensor, std::string_view, bool>,
                     scatter_reduce_kernel>()
      .inplace(scatter_reduce_)
      .out(scatter_reduce_out);
}

}  // namespace sb
