#include "switchboard/ops/indexing/scatter.h"

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/cast.h"
#include "switchboard/ops/indexing/accumulate.h"
#include "switchboard/ops/indexing/along_dim.h"
#include "switchboard/ops/indexing/partial_write.h"

namespace sb {
namespace {

TensorMeta rule(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                const Tensor* src) {
  const int64_t d = wrap_dim(op, dim, self.dim());
  SB_CHECK(index.numel() == 0 || index.dtype() == DType::Int64, op, ": index: expected int64, got ",
           index.describe());
  SB_CHECK(!src || src->dtype() == self.dtype(), op, ": src: expected ", to_string(self.dtype()),
           ", got ", to_string(src ? src->dtype() : self.dtype()));
  TensorMeta meta{{self.sizes().begin(), self.sizes().end()}, self.dtype()};
  if (index.numel() == 0) return meta;  // of any shape and dtype
  const auto check_fits = [&](const char* name, const Tensor& t, bool any_size_of_dim) {
    SB_CHECK(std::max<int64_t>(t.dim(), 1) == std::max<int64_t>(index.dim(), 1), op,
             ": index: expected as many dimensions as ", name, " ", t.describe(), ", got ",
             index.describe());
    for (int64_t i = 0; i < index.dim(); ++i) {
      const int64_t size = t.dim() == 0 ? 1 : t.size(i);
      SB_CHECK((any_size_of_dim && i == d) || index.size(i) <= size, op, ": index ",
               index.describe(), " is larger than ", name, " ", t.describe(), " in dimension ", i);
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
void check_value(const Tensor& self, const Tensor& index, const Scalar& value) {
  if (index.numel() != 0) check_scalar_fits(value, self.dtype());
}

// Of the data: every index is in range.
template <auto& op, class... Rest>
void check_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Rest&...) {
  if (index.numel() == 0) return;
  const int64_t size = self.dim() == 0 ? 1 : self.size(from_first(dim, self));
  check_indices<RuntimeError>(op.name(), index, 0, size);
}

// Calls f(make_walk) where there is something to write.
template <class F>
void with_walk(const Tensor& out, int64_t dim, const Tensor& index, F&& f) {
  if (index.numel() == 0) return;
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

TensorMeta scatter_rule(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return rule("scatter", self, dim, index, &src);
}
void scatter_kernel(const Tensor&, int64_t dim, const Tensor& index, const Tensor& src,
                    const Tensor& out) {
  write(dim, index, src, out);
}

TensorMeta scatter_value_rule(const Tensor& self, int64_t dim, const Tensor& index,
                              const Scalar& value) {
  TensorMeta meta = rule("scatter", self, dim, index, nullptr);
  check_value(self, index, value);
  return meta;
}
void scatter_value_kernel(const Tensor&, int64_t dim, const Tensor& index, const Scalar& value,
                          const Tensor& out) {
  if (index.numel() == 0) return;
  write(dim, index, expanded_scalar(value, out.dtype(), index), out);
}

TensorMeta scatter_reduce_operator_rule(const Tensor& self, int64_t dim, const Tensor& index,
                                        const Tensor& src, std::string_view reduce) {
  TensorMeta meta = rule("scatter", self, dim, index, &src);
  parse_operator("scatter", reduce);
  return meta;
}
void scatter_reduce_operator_kernel(const Tensor&, int64_t dim, const Tensor& index,
                                    const Tensor& src, std::string_view kind, const Tensor& out) {
  reduce(parse_operator("scatter", kind), dim, index, src, true, out);
}

TensorMeta scatter_value_reduce_rule(const Tensor& self, int64_t dim, const Tensor& index,
                                     const Scalar& value, std::string_view reduce) {
  TensorMeta meta = scatter_value_rule(self, dim, index, value);
  parse_operator("scatter", reduce);
  return meta;
}
void scatter_value_reduce_kernel(const Tensor&, int64_t dim, const Tensor& index,
                                 const Scalar& value, std::string_view kind, const Tensor& out) {
  if (index.numel() == 0) return;
  reduce(parse_operator("scatter", kind), dim, index, expanded_scalar(value, out.dtype(), index),
         true, out);
}

TensorMeta scatter_add_rule(const Tensor& self, int64_t dim, const Tensor& index,
                            const Tensor& src) {
  return rule("scatter_add", self, dim, index, &src);
}
void scatter_add_kernel(const Tensor&, int64_t dim, const Tensor& index, const Tensor& src,
                        const Tensor& out) {
  reduce(Accumulation::Sum, dim, index, src, true, out);
}

TensorMeta scatter_reduce_rule(const Tensor& self, int64_t dim, const Tensor& index,
                               const Tensor& src, std::string_view reduce, bool) {
  TensorMeta meta = rule("scatter_reduce", self, dim, index, &src);
  const Accumulation kind = parse_scatter_reduction(reduce);
  SB_CHECK(index.numel() == 0 || has_accumulation(kind, self.dtype()), "scatter_reduce: ", reduce,
           " is not implemented for ", to_string(self.dtype()));
  return meta;
}
void scatter_reduce_kernel(const Tensor&, int64_t dim, const Tensor& index, const Tensor& src,
                           std::string_view kind, bool include_self, const Tensor& out) {
  reduce(parse_scatter_reduction(kind), dim, index, src, include_self, out);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_partial_write<scatter_rule, check_scatter<scatter, Tensor>, scatter_kernel>(m, scatter);
  define_partial_write<scatter_value_rule, check_scatter<scatter_value, Scalar>,
                       scatter_value_kernel>(m, scatter_value);
  define_partial_write<scatter_reduce_operator_rule,
                       check_scatter<scatter_with_reduce, Tensor, std::string_view>,
                       scatter_reduce_operator_kernel>(m, scatter_with_reduce);
  define_partial_write<scatter_value_reduce_rule,
                       check_scatter<scatter_value_reduce, Scalar, std::string_view>,
                       scatter_value_reduce_kernel>(m, scatter_value_reduce);
  define_partial_write<scatter_add_rule, check_scatter<scatter_add, Tensor>, scatter_add_kernel>(
      m, scatter_add);
  define_partial_write<scatter_reduce_rule,
                       check_scatter<scatter_reduce, Tensor, std::string_view, bool>,
                       scatter_reduce_kernel>(m, scatter_reduce);
}

}  // namespace sb
