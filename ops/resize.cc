#include "switchboard/ops/resize.h"

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/checked_math.h"

namespace sb {

void resize_tensor(const Tensor& t, IntArrayRef sizes, IntArrayRef strides) {
  SB_CHECK(t.defined(), "resize: got an undefined tensor");
  // Growing the storage may throw, and comes before the shape: what it does alone is not seen.
  absl::InlinedVector<int64_t, 5> contiguous;
  const bool given = !strides.empty();
  if (!given) {
    contiguous.resize(sizes.size());
    int64_t stride = 1;
    for (size_t d = sizes.size(); d-- > 0;) {
      SB_CHECK(sizes[d] >= 0, "resize: sizes [", absl::StrJoin(sizes, ", "),
               "]: a size is negative");
      contiguous[d] = stride;
      stride = checked_mul(stride, sizes[d] > 1 ? sizes[d] : 1);
    }
    strides = contiguous;
  }
  const int64_t needed =
      checked_storage_bytes(sizes, strides, t.storage_offset(), static_cast<int64_t>(t.itemsize()));
  const Storage& storage = t.storage();
  SB_CHECK(storage, "resize: ", t.describe(), " has no storage");
  if (static_cast<size_t>(needed) > storage->nbytes()) {
    storage->resize(static_cast<size_t>(needed));
  }
  if (given)
    t.impl()->set_sizes_and_strides(sizes, strides);
  else
    t.impl()->set_sizes_contiguous(sizes);
}

bool resize_output(const Tensor& out, IntArrayRef sizes, IntArrayRef strides) {
  SB_CHECK(out.defined(), "out: got an undefined tensor");
  if (out.sizes() == sizes) return false;
  resize_tensor(out, sizes, strides);
  return true;
}

}  // namespace sb
