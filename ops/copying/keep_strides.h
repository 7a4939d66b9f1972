// Tensors that lie in memory as another one does, gaps and all.

#ifndef SWITCHBOARD_OPS_COPYING_KEEP_STRIDES_H_
#define SWITCHBOARD_OPS_COPYING_KEEP_STRIDES_H_

#include "switchboard/core/tensor.h"

namespace sb {

// An uninitialised tensor like self, with its very strides; as empty_like where an expanded
// dimension makes elements share memory, since it is to be written to.
Tensor empty_keeping_strides(const Tensor& self);
// With self's elements. As `at::clone_preserve_strides`, but for the storage offset.
Tensor clone_keeping_strides(const Tensor& self);
// With its storage offset, too: what counts from the start of self's storage finds its place.
Tensor clone_keeping_offset(const Tensor& self);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_COPYING_KEEP_STRIDES_H_
