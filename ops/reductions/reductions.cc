#include "switchboard/ops/reductions/reductions.h"

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/reductions/reduction_plan.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Plan = ReductionPlan;

// sum and prod of integers are int64, as `get_dtype_from_self`.
DType accumulated(const Tensor& self, std::optional<DType> dtype) {
  return dtype.value_or(is_integral(self.dtype(), true) ? DType::Int64 : self.dtype());
}

template <Reduction kind>
struct Accumulate {
  static constexpr const char* op = kind == Reduction::Sum ? "sum" : "prod";

  static Tensor all(const Tensor& self, std::optional<DType> dtype) {
    return Plan(op, kind, self, {}, false).run(accumulated(self, dtype));
  }
  static Tensor dims(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                     std::optional<DType> dtype) {
    return Plan(op, kind, self, dims_or_all(dim), keepdim).run(accumulated(self, dtype));
  }
  static Tensor dims_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                         std::optional<DType> dtype, const Tensor& out) {
    return Plan(op, kind, self, dims_or_all(dim), keepdim)
        .run_out(dtype.value_or(out.dtype()), out);
  }
  static Tensor dim(const Tensor& self, int64_t dim, bool keepdim, std::optional<DType> dtype) {
    return dims(self, IntArrayRef(&dim, 1), keepdim, dtype);
  }
  static Tensor dim_out(const Tensor& self, int64_t dim, bool keepdim, std::optional<DType> dtype,
                        const Tensor& out) {
    return dims_out(self, IntArrayRef(&dim, 1), keepdim, dtype, out);
  }
};

struct Mean {
  static Plan plan(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype) {
    Plan plan("mean", Reduction::Mean, self, dims_or_all(dim), keepdim);
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
    return plan(self, dim, keepdim, dtype).run(dtype.value_or(self.dtype()));
  }
  static Tensor dims_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                         std::optional<DType> dtype, const Tensor& out) {
    const Plan p = plan(self, dim, keepdim, dtype);
    const DType result = dtype.value_or(out.dtype());
    SB_CHECK(is_floating_point(result) || is_complex(result), "mean: result type ",
             to_string(self.dtype()), " can't be cast to the desired output type ",
             to_string(result));
    return p.run_out(result, out);
  }
};

// The order of the checks of what follows is PyTorch's: an out's dtype, the dimensions, self's
// dtype.
bool has_no_element(const Tensor& self) { return same_size(self.sym_numel(), SymInt(0)); }
void check_ordered(const char* op, const Tensor& self) {
  SB_CHECK(!is_complex(self.dtype()), op, ": not implemented for ", to_string(self.dtype()));
}

void check_out_dtype(const char* op, const Tensor& out, DType dtype) {
  check_defined(op, out);
  SB_CHECK(out.dtype() == dtype, op, ": expected out tensor to have dtype ", to_string(dtype),
           ", but got ", to_string(out.dtype()));
}

template <bool largest>
struct Extreme {
  static constexpr Reduction kind = largest ? Reduction::Max : Reduction::Min;

  static Plan plan(const char* op, const Tensor& self, IntArrayRef dims, bool keepdim) {
    check_defined(op, self);
    SB_CHECK(sym_or(!dims.empty(), self.sym_numel() != 0), op, ": ", self.describe(),
             " has no element");
    check_has_extreme(op, self, dims);
    const Plan plan(op, kind, self, dims, keepdim);
    if (is_complex(self.dtype()) && !has_no_element(self)) check_ordered(op, self);
    return plan;
  }
  static Tensor dims(const Tensor& self, IntArrayRef dim, bool keepdim) {
    return plan(largest ? "amax" : "amin", self, dim, keepdim).run(self.dtype());
  }
  static Tensor dims_out(const Tensor& self, IntArrayRef dim, bool keepdim, const Tensor& out) {
    check_defined(largest ? "amax" : "amin", self);
    check_out_dtype(largest ? "amax" : "amin", out, self.dtype());
    return plan(largest ? "amax" : "amin", self, dim, keepdim).run_out(self.dtype(), out);
  }
  static Tensor all(const Tensor& self) {
    return plan(largest ? "max" : "min", self, {}, false).run(self.dtype());
  }

