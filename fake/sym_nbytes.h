// The bytes of tensors and storages whose sizes may be symbols.

#ifndef SWITCHBOARD_FAKE_SYM_NBYTES_H_
#define SWITCHBOARD_FAKE_SYM_NBYTES_H_

#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/core/tensor.h"

namespace sb {

// numel * itemsize: a number where the sizes are numbers. As `Tensor.nbytes` of a symbolic tensor.
// Records nothing.
SymInt sym_nbytes(const Tensor& tensor);

// The bytes of the storage that a tensor was made with, which are those up to its last element:
// symbols where its sizes, strides or offset are. Sizes that are expressions count as at least 1.
// Where the sizes at hand do not give the bytes that the storage has (a view of a part, a storage
// that was resized), that storage is not this tensor's alone, and RuntimeError says so. As
// `Tensor.untyped_storage().nbytes()`. Records nothing.
SymInt sym_storage_nbytes(const Tensor& tensor);

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_SYM_NBYTES_H_
