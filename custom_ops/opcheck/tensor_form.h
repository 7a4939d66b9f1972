// A call as a function from tensors to tensors, which is what transforms of programs take.

#ifndef SWITCHBOARD_CUSTOM_OPS_OPCHECK_TENSOR_FORM_H_
#define SWITCHBOARD_CUSTOM_OPS_OPCHECK_TENSOR_FORM_H_

#include <vector>

#include "switchboard/custom_ops/opcheck/checked_call.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb::internal {

// The defined tensors in values, in order, those in lists included.
std::vector<Tensor> tensors_in(const Stack& values);
// The values with these in their place.
Stack with_tensors(const Stack& values, const std::vector<Tensor>& tensors);

// The call as a function of the tensors in its arguments: calls the operator and gives the tensors
// in its results.
TensorFunction tensor_form(const CheckedCall& call);
// The same without a write to its inputs, which must not be views of one another: clones are
// written to, and given after the results.
TensorFunction pure_form(const CheckedCall& call);
// The results of the pure form of the call and then the gradients, with ones for the gradients of
// results, of those inputs that require one in the call; an undefined gradient is left out. The
// inputs need not require any themselves.
TensorFunction backward_form(const CheckedCall& call);

}  // namespace sb::internal

#endif  // SWITCHBOARD_CUSTOM_OPS_OPCHECK_TENSOR_FORM_H_
