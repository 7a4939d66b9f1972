#include "switchboard/ops/statistics/variance.h"

#include "switchboard/ops/define/define.h"
#include "switchboard/ops/reductions/reduction_plan.h"

namespace sb {
namespace {

template <Reduction kind>
struct Spread {
  static constexpr bool root = kind == Reduction::StandardDeviation;
  static constexpr const char* op = root ? "std" : "var";

  static ReductionPlan plan(const Tensor& self, const OptionalIntArrayRef& dim,
                            const std::optional<Scalar>& correction, bool keepdim) {
    check_defined(op, self);
    SB_CHECK(is_floating_point(self.dtype()) || is_complex(self.dtype()), op,
             ": expected a floating-point or complex tensor, got ", self.describe());
    return {op,      kind,
            self,    dims_or_all(dim),
            keepdim, {.correction = correction ? correction->to<double>() : 1.0}};
  }
  static Tensor with_correction(const Tensor& self, OptionalIntArrayRef dim,
                                const std::optional<Scalar>& correction, bool keepdim) {
    return plan(self, dim, correction, keepdim).run(to_real(self.dtype()), self.dtype());
  }
  static Tensor with_correction_out(const Tensor& self, OptionalIntArrayRef dim,
                                    const std::optional<Scalar>& correction, bool keepdim,
                                    const Tensor& out) {
    const ReductionPlan p = plan(self, dim, correction, keepdim);
    check_defined(op, out);
    const DType result = out.dtype();
    SB_CHECK(can_cast(to_real(self.dtype()), result), op, ": result type ",
             to_string(to_real(self.dtype())), " can't be cast to the desired output type ",
             to_string(result));
    if (is_complex(self.dtype())) return p.run_out(result, out, self.dtype());
    if (any_symbolic(self, out)) return p.run_out(result, out, result);
    // As PyTorch: one number, which is not of 16 bits, is computed in another way.
    int64_t numel = 1;
    for (int64_t size : p.meta(result).sizes) numel *= size;
    if (self.numel() == 0) return p.run_out(result, out, self.dtype());
    if (numel == 1 && itemsize(result) > 2) {
      SB_CHECK(itemsize(self.dtype()) > 2, op, ": one number of ", self.describe(),
               " does not go into an out of ", to_string(result));
      return p.run_out(result, out, self.dtype());
    }
    SB_CHECK_NOT_IMPLEMENTED(!is_complex(result), op, ": not implemented for ", to_string(result));
    return p.run_out(result, out, result);
  }
  static std::tuple<Tensor, Tensor> and_mean(const Tensor& self, OptionalIntArrayRef dim,
                                             const std::optional<Scalar>& correction,
                                             bool keepdim) {
    const ReductionPlan of_mean(op, Reduction::Mean, self, dims_or_all(dim), keepdim);
    Tensor spread = with_correction(self, dim, correction, keepdim);
    return {std::move(spread), of_mean.run(self.dtype())};
  }

  template <auto& correction>
  static auto all(const Tensor& self, bool unbiased) {
    return correction(self, OptionalIntArrayRef(), unbiased ? 1 : 0, false);
  }
  template <auto& correction>
  static auto dims(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
    return correction(self, dim, unbiased ? 1 : 0, keepdim);
  }
  template <auto& correction_out>
  static Tensor dims_out(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim,
                         const Tensor& out) {
    return correction_out(self, dim, unbiased ? 1 : 0, keepdim, out);
  }
};

// The overloads that say `unbiased` are composed of those that say by how much.
template <auto& all, auto& dims, auto& correction, class S>
void define_overloads(Library& m, S) {
  define(m, all, Tag::reduction).composed(S::template all<correction>);
  define(m, dims, Tag::reduction).composed(S::template dims<correction>);
}
template <auto& dims_out, auto& correction, auto& correction_out, class S>
void define_out_overloads(Library& m, S) {
  define(m, correction, Tag::reduction)
      .cpu_and_meta(S::with_correction)
      .out(correction_out, S::with_correction_out);
  define(m, dims_out, Tag::reduction).composed(S::template dims_out<correction_out>);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  const Spread<Reduction::Variance> variance;
  const Spread<Reduction::StandardDeviation> deviation;
  define_overloads<var_all, var_dim, var_correction>(m, variance);
  define_out_overloads<var_dim_out, var_correction, var_correction_out>(m, variance);
  define_overloads<std_all, std_dim, std_correction>(m, deviation);
  define_out_overloads<std_dim_out, std_correction, std_correction_out>(m, deviation);
  define_overloads<var_mean_all, var_mean_dim, var_mean_correction>(m, variance);
  define(m, var_mean_correction, Tag::reduction)
      .cpu_and_meta(variance.and_mean)
      .out("correction_out");
  define_overloads<std_mean_all, std_mean_dim, std_mean_correction>(m, deviation);
  define(m, std_mean_correction, Tag::reduction)
      .cpu_and_meta(deviation.and_mean)
      .out("correction_out");
}

}  // namespace sb
