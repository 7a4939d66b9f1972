#include "switchboard/ops/reduction_plan.h"

namespace sb {

ReductionPlan::ReductionPlan(const char* op, Reduction kind, const Tensor& self, IntArrayRef dims,
                             bool keepdim, const ReduceParams& params)
    : op(op), kind(kind), self(self), keepdim(keepdim), params(params) {
  check_defined(op, self);
  reduced = dim_set(op, dims, self.dim());
  if (dims.empty()) reduced.set();
}

TensorMeta ReductionPlan::meta(DType dtype) const {
  TensorMeta meta{{}, dtype};
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (!reduced[d])
      meta.sizes.push_back(self.sizes()[d]);
    else if (keepdim)
      meta.sizes.push_back(1);
  }
  return meta;
}

double ReductionPlan::count() const {
  double n = 1;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (reduced[d]) n *= static_cast<double>(self.sizes()[d]);
  }
  return n;
}

Tensor ReductionPlan::run(DType dtype, std::optional<DType> through) const {
  const Tensor result = internal::make_result(meta(dtype), self.device());
  if (has_data(self)) reduce_into(kind, self, reduced, through.value_or(dtype), result, params);
  return result;
}

Tensor ReductionPlan::run_out(DType dtype, const Tensor& out, std::optional<DType> through) const {
  internal::OutputPlan output(op, out, meta(dtype), self.device(), internal::tensors_of(self), {},
                              false);
  if (has_data(self)) {
    reduce_into(kind, self, reduced, through.value_or(dtype), output.target(), params);
  }
  output.finish(has_data(self));
  return out;
}

void check_has_extreme(const char* op, const Tensor& self, IntArrayRef dims) {
  for (int64_t dim : dims) {
    const int64_t d = wrap_dim(op, dim, self.dim());
    SB_CHECK_INDEX(self.numel() != 0 || self.size(d) != 0, op, ": dimension ", d, " of ",
                   self.describe(), " has size 0");
  }
}

}  // namespace sb
