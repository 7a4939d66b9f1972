#include "switchboard/ops/reductions.h"

#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/dims.h"
#include "switchboard/ops/memory_overlap.h"
#include "switchboard/ops/out_by_copy.h"
#include "switchboard/ops/reduce.h"
#include "switchboard/ops/structured.h"

// Each kernel is made twice: with arithmetic for CPU, without for Meta.

namespace sb {
namespace {

// A reduction about to run: what is left of the shape, and which dimensions go.
struct Plan {
  const char* op;
  Reduction kind;
  const Tensor& self;
  bool keepdim;
  DimSet reduced;

  Plan(const char* op, Reduction kind, const Tensor& self, IntArrayRef dims, bool keepdim)
      : op(op), kind(kind), self(self), keepdim(keepdim) {
    check_defined(op, self);
    reduced = dim_set(op, dims, self.dim());
    if (dims.empty()) reduced.set();
  }

  TensorMeta meta(DType dtype) const {
    TensorMeta meta{{}, dtype};
    for (size_t d = 0; d < self.sizes().size(); ++d) {
      if (!reduced[d])
        meta.sizes.push_back(self.sizes()[d]);
      else if (keepdim)
        meta.sizes.push_back(1);
    }
    return meta;
  }
};

template <bool with_data>
Tensor run(const Plan& plan, DType dtype) {
  const Tensor result = internal::make_result(plan.meta(dtype), plan.self.device());
  if (with_data) reduce_into(plan.kind, plan.self, plan.reduced, result);
  return result;
}
template <bool with_data>
Tensor run_out(const Plan& plan, DType dtype, const Tensor& out) {
  internal::OutputPlan output(plan.op, out, plan.meta(dtype), plan.self.device(),
                              internal::tensors_of(plan.self), {}, false);
  if (with_data) reduce_into(plan.kind, plan.self, plan.reduced, output.target());
  output.finish(with_data);
  return out;
}

IntArrayRef or_all(const OptionalIntArrayRef& dims) { return dims ? *dims : IntArrayRef(); }

// sum and prod of integers are int64, as `get_dtype_from_self`.
DType accumulated(const Tensor& self, std::optional<DType> dtype) {
  return dtype.value_or(is_integral(self.dtype(), true) ? DType::Int64 : self.dtype());
}

template <bool with_data, Reduction kind>
struct Accumulate {
  static constexpr const char* op = kind == Reduction::Sum ? "sum" : "prod";

  static Tensor all(const Tensor& self, std::optional<DType> dtype) {
    return run<with_data>(Plan(op, kind, self, {}, false), accumulated(self, dtype));
  }
  static Tensor dims(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                     std::optional<DType> dtype) {
    return run<with_data>(Plan(op, kind, self, or_all(dim), keepdim), accumulated(self, dtype));
  }
  static Tensor dims_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                         std::optional<DType> dtype, const Tensor& out) {
    return run_out<with_data>(Plan(op, kind, self, or_all(dim), keepdim),
                              dtype.value_or(out.dtype()), out);
  }
  static Tensor dim(const Tensor& self, int64_t dim, bool keepdim, std::optional<DType> dtype) {
    return dims(self, IntArrayRef(&dim, 1), keepdim, dtype);
  }
  static Tensor dim_out(const Tensor& self, int64_t dim, bool keepdim, std::optional<DType> dtype,
                        const Tensor& out) {
    return dims_out(self, IntArrayRef(&dim, 1), keepdim, dtype, out);
  }
};

template <bool with_data>
struct Mean {
  static Plan plan(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype) {
    Plan plan("mean", Reduction::Mean, self, or_all(dim), keepdim);
    const DType in = dtype.value_or(self.dtype());
    SB_CHECK(is_floating_point(in) || is_complex(in),
             "mean: expected a floating-point or complex dtype, got ", to_string(in));
    return plan;
  }
  static Tensor all(const Tensor& self, std::optional<DType> dtype) {
    return dims(self, {}, false, dtype);
  }
  static Tensor dims(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                     std::optional<DType> dtype) {
    return run<with_data>(plan(self, dim, keepdim, dtype), dtype.value_or(self.dtype()));
  }
  static Tensor dims_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                         std::optional<DType> dtype, const Tensor& out) {
    const Plan p = plan(self, dim, keepdim, dtype);
    const DType result = dtype.value_or(out.dtype());
    SB_CHECK(is_floating_point(result) || is_complex(result), "mean: result type ",
             to_string(self.dtype()), " can't be cast to the desired output type ",
             to_string(result));
    return run_out<with_data>(p, result, out);
  }
};

void check_ordered(const char* op, const Tensor& self) {
  check_defined(op, self);
  SB_CHECK(!is_complex(self.dtype()), op, ": not implemented for ", to_string(self.dtype()));
}
// As `zero_numel_check_dims`: nothing is the largest of no element.
void check_has_extreme(const char* op, const Tensor& self, IntArrayRef dims) {
  for (int64_t dim : dims) {
    const int64_t d = wrap_dim(op, dim, self.dim());
    SB_CHECK_INDEX(self.numel() != 0 || self.size(d) != 0, op, ": dimension ", d, " of ",
                   self.describe(), " has size 0");
  }
}

