// Symbols for the sizes of real tensors.

#ifndef SWITCHBOARD_FAKE_SYMBOLIC_SIZES_H_
#define SWITCHBOARD_FAKE_SYMBOLIC_SIZES_H_

#include "switchboard/fake/fake_tensor_mode.h"

namespace sb::internal {

// Gives a fake tensor symbols for its sizes, and for the strides that do not follow from them.
void make_symbolic(ShapeEnv& env, const Tensor& fake, const FromTensorOptions& how);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_SYMBOLIC_SIZES_H_
