// Derivatives of scatter and its reductions. `index` may be smaller than src: what it leaves out
// has a gradient of zeros. Where several elements go to one place and one of them stays, all get
// its gradient, as in PyTorch.

#include "switchboard/ops/indexing/scatter.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/derivatives/scaled_gradients.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/derivatives/reduce_gradients.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/indexing/pad.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Of index's shape, which then says nothing.
bool is_empty(const Tensor& index) { return same_size(index.sym_numel(), SymInt(0)); }

// The part of src that is scattered.
Tensor scattered_part(const Tensor& src, const Tensor& index) {
  Tensor part = src;
  for (int64_t d = 0; d < src.dim(); ++d) {
    const SymInt size = index.dim() == 0 ? SymInt(1) : index.sym_size(d);
    if (!same_size(size, src.sym_size(d))) part = narrow(part, d, 0, size);
  }
  return part;
}
// The gradient of src from that of this part.
Tensor with_unscattered(const Tensor& part, SymIntArrayRef sizes) {
  if (part.dim() != static_cast<int64_t>(sizes.size()))  // a number, and a vector of one element
    return sizes.empty() ? reshape(part, {}) : with_unscattered(reshape(part, {1}), sizes);
  std::vector<int64_t> pad;
  bool whole = true;
  for (size_t d = sizes.size(); d-- > 0;) {
    const SymInt& size = part.sym_sizes()[d];
    const bool same = same_size(size, sizes[d]);
    whole = whole && same;
    pad.push_back(0);
    pad.push_back(same ? 0 : (sizes[d] - size).guard_int());
  }
  return whole ? part : constant_pad_nd(part, pad);
}

Tensor source_gradient(const Tensor& grad, int64_t dim, const Tensor& index,
                       const InputMetadata& src) {
  if (is_empty(index)) return new_zeros(grad, src.sizes);
  return with_unscattered(gather(grad, dim, index), src.sizes);
}

std::array<Tensor, 2> scatter_reduce_gradients(const IndexedReduction& call, int64_t dim,
                                               const Tensor& index,
                                               const std::array<bool, 2>& needs) {
  if (is_empty(index)) return {call.grad, zeros_like(call.source)};
  const IndexedPlaces places = {
      .read = [&](const Tensor& table) { return gather(table, dim, index); },
      .add = [&](const Tensor& table,
                 const Tensor& src) { return scatter_add(table, dim, index, src); },
      .multiply = [&](const Tensor& table,
                      const Tensor& src) { return scatter_reduce(table, dim, index, src, "prod"); },
      .fill = [&](const Tensor& table,
                  const Scalar& value) { return scatter_value(table, dim, index, value); }};
  const Tensor part = scattered_part(call.source, index);
  std::array<Tensor, 2> grads = reduction_gradients(
      {call.grad, call.self, part, call.result, call.reduce, call.include_self}, places, needs);
  if (needs[1]) grads[1] = with_unscattered(grads[1], call.source.sym_sizes());
  return grads;
}

// scatter's names of reductions in those of scatter_reduce.
std::string_view reduction_of(std::string_view reduce) { return reduce == "add" ? "sum" : "prod"; }

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, scatter, SB_GRAD(self, (grad, dim, index), scatter_value(grad, dim, index, 0)),
         SB_GRAD(src, (grad, dim, index, src_meta), source_gradient(grad, dim, index, src_meta)));
  derive(m, scatter_value, SB_GRAD(self, (grad, dim, index), scatter_value(grad, dim, index, 0)));
  derive(m, scatter_add, SB_GRAD(self, (grad), grad),
         SB_GRAD(src, (grad, dim, index, src_meta), source_gradient(grad, dim, index, src_meta)));

  derive(m, scatter_reduce,
         SB_GRAD((self, src), (grad, self, dim, index, src, reduce, include_self, result, needs),
                 scatter_reduce_gradients({grad, self, src, result, reduce, include_self}, dim,
                                          index, needs)));
  derive(m, scatter_with_reduce,
         SB_GRAD((self, src), (grad, self, dim, index, src, reduce, result, needs),
                 scatter_reduce_gradients({grad, self, src, result, reduction_of(reduce), true},
                                          dim, index, needs)));
  derive(m, scatter_value_reduce,
         SB_GRAD(self, (grad, dim, index, value, reduce),
                 reduce == "add"
                     ? grad
                     : scatter_value_reduce(grad, dim, index, internal::conjugate(value), reduce)));
}

}  // namespace
}  // namespace sb