template <bool with_data, bool largest>
struct Extreme {
  static constexpr Reduction kind = largest ? Reduction::Max : Reduction::Min;

  static Plan plan(const char* op, const Tensor& self, IntArrayRef dims, bool keepdim) {
    check_ordered(op, self);
    SB_CHECK(!dims.empty() || self.numel() != 0, op, ": ", self.describe(), " has no element");
    check_has_extreme(op, self, dims);
    return Plan(op, kind, self, dims, keepdim);
  }
  static Tensor dims(const Tensor& self, IntArrayRef dim, bool keepdim) {
    return run<with_data>(plan(largest ? "amax" : "amin", self, dim, keepdim), self.dtype());
  }
  static Tensor dims_out(const Tensor& self, IntArrayRef dim, bool keepdim, const Tensor& out) {
    return run_out<with_data>(plan(largest ? "amax" : "amin", self, dim, keepdim), self.dtype(),
                              out);
  }
  static Tensor all(const Tensor& self) {
    return run<with_data>(plan(largest ? "max" : "min", self, {}, false), self.dtype());
  }

  // max.dim and min.dim.
  static constexpr const char* kDimOp = largest ? "max" : "min";
  static TensorMeta dim_meta(const char* op, const Tensor& self, int64_t dim, bool keepdim,
                             DType dtype) {
    check_ordered(op, self);
    check_has_extreme(op, self, {dim});
    return Plan(op, kind, self, {dim}, keepdim).meta(dtype);
  }
  static std::tuple<Tensor, Tensor> dim(const Tensor& self, int64_t dim, bool keepdim) {
    const TensorMeta meta = dim_meta(kDimOp, self, dim, keepdim, self.dtype());
    const Tensor values = internal::make_result(meta, self.device());
    const Tensor indices = internal::make_result({meta.sizes, DType::Int64}, self.device());
    if (with_data) {
      arg_reduce_into(largest, self, wrap_dim(kDimOp, dim, self.dim()), values, indices);
    }
    return {values, indices};
  }
  static std::tuple<Tensor, Tensor> dim_out(const Tensor& self, int64_t dim, bool keepdim,
                                            const Tensor& values, const Tensor& indices) {
    const TensorMeta meta = dim_meta(kDimOp, self, dim, keepdim, self.dtype());
    const StructuredOptions options{.refuse_overlap = true};
    const auto inputs = internal::tensors_of(self);
    internal::OutputPlan value(kDimOp, values, meta, self.device(), inputs, options, false);
    internal::OutputPlan index(kDimOp, indices, {meta.sizes, DType::Int64}, self.device(), inputs,
                               options, false);
    check_no_overlap(values, indices);
    if (with_data) {
      arg_reduce_into(largest, self, wrap_dim(kDimOp, dim, self.dim()), value.target(),
                      index.target());
    }
    value.finish(with_data);
    index.finish(with_data);
    return {values, indices};
  }
};

template <bool with_data, bool largest>
struct ArgExtreme {
  static constexpr const char* op = largest ? "argmax" : "argmin";

  static TensorMeta meta(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
    check_ordered(op, self);
    SB_CHECK(self.dtype() != DType::Bool, op, ": not implemented for bool");
    SB_CHECK_INDEX(dim || self.numel() != 0, op, ": ", self.describe(), " has no element");
    if (dim) check_has_extreme(op, self, {*dim});
    return Plan(op, Reduction::Max, self, dim ? IntArrayRef(&*dim, 1) : IntArrayRef(), keepdim)
        .meta(DType::Int64);
  }
  static void compute(const Tensor& self, std::optional<int64_t> dim, const Tensor& out) {
    if (dim) {
      arg_reduce_into(largest, self, wrap_dim(op, *dim, self.dim()), Tensor(), out);
      return;
    }
    // Of all elements, in row-major order.
    const Tensor flat = empty_on(self.device(), {self.numel()}, self.dtype());
    copy_elements(alias_with_unchecked(flat, self.sizes(), contiguous_strides(self.sizes()), 0),
                  self);
    const Tensor index = empty_on(out.device(), {}, DType::Int64);
    arg_reduce_into(largest, flat, 0, Tensor(), index);
    copy_elements(out, index);
  }
  static Tensor functional(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
    const Tensor result = internal::make_result(meta(self, dim, keepdim), self.device());
    if (with_data) compute(self, dim, result);
    return result;
  }
  static Tensor out(const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                    const Tensor& out) {
    internal::OutputPlan plan(op, out, meta(self, dim, keepdim), self.device(),
                              internal::tensors_of(self), {}, false);
    if (with_data) compute(self, dim, plan.target());
    plan.finish(with_data);
    return out;
  }

