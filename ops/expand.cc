#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/views.h"

namespace sb {
namespace {

// As `at::inferExpandGeometry`. The strides of dimensions of size 1 are PyTorch's too.
Tensor expand_kernel(const Tensor& self, IntArrayRef size, bool) {
  check_defined("expand", self);
  const size_t rank = self.sizes().size();
  SB_CHECK(size.size() >= rank, "expand: size ", shape_text(size), " has fewer entries than ",
           self.describe(), " has dimensions");
  const size_t added = size.size() - rank;
  DimVector sizes(size.begin(), size.end());
  DimVector strides(size.size(), 0);
  for (size_t i = size.size(); i-- > 0 && rank != 0;) {
    if (i < added) {
      SB_CHECK(size[i] != -1, "expand: size ", shape_text(size), " has -1 at dimension ", i,
               ", which ", self.describe(), " does not have");
      if (size[i] == 1) strides[i] = checked_mul(sizes[i + 1], strides[i + 1]);
      continue;
    }
    const int64_t old = self.sizes()[i - added];
    if (size[i] == -1 || size[i] == old) {
      sizes[i] = old;
      strides[i] = self.strides()[i - added];
    } else {
      SB_CHECK(old == 1, "expand: size ", shape_text(size), " does not match ", self.describe(),
               " at dimension ", i, ": only a dimension of size 1 can be expanded");
    }
  }
  return alias_with_unchecked(self, sizes, strides, self.storage_offset());
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  m.define(expand);
  m.impl(expand, DispatchKey::CompositeExplicitAutograd, expand_kernel);
  m.define(expand_as);
  m.impl(expand_as, DispatchKey::CompositeImplicitAutograd,
         [](const Tensor& self, const Tensor& other) {
           check_defined("expand_as", other);
           return expand(self, other.sizes());
         });
  m.define(broadcast_to);
  m.impl(broadcast_to, DispatchKey::CompositeImplicitAutograd,
         [](const Tensor& self, SymIntArrayRef size) { return expand(self, size); });
}

}  // namespace sb