  // max.dim and min.dim.
  static constexpr const char* kDimOp = largest ? "max" : "min";
  template <SizeType Int>
  static BasicTensorMeta<Int> dim_meta(const char* op, const Tensor& self, int64_t dim,
                                       bool keepdim, DType dtype) {
    check_defined(op, self);
    check_has_extreme(op, self, {dim});
    const auto meta = Plan(op, kind, self, {dim}, keepdim).template meta_of<Int>(dtype);
    check_ordered(op, self);
    return meta;
  }
  template <SizeType Int>
  static std::tuple<Tensor, Tensor> new_results(const Tensor& self, int64_t dim, bool keepdim) {
    auto meta = dim_meta<Int>(kDimOp, self, dim, keepdim, self.dtype());
    const Tensor values = internal::make_result(meta, self.device());
    meta.dtype = DType::Int64;
    return {values, internal::make_result(meta, self.device())};
  }
  static std::tuple<Tensor, Tensor> dim(const Tensor& self, int64_t dim, bool keepdim) {
    const auto [values, indices] = by_size(
        self.is_symbolic(), [&]<class Int>() { return new_results<Int>(self, dim, keepdim); });
    if (has_data(self)) {
      arg_reduce_into(largest, self, wrap_dim(kDimOp, dim, self.dim()), values, indices);
    }
    return {values, indices};
  }
  static std::tuple<Tensor, Tensor> dim_out(const Tensor& self, int64_t dim, bool keepdim,
                                            const Tensor& values, const Tensor& indices) {
    const auto meta = dim_meta<int64_t>(kDimOp, self, dim, keepdim, self.dtype());
    check_out_dtype(kDimOp, indices, DType::Int64);  // before there is room made for values
    const StructuredOptions options{.refuse_overlap = true};
    const auto inputs = internal::tensors_of(self);
    internal::OutputPlan value(kDimOp, values, meta, self.device(), inputs, options, false);
    internal::OutputPlan index(kDimOp, indices, {meta.sizes, DType::Int64}, self.device(), inputs,
                               options, false);
    check_no_overlap(values, indices);
    if (has_data(self)) {
      arg_reduce_into(largest, self, wrap_dim(kDimOp, dim, self.dim()), value.target(),
                      index.target());
    }
    value.finish(has_data(self));
    index.finish(has_data(self));
    return {values, indices};
  }
};

template <bool largest>
struct ArgExtremeForms {
  static constexpr const char* op = largest ? "argmax" : "argmin";