 private:
  static DimVector contiguous_strides(IntArrayRef sizes) {
    DimVector strides(sizes.size());
    int64_t stride = 1;
    for (size_t d = sizes.size(); d-- > 0;) {
      strides[d] = stride;
      stride *= sizes[d];
    }
    return strides;
  }
};

template <bool with_data, Reduction kind>
struct Truth {
  static constexpr const char* op = kind == Reduction::Any ? "any" : "all";

  static DType dtype(const Tensor& self) {
    return self.dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool;
  }
  // An out of either dtype will do.
  static DType dtype_of_out(const Tensor& out) {
    SB_CHECK(out.dtype() == DType::Bool || out.dtype() == DType::UInt8, op,
             ": expected out tensor to be bool or uint8, got ", out.describe());
    return out.dtype();
  }
  static Tensor all(const Tensor& self) {
    return run<with_data>(Plan(op, kind, self, {}, false), dtype(self));
  }
  static Tensor all_out(const Tensor& self, const Tensor& out) {
    return run_out<with_data>(Plan(op, kind, self, {}, false), dtype_of_out(out), out);
  }
  static Tensor dim(const Tensor& self, int64_t dim, bool keepdim) {
    return run<with_data>(Plan(op, kind, self, {dim}, keepdim), dtype(self));
  }
  static Tensor dim_out(const Tensor& self, int64_t dim, bool keepdim, const Tensor& out) {
    return run_out<with_data>(Plan(op, kind, self, {dim}, keepdim), dtype_of_out(out), out);
  }
};

template <bool with_data>
void implement(Library& m, DispatchKey key) {
  using Sum = Accumulate<with_data, Reduction::Sum>;
  m.impl(sum_all, key, Sum::all);
  m.impl(sum_dim, key, Sum::dims);
  m.impl(sum_dim_out, key, Sum::dims_out);
  using Prod = Accumulate<with_data, Reduction::Prod>;
  m.impl(prod_all, key, Prod::all);
  m.impl(prod_dim, key, Prod::dim);
  m.impl(prod_dim_out, key, Prod::dim_out);
  m.impl(mean_all, key, Mean<with_data>::all);
  m.impl(mean_dim, key, Mean<with_data>::dims);
  m.impl(mean_dim_out, key, Mean<with_data>::dims_out);
  using Max = Extreme<with_data, true>;
  m.impl(amax, key, Max::dims);
  m.impl(amax_out, key, Max::dims_out);
  m.impl(max_all, key, Max::all);
  m.impl(max_dim, key, Max::dim);
  m.impl(max_dim_out, key, Max::dim_out);
  using Min = Extreme<with_data, false>;
  m.impl(amin, key, Min::dims);
  m.impl(amin_out, key, Min::dims_out);
  m.impl(min_all, key, Min::all);
  m.impl(min_dim, key, Min::dim);
  m.impl(min_dim_out, key, Min::dim_out);
  m.impl(argmax, key, ArgExtreme<with_data, true>::functional);
  m.impl(argmax_out, key, ArgExtreme<with_data, true>::out);
  m.impl(argmin, key, ArgExtreme<with_data, false>::functional);
  m.impl(argmin_out, key, ArgExtreme<with_data, false>::out);
  using Any = Truth<with_data, Reduction::Any>;
  m.impl(any_all, key, Any::all);
  m.impl(any_all_out, key, Any::all_out);
  m.impl(any_dim, key, Any::dim);
  m.impl(any_dim_out, key, Any::dim_out);
  using All = Truth<with_data, Reduction::All>;
  m.impl(all_all, key, All::all);
  m.impl(all_all_out, key, All::all_out);
  m.impl(all_dim, key, All::dim);
  m.impl(all_dim_out, key, All::dim_out);
}

// As the out= forms that PyTorch generates: out takes any dtype, and has no say in the sum's.
template <auto& functional>
Tensor out_by_copy(const Tensor& self, std::optional<DType> dtype, const Tensor& out) {
  copy_result_to_out(functional.name(), functional(self, dtype), out);
  return out;
}

template <class... Op>
void define_all(Library& m, const Op&... op) {
  (m.define(op), ...);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_all(m, sum_all, sum_all_out, sum_dim, sum_dim_out, prod_all, prod_all_out, prod_dim,
             prod_dim_out, mean_all, mean_dim, mean_dim_out, amax, amax_out, max_all, max_dim,
             max_dim_out, amin, amin_out, min_all, min_dim, min_dim_out, argmax, argmax_out, argmin,
             argmin_out, any_all, any_all_out, any_dim, any_dim_out, all_all, all_all_out, all_dim,
             all_dim_out);
  m.impl(sum_all_out, DispatchKey::CompositeExplicitAutograd, out_by_copy<sum_all>);
  m.impl(prod_all_out, DispatchKey::CompositeExplicitAutograd, out_by_copy<prod_all>);
  implement<true>(m, DispatchKey::CPU);
  implement<false>(m, DispatchKey::Meta);
}

}  // namespace sb
