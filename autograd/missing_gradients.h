// Stands in the place of a formula for an argument whose derivative is not known.

#ifndef SWITCHBOARD_AUTOGRAD_MISSING_GRADIENTS_H_
#define SWITCHBOARD_AUTOGRAD_MISSING_GRADIENTS_H_

#include "switchboard/core/error.h"
#include "switchboard/core/tensor.h"

namespace sb::internal {

// Without a formula the argument would have no gradient, in silence. Throws NotImplementedError
// when the gradient is asked for.
[[noreturn]] inline Tensor no_derivative(const char* op, const char* argument) {
  SB_THROW(NotImplementedError, op, ": no derivative by ", argument, " is known");
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_MISSING_GRADIENTS_H_
