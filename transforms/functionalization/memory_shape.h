// Where the elements of a tensor lie in its storage.

#ifndef SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_MEMORY_SHAPE_H_
#define SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_MEMORY_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "switchboard/core/symbols/known.h"
#include "switchboard/core/symbols/symbolic_shape.h"
#include "switchboard/core/tensor.h"
#include "switchboard/transforms/functionalization/functional_tensor.h"

namespace sb::internal {

// Its numbers may be symbols, which stay.
struct MemoryShape {
  SymDimVector sizes;
  SymDimVector strides;
  SymInt offset;
  SymInt bytes;  // of its storage

  explicit MemoryShape(const Tensor& t)
      : sizes(t.sym_sizes().begin(), t.sym_sizes().end()),
        strides(t.sym_strides().begin(), t.sym_strides().end()),
        offset(t.sym_storage_offset()) {
    if (const FunctionalTensorImpl* const functional = functional_impl(t))
      bytes = functional->functional_storage()->sym_nbytes();
    else if (t.is_symbolic())
      bytes = reach_of(sizes, strides, offset) * static_cast<int64_t>(t.itemsize());
    else
      bytes = static_cast<int64_t>(t.storage()->nbytes());
  }
  SymInt numel() const { return sym_product(sizes); }
  // Whether both are known to be the same.
  bool operator==(const MemoryShape& other) const {
    return lies_as(other) && known(bytes == other.bytes);
  }

  // As an out= operator resizes. Whether the storage grows is asked.
  void resize(SymIntArrayRef to, size_t itemsize) {
    sizes.assign(to.begin(), to.end());
    strides = contiguous_strides(sizes);
    grow((offset + numel()) * static_cast<int64_t>(itemsize));
  }
  // As an operator has left what stands in for the tensor. The same is asked.
  void become(const Tensor& after) {
    MemoryShape now(after);
    std::swap(*this, now);
    if (!bytes.is_symbolic() && !now.bytes.is_symbolic()) return;
    std::swap(bytes, now.bytes);
    if (!lies_as(now)) grow(now.bytes);
  }

 private:
  bool lies_as(const MemoryShape& other) const {
    return are_same(sizes, other.sizes) && are_same(strides, other.strides) &&
           known(offset == other.offset);
  }
  void grow(const SymInt& needed) {
    if (!known(numel() == 0) && needed > bytes) bytes = needed;
  }
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_MEMORY_SHAPE_H_
