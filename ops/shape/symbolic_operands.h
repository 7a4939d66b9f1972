// Elementwise operators on tensors with symbolic sizes.

#ifndef SWITCHBOARD_OPS_SHAPE_SYMBOLIC_OPERANDS_H_
#define SWITCHBOARD_OPS_SHAPE_SYMBOLIC_OPERANDS_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "switchboard/core/symbols/symbolic_shape.h"
#include "switchboard/core/tensor.h"

namespace sb::internal {

// Dense strides for a new tensor of t's symbolic sizes, in the order of t's own. As those of
// empty_like.
SymDimVector dense_strides_like(const Tensor& t);

// The shape of the result is worked out on symbols. For all else (dtypes, devices, the order of
// strides) meta tensors whose sizes are numbers stand for the operands, so that a TensorIterator
// need not know of symbols. As the fast rule of `fake_impls.make_fast_binary_impl`, for any number
// of operands.
//
// Two sizes that are the same expression agree without a question; otherwise each is asked whether
// it is 1 before both are checked to be equal, so that a size which data decides is checked when
// the data is there.
class SymbolicOperands {
 public:
  // `out` may be undefined; `fixed_output` says that it takes part in the broadcast. Throws
  // RuntimeError where the shapes do not fit.
  SymbolicOperands(const Tensor& out, absl::Span<const Tensor* const> inputs, bool fixed_output);

  // The stand-ins of out (undefined if it is) and of input i.
  const Tensor& out() const { return out_stand_in_; }
  const Tensor& input(size_t i) const { return input_stand_ins_[i]; }

  // The result, given what stands for it: out, resized, or a new tensor.
  Tensor result(const Tensor& stand_in) const;

 private:
  // True if dimension d of the result, counted from the last, is broadcast from 1 in an operand.
  using Ones = absl::InlinedVector<bool, 6>;
  void broadcast(const Tensor& t, Ones* ones);
  Tensor stand_in(const Tensor& t, const Ones& ones) const;

  const Tensor& out_;
  SymDimVector shape_;  // from the last dimension
  Tensor out_stand_in_;
  std::vector<Tensor> input_stand_ins_;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_SHAPE_SYMBOLIC_OPERANDS_H_
