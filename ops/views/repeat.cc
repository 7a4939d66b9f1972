#include "switchboard/ops/views/repeat.h"

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"

namespace sb {
namespace {

template <SizeType Int>
BasicTensorMeta<Int> repeat_rule(const Tensor& self, SymIntArrayRef given) {
  const SizesRef<Int> own = sizes_of<Int>(self), repeats = sizes_as<Int>(given);
  SB_CHECK(repeats.size() >= own.size(), "repeat: repeats ", shape_text(repeats),
           " has fewer entries than ", self.describe(), " has dimensions");
  BasicTensorMeta<Int> meta{{repeats.begin(), repeats.end()}, self.dtype()};
  for (const Int& n : repeats)
    SB_CHECK(n >= 0, "repeat: repeats ", shape_text(repeats), " has a negative entry");
  for (size_t i = 1; i <= own.size(); ++i) {
    Int& size = meta.sizes[meta.sizes.size() - i];
    size = product_of(size, own[own.size() - i]);
  }
  return meta;
}

// Each dimension of `out` as two, that of the repeats and that of self, over which self broadcasts.
void repeat_kernel(const Tensor& self, SymIntArrayRef given, const Tensor& out) {
  const IntArrayRef repeats = given.expect_ints();
  if (out.numel() == 0) return;
  const size_t added = repeats.size() - self.sizes().size();
  DimVector out_sizes, out_strides, sizes, strides;
  for (size_t d = 0; d < repeats.size(); ++d) {
    const int64_t size = d < added ? 1 : self.sizes()[d - added];
    const int64_t stride = d < added ? 0 : self.strides()[d - added];
    out_sizes.insert(out_sizes.end(), {repeats[d], size});
    out_strides.insert(out_strides.end(), {out.strides()[d] * size, out.strides()[d]});
    sizes.insert(sizes.end(), {repeats[d], size});
    strides.insert(strides.end(), {0, stride});
  }
  copy_elements(alias_with_unchecked(out, out_sizes, out_strides, out.storage_offset()),
                alias_with_unchecked(self, sizes, strides, self.storage_offset()), false);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  constexpr auto rule = by_size_rule<repeat_rule<int64_t>, repeat_rule<SymInt>>;
  define(m, repeat).structured<rule, repeat_kernel>().out(repeat_out);
}

}  // namespace sb