  template <SizeType Int>
  static BasicTensorMeta<Int> meta(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
    check_defined(op, self);
    SB_CHECK_INDEX(sym_or(dim.has_value(), numel_of<Int>(self) != 0), op, ": ", self.describe(),
                   " has no element");
    if (dim) check_has_extreme(op, self, {*dim});
    const IntArrayRef dims = dim ? IntArrayRef(&*dim, 1) : IntArrayRef();
    const auto meta =
        Plan(op, Reduction::Max, self, dims, keepdim).template meta_of<Int>(DType::Int64);
    const bool comparable = !is_complex(self.dtype()) && self.dtype() != DType::Bool;
    if (!comparable) {
      check_ordered(op, self);
      SB_CHECK(self.dtype() != DType::Bool, op, ": not implemented for bool");
    }
    return meta;
  }
  // Whether no two elements, of whatever dtype, are compared.
  static bool is_known(const Tensor& self, std::optional<int64_t> dim) {
    if (has_no_element(self)) return true;
    return dim && self.dim() != 0 && is_one(self.sym_size(*dim));
  }
  static void compute(const Tensor& self, std::optional<int64_t> dim, const Tensor& out) {
    if (is_known(self, dim)) {
      zero_(out);
      return;
    }
    if (dim) {
      arg_reduce_into(largest, self, wrap_dim(op, *dim, self.dim()), Tensor(), out);
      return;
    }
    // Of all elements, in row-major order.
    const Tensor packed = empty_on(self.device(), self.sizes(), self.dtype());
    copy_elements(packed, self);
    const int64_t count = self.numel(), one = 1;
    const Tensor flat =
        alias_with_unchecked(packed, IntArrayRef(&count, 1), IntArrayRef(&one, 1), 0);
    const Tensor index = empty_on(out.device(), {}, DType::Int64);
    arg_reduce_into(largest, flat, 0, Tensor(), index);
    copy_elements(out, index);
  }
  static Tensor functional(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
    const Tensor result = by_size(self.is_symbolic(), [&]<class Int>() {
      return internal::make_result(meta<Int>(self, dim, keepdim), self.device());
    });
    if (has_data(self)) compute(self, dim, result);
    return result;
  }
  static Tensor out(const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                    const Tensor& out) {
    internal::OutputPlan plan(op, out, meta<int64_t>(self, dim, keepdim), self.device(),
                              internal::tensors_of(self), {}, false);
    if (has_data(self)) compute(self, dim, plan.target());
    plan.finish(has_data(self));
    return out;
  }
};

template <Reduction kind>
struct Truth {
  static constexpr const char* op = kind == Reduction::Any ? "any" : "all";

  static DType dtype(const Tensor& self) {
    return self.dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool;
  }
  // An out of either dtype will do. Looked at before the dimensions, as PyTorch does.
  static DType dtype_of_out(const Tensor& out) {
    check_defined(op, out);
    SB_CHECK(out.dtype() == DType::Bool || out.dtype() == DType::UInt8, op,
             ": expected out tensor to be bool or uint8, got ", out.describe());
    return out.dtype();
  }
  static Tensor all(const Tensor& self) { return Plan(op, kind, self, {}, false).run(dtype(self)); }
  static Tensor all_out(const Tensor& self, const Tensor& out) {
    const DType dtype = dtype_of_out(out);
    return Plan(op, kind, self, {}, false).run_out(dtype, out);
  }
  static Tensor dim(const Tensor& self, int64_t dim, bool keepdim) {
    return Plan(op, kind, self, {dim}, keepdim).run(dtype(self));
  }
  static Tensor dim_out(const Tensor& self, int64_t dim, bool keepdim, const Tensor& out) {
    const DType dtype = dtype_of_out(out);
    return Plan(op, kind, self, {dim}, keepdim).run_out(dtype, out);
  }
};

// As the out= forms that PyTorch generates: out takes any dtype, and has no say in the sum's.
template <auto& functional>
Tensor out_by_copy(const Tensor& self, std::optional<DType> dtype, const Tensor& out) {
  copy_result_to_out(functional.name(), functional(self, dtype), out, kCopiedOut);
  return out;
}

SB_OP(any_dims, "aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor");
SB_OP(any_dims_out, out_of(any_dims, "dims_out"));
SB_OP(all_dims, "aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor");
SB_OP(all_dims_out, out_of(all_dims, "dims_out"));

