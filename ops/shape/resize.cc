#include "switchboard/ops/shape/resize.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/core/symbols/symbolic_shape.h"

namespace sb {

namespace {

absl::InlinedVector<int64_t, 5> contiguous_strides(IntArrayRef sizes) {
  absl::InlinedVector<int64_t, 5> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    SB_CHECK(sizes[d] >= 0, "resize: sizes [", absl::StrJoin(sizes, ", "), "]: a size is negative");
    strides[d] = stride;
    stride = checked_mul(stride, sizes[d] > 1 ? sizes[d] : 1);
  }
  return strides;
}

// The bytes that the storage of `t` needs for these sizes, where it has fewer and may grow; else 0.
size_t missing_bytes(const Tensor& t, IntArrayRef sizes, IntArrayRef strides) {
  SB_CHECK(t.defined(), "resize: got an undefined tensor");
  absl::InlinedVector<int64_t, 5> contiguous;
  if (strides.empty()) {
    contiguous = contiguous_strides(sizes);
    strides = contiguous;
  }
  const int64_t needed =
      checked_storage_bytes(sizes, strides, t.storage_offset(), static_cast<int64_t>(t.itemsize()));
  const Storage& storage = t.storage();
  SB_CHECK(storage, "resize: ", t.describe(), " has no storage");
  if (static_cast<size_t>(needed) <= storage->nbytes()) return 0;
  SB_CHECK(storage->resizable(), "resize: the storage of ", t.describe(), ", of ",
           storage->nbytes(), " bytes, is not resizable");
  return static_cast<size_t>(needed);
}

// Grows the storage of `t` to what these sizes need.
void grow_storage(const Tensor& t, IntArrayRef sizes, IntArrayRef strides) {
  if (const size_t needed = missing_bytes(t, sizes, strides)) t.storage()->resize(needed);
}

}  // namespace

void resize_tensor(const Tensor& t, IntArrayRef sizes, IntArrayRef strides) {
  // Growing the storage may throw, and comes before the shape: what it does alone is not seen.
  grow_storage(t, sizes, strides);
  if (strides.empty())
    t.impl()->set_sizes_contiguous(sizes);
  else
    t.impl()->set_sizes_and_strides(sizes, strides);
}

void set_symbolic_sizes(const Tensor& t, SymIntArrayRef sizes, SymIntArrayRef strides) {
  // They may be those of `t` itself.
  const SymDimVector own(sizes.begin(), sizes.end());
  const SymDimVector laid_out = strides.empty() ? contiguous_strides(SymIntArrayRef(own))
                                                : SymDimVector(strides.begin(), strides.end());
  t.impl()->set_sym_sizes_and_strides(own, laid_out, t.sym_storage_offset());
}

bool resize_symbolic_output(const Tensor& out, SymIntArrayRef sizes) {
  SB_CHECK(out.defined(), "out: got an undefined tensor");
  const bool same = std::ranges::equal(
      out.sym_sizes(), sizes, [](const SymInt& a, const SymInt& b) { return same_size(a, b); });
  if (!same) set_symbolic_sizes(out, sizes);
  return !same;
}

bool output_must_grow(const Tensor& out, IntArrayRef sizes, IntArrayRef strides) {
  SB_CHECK(out.defined(), "out: got an undefined tensor");
  return out.sizes() != sizes && missing_bytes(out, sizes, strides) != 0;
}

void reserve_output(const Tensor& out, IntArrayRef sizes, IntArrayRef strides) {
  SB_CHECK(out.defined(), "out: got an undefined tensor");
  if (out.sizes() != sizes) grow_storage(out, sizes, strides);
}

bool resize_output(const Tensor& out, IntArrayRef sizes, IntArrayRef strides) {
  SB_CHECK(out.defined(), "out: got an undefined tensor");
  if (out.sizes() == sizes) return false;
  resize_tensor(out, sizes, strides);
  return true;
}

}  // namespace sb
