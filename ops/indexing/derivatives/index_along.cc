// Derivatives of what writes whole parts along one dimension.

#include "switchboard/ops/indexing/index_along.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/derivatives/scaled_gradients.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/derivatives/reduce_gradients.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// The parts of source broadcast to those of self: the dimensions of self that source lacks.
DimVector missing_dims(int64_t self_rank, int64_t source_rank, int64_t dim) {
  DimVector missing;
  for (int64_t d = 0; static_cast<int64_t>(missing.size()) < self_rank - source_rank; ++d)
    if (d != dim || source_rank == 0) missing.push_back(d);
  return missing;
}

// The gradient of source, of its shape or one that it broadcasts to, from that of self's parts.
Tensor fit_source(const Tensor& parts, const Tensor& source, int64_t dim) {
  if (parts.dim() < source.dim()) return expand(parts, source.sym_sizes());  // self is a number
  if (parts.dim() == source.dim()) return parts;
  return sum_dim(parts, missing_dims(parts.dim(), source.dim(), dim));
}
Tensor source_gradient(const Tensor& grad, int64_t dim, const Tensor& index, const Tensor& source) {
  return fit_source(index_select(grad, dim, index), source, wrap_dim("index", dim, grad.dim()));
}

// Of the number that index_fill writes. A place counts once, however often it is named.
Tensor fill_value_gradient(const Tensor& grad, int64_t dim, const Tensor& index) {
  const Tensor filled = index_fill(zeros_like(grad, DType::Bool), dim, index, true);
  return sum_all(where(filled, grad, zeros_like(grad)));
}

std::array<Tensor, 2> index_reduce_gradients(const IndexedReduction& call, int64_t dim,
                                             const Tensor& index,
                                             const std::array<bool, 2>& needs) {
  const int64_t d = wrap_dim("index_reduce", dim, call.self.dim());
  Tensor source = call.source;
  for (int64_t missing : missing_dims(call.self.dim(), source.dim(), d))
    source = unsqueeze(source, missing);
  const IndexedPlaces places = {
      .read = [&](const Tensor& table) { return index_select(table, dim, index); },
      .add = [&](const Tensor& table,
                 const Tensor& parts) { return index_add(table, dim, index, parts); },
      .multiply =
          [&](const Tensor& table, const Tensor& parts) {
            return index_reduce(table, dim, index, parts, "prod");
          },
      .fill = [&](const Tensor& table,
                  const Scalar& value) { return index_fill(table, dim, index, value); }};
  std::array<Tensor, 2> grads = reduction_gradients(
      {call.grad, call.self, source, call.result, call.reduce, call.include_self}, places, needs);
  if (needs[1]) grads[1] = fit_source(grads[1], call.source, d);
  return grads;
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, index_add, SB_GRAD(self, (grad), grad),
         SB_GRAD(source, (grad, dim, index, source, alpha),
                 internal::scaled(source_gradient(grad, dim, index, source), alpha)));
  derive(
      m, index_reduce,
      SB_GRAD((self, source), (grad, self, dim, index, source, reduce, include_self, result, needs),
              index_reduce_gradients({grad, self, source, result, reduce, include_self}, dim, index,
                                     needs)));
  derive(m, index_copy, SB_GRAD(self, (grad, dim, index), index_fill(grad, dim, index, 0)),
         SB_GRAD(source, (grad, dim, index, source), source_gradient(grad, dim, index, source)));
  derive(m, index_fill, SB_GRAD(self, (grad, dim, index), index_fill(grad, dim, index, 0)));
  derive(m, index_fill_Tensor, SB_GRAD(self, (grad, dim, index), index_fill(grad, dim, index, 0)),
         SB_GRAD(value, (grad, dim, index), fill_value_gradient(grad, dim, index)));
}

}  // namespace
}  // namespace sb
