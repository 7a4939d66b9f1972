#include "switchboard/ops/reductions/reduction_plan.h"

#include "switchboard/ops/outputs/output_plan.h"

namespace sb {

ReductionPlan::ReductionPlan(const char* op, Reduction kind, const Tensor& self, IntArrayRef dims,
                             bool keepdim, const ReduceParams& params)
    : op(op), kind(kind), self(self), keepdim(keepdim), params(params) {
  check_defined(op, self);
  reduced = dim_set(op, dims, self.dim());
  if (dims.empty()) reduced.set();
}

template <SizeType Int>
BasicTensorMeta<Int> ReductionPlan::meta_of(DType dtype) const {
  const SizesRef<Int> sizes = sizes_of<Int>(self);
  BasicTensorMeta<Int> meta{{}, dtype};
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!reduced[d])
      meta.sizes.push_back(sizes[d]);
    else if (keepdim)
      meta.sizes.push_back(Int(1));
  }
  return meta;
}

template TensorMeta ReductionPlan::meta_of<int64_t>(DType) const;
template SymTensorMeta ReductionPlan::meta_of<SymInt>(DType) const;

TensorMeta ReductionPlan::meta(DType dtype) const { return meta_of<int64_t>(dtype); }

double ReductionPlan::count() const {
  double n = 1;
  const IntArrayRef sizes = self.impl()->hint_sizes();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (reduced[d]) n *= static_cast<double>(sizes[d]);
  }
  return n;
}

Tensor ReductionPlan::run(DType dtype, std::optional<DType> through) const {
  if (self.is_symbolic()) return internal::make_result(meta_of<SymInt>(dtype), self.device());
  const Tensor result = internal::make_result(meta(dtype), self.device());
  if (has_data(self)) reduce_into(kind, self, reduced, through.value_or(dtype), result, params);
  return result;
}

Tensor ReductionPlan::run_out(DType dtype, const Tensor& out, std::optional<DType> through) const {
  if (any_symbolic(self, out)) {
    internal::set_symbolic_output(op, out, meta_of<SymInt>(dtype), self.device(), {}, false);
    return out;
  }
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
    if (self.dim() == 0) continue;
    SB_CHECK_INDEX(self.sym_size(d) != 0, op, ": dimension ", d, " of ", self.describe(),
                   " has size 0");
  }
}

}  // namespace sb
