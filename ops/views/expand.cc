#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// As `at::inferExpandGeometry`. The strides of dimensions of size 1 are PyTorch's too.
template <SizeType Int>
Tensor expanded(const Tensor& self, SizesRef<Int> size) {
  const SizesRef<Int> old_sizes = sizes_of<Int>(self);
  const size_t rank = old_sizes.size();
  SB_CHECK(size.size() >= rank, "expand: size ", shape_text(size), " has fewer entries than ",
           self.describe(), " has dimensions");
  const size_t added = size.size() - rank;
  SizeVector<Int> sizes(size.begin(), size.end());
  SizeVector<Int> strides(size.size(), Int(0));
  for (size_t i = size.size(); i-- > 0 && rank != 0;) {
    const bool keeps = same_size(size[i], Int(-1));
    if (i < added) {
      SB_CHECK(!keeps, "expand: size ", shape_text(size), " has -1 at dimension ", i, ", which ",
               self.describe(), " does not have");
      if (is_one(size[i])) strides[i] = product_of(sizes[i + 1], strides[i + 1]);
      continue;
    }
    const Int& old = old_sizes[i - added];
    if (keeps || known(size[i] == old) || !is_one(old)) {
      SB_CHECK(keeps || size[i] == old, "expand: size ", shape_text(size), " does not match ",
               self.describe(), " at dimension ", i,
               ": only a dimension of size 1 can be expanded");
      sizes[i] = old;
      strides[i] = strides_of<Int>(self)[i - added];
    }
  }
  return alias_of_shape(self, sizes, strides, storage_offset_of<Int>(self));
}

Tensor expand_kernel(const Tensor& self, SymIntArrayRef size, bool) {
  check_defined("expand", self);
  return by_size(any_symbolic(self, size),
                 [&]<class Int>() { return expanded<Int>(self, sizes_as<Int>(size)); });
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, expand).view(expand_kernel);
  define(m, expand_as).composed([](const Tensor& self, const Tensor& other) {
    check_defined("expand_as", other);
    return expand(self, other.sym_sizes());
  });
  define(m, broadcast_to).composed([](const Tensor& self, SymIntArrayRef size) {
    return expand(self, size);
  });
}

}  // namespace sb
