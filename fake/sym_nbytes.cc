#include "switchboard/fake/sym_nbytes.h"

#include <algorithm>

#include "switchboard/core/error.h"

namespace sb {
namespace {

int64_t itemsize_of(const Tensor& tensor) { return static_cast<int64_t>(tensor.itemsize()); }

// Bytes up to the last element; none where a size is the number 0.
SymInt bytes_reached(const Tensor& tensor) {
  SymInt last = tensor.sym_storage_offset();
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    const SymInt size = tensor.sym_size(i);
    if (size.maybe_int() == 0) return 0;
    last += (size - 1) * tensor.sym_stride(i);
  }
  return (last + 1) * itemsize_of(tensor);
}

}  // namespace

SymInt sym_nbytes(const Tensor& tensor) { return tensor.sym_numel() * itemsize_of(tensor); }

SymInt sym_storage_nbytes(const Tensor& tensor) {
  SB_CHECK(tensor.defined() && tensor.storage(), "sym_storage_nbytes: expected a tensor with a ",
           "storage, got ", tensor.describe());
  const auto at_hand = static_cast<int64_t>(tensor.storage()->nbytes());
  if (!tensor.is_symbolic()) return at_hand;
  const SymInt bytes = bytes_reached(tensor);
  SB_CHECK(stand_in(bytes) == at_hand, "sym_storage_nbytes: the storage of ", tensor.describe(),
           " has ", at_hand, " bytes, and its sizes reach ", bytes.to_string(), " = ",
           stand_in(bytes), " of them");
  return bytes;
}

}  // namespace sb
