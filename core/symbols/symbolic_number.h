// Tensors that stand for a symbol, as a 0-dim tensor stands for the number in `x + 2`.

#ifndef SWITCHBOARD_CORE_SYMBOLS_SYMBOLIC_NUMBER_H_
#define SWITCHBOARD_CORE_SYMBOLS_SYMBOLIC_NUMBER_H_

#include "switchboard/core/scalar.h"
#include "switchboard/core/tensor.h"

namespace sb {

// A 0-dim meta tensor, a wrapped number (TensorImpl::is_wrapped_number) of the symbol's kind. It
// has no data, which nobody could fill in; fake tensors made from it know the symbol too.
Tensor make_symbolic_number(const Scalar& symbol);
// The symbol that the tensor stands for; nullptr for any other tensor.
const Scalar* symbolic_number_of(const Tensor& tensor);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_SYMBOLS_SYMBOLIC_NUMBER_H_
