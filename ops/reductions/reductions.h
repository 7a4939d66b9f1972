// Reductions to a number: sum, mean, prod, largest and smallest elements, any and all.

#ifndef SWITCHBOARD_OPS_REDUCTIONS_REDUCTIONS_H_
#define SWITCHBOARD_OPS_REDUCTIONS_REDUCTIONS_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Elements are converted to `dtype` first: where none is given, to out's dtype, or without an out
// to int64 for integral inputs. No dims, or an empty list of them, means all. (The out= forms that
// take no dims convert the result instead, as in PyTorch.)
SB_OP(sum_all, "aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor");
SB_OP(sum_all_out,
      "aten::sum.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)");
SB_OP(sum_dim,
      "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, "
      "ScalarType? dtype=None) -> Tensor");
SB_OP(sum_dim_out, out_of(sum_dim, "IntList_out"));
SB_OP(prod_all, "aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor");
SB_OP(prod_all_out,
      "aten::prod.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)");
SB_OP(prod_dim,
      "aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, "
      "ScalarType? dtype=None) -> Tensor");
SB_OP(prod_dim_out, out_of(prod_dim, "int_out"));
// The input, or the dtype given, is floating-point or complex.
SB_OP(mean_all, "aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor");
SB_OP(mean_dim,
      "aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, "
      "ScalarType? dtype=None) -> Tensor");
SB_OP(mean_dim_out, out_of(mean_dim, "out"));

// Real dtypes; NaN is both the largest and the smallest. IndexError for a dimension of size 0.
SB_OP(amax, "aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor");
SB_OP(amax_out, out_of(amax, "out"));
SB_OP(amin, "aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor");
SB_OP(amin_out, out_of(amin, "out"));
SB_OP(max_all, "aten::max(Tensor self) -> Tensor");
SB_OP(min_all, "aten::min(Tensor self) -> Tensor");
// Also where: the index of the first of equals.
SB_OP(max_dim,
      "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)");
SB_OP(max_dim_out,
      "aten::max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, "
      "Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)");
SB_OP(min_dim,
      "aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)");
SB_OP(min_dim_out,
      "aten::min.dim_min(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) min, "
      "Tensor(b!) min_indices) -> (Tensor(a!) values, Tensor(b!) indices)");
SB_OP(argmax, "aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor");
SB_OP(argmax_out, out_of(argmax, "out"));
SB_OP(argmin, "aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor");
SB_OP(argmin_out, out_of(argmin, "out"));

// bool, or uint8 for uint8 inputs.
SB_OP(any_all, "aten::any(Tensor self) -> Tensor");
SB_OP(any_all_out, out_of(any_all, "all_out"));
SB_OP(any_dim, "aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor");
SB_OP(any_dim_out, out_of(any_dim, "out"));
SB_OP(all_all, "aten::all(Tensor self) -> Tensor");
SB_OP(all_all_out, out_of(all_all, "all_out"));
SB_OP(all_dim, "aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor");
SB_OP(all_dim_out, out_of(all_dim, "out"));

namespace internal {

// One handle for two overloads: sum(x), sum(x, {0}).
template <auto& all, auto& dim>
struct ReductionOps {
  Tensor operator()(const Tensor& self) const { return all(self); }
  template <class D, class... Rest>
  requires std::is_invocable_v<decltype(dim), const Tensor&, D, Rest...>
  auto operator()(const Tensor& self, D&& d, const Rest&... rest) const {
    return dim(self, std::forward<D>(d), rest...);
  }
  Tensor operator()(const Tensor& self, std::initializer_list<int64_t> d, bool keepdim = false)
      const requires std::is_invocable_v<decltype(dim), const Tensor&, IntArrayRef, bool> {
    return dim(self, IntArrayRef(d.begin(), d.size()), keepdim);
  }
};

}  // namespace internal

inline constexpr internal::ReductionOps<sum_all, sum_dim> sum{};
inline constexpr internal::ReductionOps<mean_all, mean_dim> mean{};
inline constexpr internal::ReductionOps<prod_all, prod_dim> prod{};
inline constexpr internal::ReductionOps<any_all, any_dim> any{};
inline constexpr internal::ReductionOps<all_all, all_dim> all{};

}  // namespace sb

#endif  // SWITCHBOARD_OPS_REDUCTIONS_REDUCTIONS_H_