// Over several dimensions, one after the other; over none, of each element by itself.
template <auto& op, auto& over_dim>
Tensor over_dims(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  SB_CHECK(self.defined(), op.name(), ": argument self: expected a tensor, got an undefined one");
  DimSet dims;
  if (dim) {
    dims = dim_set("any, all", *dim, self.dim());
  } else {
    for (int64_t d = 0; d < self.dim(); ++d) dims.set(static_cast<size_t>(d));
  }
  if (dims.none() || self.dim() == 0) return over_dim(unsqueeze(self, -1), -1, false);
  Tensor result = self;
  for (int64_t d = self.dim(); d-- > 0;)
    if (dims[static_cast<size_t>(d)]) result = over_dim(result, d, keepdim);
  return result;
}
template <auto& op, auto& out_op, auto& over_dim>
void define_over_dims(Library& m) {
  define(m, op, Tag::reduction)
      .composite_explicit(over_dims<op, over_dim>)
      .out(out_op,
           [](const Tensor& self, OptionalIntArrayRef dim, bool keepdim, const Tensor& out) {
             SB_CHECK(!out.defined() || out.dtype() == DType::Bool || out.dtype() == DType::UInt8,
                      out_op.name(), ": out: expected bool or uint8, got ", out.describe());
             copy_result_to_out(out_op.name(), op(self, dim, keepdim), out);
             return out;
           });
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  using Sum = Accumulate<Reduction::Sum>;
  define(m, sum_all, Tag::reduction).cpu_and_meta(Sum::all);
  define(m, sum_dim, Tag::reduction).cpu_and_meta(Sum::dims).out(sum_dim_out, Sum::dims_out);
  using Prod = Accumulate<Reduction::Prod>;
  define(m, prod_all, Tag::reduction).cpu_and_meta(Prod::all);
  define(m, prod_dim, Tag::reduction).cpu_and_meta(Prod::dim).out(prod_dim_out, Prod::dim_out);
  define(m, mean_all, Tag::reduction).cpu_and_meta(Mean::all);
  define(m, mean_dim, Tag::reduction).cpu_and_meta(Mean::dims).out(mean_dim_out, Mean::dims_out);
  using Max = Extreme<true>;
  define(m, amax, Tag::reduction).cpu_and_meta(Max::dims).out(amax_out, Max::dims_out);
  define(m, max_all, Tag::reduction).cpu_and_meta(Max::all);
  define(m, max_dim, Tag::reduction).cpu_and_meta(Max::dim).out(max_dim_out, Max::dim_out);
  using Min = Extreme<false>;
  define(m, amin, Tag::reduction).cpu_and_meta(Min::dims).out(amin_out, Min::dims_out);
  define(m, min_all, Tag::reduction).cpu_and_meta(Min::all);
  define(m, min_dim, Tag::reduction).cpu_and_meta(Min::dim).out(min_dim_out, Min::dim_out);
  define(m, argmax, Tag::reduction)
      .cpu_and_meta(ArgExtremeForms<true>::functional)
      .out(argmax_out, ArgExtremeForms<true>::out);
  define(m, argmin, Tag::reduction)
      .cpu_and_meta(ArgExtremeForms<false>::functional)
      .out(argmin_out, ArgExtremeForms<false>::out);
  // The out= forms of reducing all come after those over dimensions, as PyTorch's packets try them.
  using Any = Truth<Reduction::Any>;
  auto any = define(m, any_all, Tag::reduction).cpu_and_meta(Any::all);
  define(m, any_dim, Tag::reduction).cpu_and_meta(Any::dim).out(any_dim_out, Any::dim_out);
  define_over_dims<any_dims, any_dims_out, any_dim>(m);
  any.out(any_all_out, Any::all_out);
  using All = Truth<Reduction::All>;
  auto all = define(m, all_all, Tag::reduction).cpu_and_meta(All::all);
  define(m, all_dim, Tag::reduction).cpu_and_meta(All::dim).out(all_dim_out, All::dim_out);
  define_over_dims<all_dims, all_dims_out, all_dim>(m);
  all.out(all_all_out, All::all_out);
  define(m, sum_all_out).composite_explicit(out_by_copy<sum_all>);
  define(m, prod_all_out).composite_explicit(out_by_copy<prod_all>);
  extend(m, mean_all).out("dtype_out", kCastOut);
  extend(m, max_all).out("unary_out", kCastOut);
  extend(m, min_all).out("unary_out", kCastOut);
}

}  // namespace sb
