// What every reduction operator shares: the dimensions that go, the shape that is left, and the
// forms with and without an out, on CPU and Meta.

#ifndef SWITCHBOARD_OPS_REDUCTIONS_REDUCTION_PLAN_H_
#define SWITCHBOARD_OPS_REDUCTIONS_REDUCTION_PLAN_H_

#include "switchboard/dispatch/schema/cpp_types.h"
#include "switchboard/ops/cpu/reduce.h"
#include "switchboard/ops/outputs/output_plan.h"

namespace sb {

// A reduction about to run. No dims means all.
struct ReductionPlan {
  const char* op;
  Reduction kind;
  const Tensor& self;
  bool keepdim;
  DimSet reduced;
  ReduceParams params = {};

  // Throws RuntimeError for an undefined tensor and for a dimension named twice, IndexError for one
  // out of range.
  ReductionPlan(const char* op, Reduction kind, const Tensor& self, IntArrayRef dims, bool keepdim,
                const ReduceParams& params = {});

  TensorMeta meta(DType dtype) const;
  template <SizeType Int>
  BasicTensorMeta<Int> meta_of(DType dtype) const;
  // How many elements go into each result; of no interest where sizes are symbolic.
  double count() const;
  // A new tensor of the results; without elements on Meta. Elements are converted to `through`
  // first, which is `dtype` where none is given.
  Tensor run(DType dtype, std::optional<DType> through = {}) const;
  // The same written to an out of that dtype.
  Tensor run_out(DType dtype, const Tensor& out, std::optional<DType> through = {}) const;
};

inline IntArrayRef dims_or_all(const OptionalIntArrayRef& dims) {
  return dims ? *dims : IntArrayRef();
}
// Whether there are elements to look at: not on Meta, and not where a mode owns the tensor.
inline bool has_data(const Tensor& t) {
  return t.device().type != DeviceType::Meta && !t.impl()->mode_data();
}

// Throws IndexError where one of `dims` has size 0: nothing is the largest of no element. As
// `zero_numel_check_dims`.
void check_has_extreme(const char* op, const Tensor& self, IntArrayRef dims);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_REDUCTIONS_REDUCTION_PLAN_H_
