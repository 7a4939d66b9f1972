// The gradients of reductions into places; their operators are derived beside scatter and
// index_add.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/bitwise.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/derivatives/reduce_gradients.h"
#include "switchboard/ops/lazy_bits/conjugate.h"

namespace sb {
namespace {

using Gradients = std::array<Tensor, 2>;

// How many elements meet at each place, at least 1.
Tensor counts(const IndexedReduction& call, const IndexedPlaces& places) {
  const Tensor own = call.include_self ? ones_like(call.grad) : zeros_like(call.grad);
  const Tensor all = places.add(own, ones_like(call.source));
  return masked_fill(all, eq_Scalar(all, 0), 1);
}

Gradients extreme_gradients(const IndexedReduction& call, const IndexedPlaces& places) {
  const DType dtype = call.self.dtype();
  Tensor own = to_dtype(eq(call.self, call.result), dtype);
  if (!call.include_self) own = places.fill(own, 0);
  const Tensor others = to_dtype(eq(call.source, places.read(call.result)), dtype);
  const Tensor share = div(call.grad, places.add(own, others));
  return {mul(own, share), mul(others, places.read(share))};
}

// Of products, where zeros forbid to divide the result by an element.
class ProductGradients {
 public:
  ProductGradients(const IndexedReduction& call, const IndexedPlaces& places)
      : call_(call), places_(places) {
    const Tensor& self = call.self;
    const Tensor& source = call.source;
    self_zero_ = eq_Scalar(self, 0);
    source_zero_ = eq_Scalar(source, 0);
    Tensor base = masked_fill(self, self_zero_, 1), own = to_dtype(self_zero_, self.dtype());
    Tensor zeros = masked_fill(self, bitwise_not(self_zero_), 0);
    if (!call.include_self) {
      base = places.fill(base, 1);
      own = places.fill(own, 0);
      zeros = places.fill(zeros, 0);
    }
    others_ = places.multiply(base, masked_fill(source, source_zero_, 1));
    count_ = places.add(own, to_dtype(source_zero_, self.dtype()));
    // Of two zeros each is the other's factor: nothing, but what the second derivative is made of.
    if (is_grad_enabled())
      zeros_ = places.add(zeros, masked_fill(source, bitwise_not(source_zero_), 0));
  }

  Tensor of_self() const {
    return of(call_.self, self_zero_, [](const Tensor& table) { return table; });
  }
  Tensor of_source() const { return of(call_.source, source_zero_, places_.read); }

 private:
  template <class Read>
  Tensor of(const Tensor& x, const Tensor& is_zero, const Read& read) const {
    const Tensor quotient = div(read(call_.result), masked_fill(x, is_zero, 1));
    const Tensor others = read(others_), count = read(count_);
    Tensor factor = where(eq_Scalar(count, 1), others, zeros_like(others));
    if (zeros_.defined()) {
      const Tensor with_other = mul(others, sub(read(zeros_), x));
      factor = where(eq_Scalar(count, 2), with_other, factor);
    }
    return mul(read(call_.grad), conj(where(is_zero, factor, quotient)));
  }

  const IndexedReduction& call_;
  const IndexedPlaces& places_;
  Tensor self_zero_, source_zero_;
  Tensor others_;  // the product of what is not 0
  Tensor count_;   // of zeros
  Tensor zeros_;   // their sum
};

}  // namespace

std::array<Tensor, 2> reduction_gradients(const IndexedReduction& call, const IndexedPlaces& places,
                                          const std::array<bool, 2>& needs) {
  Gradients grads;
  if (call.reduce == "sum") {
    grads = {call.grad, places.read(call.grad)};
  } else if (call.reduce == "mean") {
    const Tensor share = div(call.grad, counts(call, places));
    grads = {share, places.read(share)};
  } else if (call.reduce == "prod") {
    const ProductGradients products(call, places);
    if (needs[0]) grads[0] = products.of_self();
    if (needs[1]) grads[1] = products.of_source();
  } else {
    grads = extreme_gradients(call, places);
  }
  if (!call.include_self && needs[0]) grads[0] = places.fill(grads[0], 0);
  return grads;
}

}  // namespace sb
