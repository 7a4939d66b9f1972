// Conjugation and negation that wait: views of a tensor whose elements are read as conjugates or
// negatives. The bits are the dispatch keys Conjugate and Negative; resolve_bits.cc holds what
// every operator without a better idea does about them.

#ifndef SWITCHBOARD_OPS_LAZY_BITS_CONJUGATE_H_
#define SWITCHBOARD_OPS_LAZY_BITS_CONJUGATE_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// The conjugate. Of a complex tensor a view with its bit turned; of any other, self.
SB_OP(conj, "aten::conj(Tensor(a) self) -> Tensor(a)");
SB_OP(_conj, "aten::_conj(Tensor(a) self) -> Tensor(a)");
// The conjugate as memory holds it: a new tensor for complex numbers, else self. out has self's
// dtype.
SB_OP(conj_physical, "aten::conj_physical(Tensor self) -> Tensor");
SB_OP(conj_physical_, "aten::conj_physical_(Tensor(a!) self) -> Tensor(a!)");
SB_OP(conj_physical_out, "aten::conj_physical.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(_conj_physical, "aten::_conj_physical(Tensor self) -> Tensor");
// A view of the negatives.
SB_OP(_neg_view, "aten::_neg_view(Tensor(a) self) -> Tensor(a)");

// A copy without the bit where self has it, else self.
SB_OP(resolve_conj, "aten::resolve_conj(Tensor(a) self) -> Tensor(a)");
SB_OP(resolve_neg, "aten::resolve_neg(Tensor(a) self) -> Tensor(a)");

// Views of the parts of complex numbers; real gives real tensors as they are. RuntimeError for the
// imag of a real tensor.
SB_OP(real, "aten::real(Tensor(a) self) -> Tensor(a)");
SB_OP(imag, "aten::imag(Tensor(a) self) -> Tensor(a)");
// Real numbers for complex ones, with a last dimension of 2, and back. RuntimeError where the
// dtype, sizes, strides or offset do not allow it, and for a tensor with its conjugate bit set.
SB_OP(view_as_real, "aten::view_as_real(Tensor(a) self) -> Tensor(a)");
SB_OP(view_as_complex, "aten::view_as_complex(Tensor(a) self) -> Tensor(a)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LAZY_BITS_CONJUGATE_H_
