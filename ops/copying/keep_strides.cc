#include "switchboard/ops/copying/keep_strides.h"

#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

template <SizeType Int>
bool repeats_elements(const Tensor& t) {
  const SizesRef<Int> sizes = sizes_of<Int>(t), strides = strides_of<Int>(t);
  for (size_t d = 0; d < sizes.size(); ++d)
    if (known(strides[d] == Int(0)) && !is_one<Int>(sizes[d])) return true;
  return false;
}
bool repeats_elements(const Tensor& t) {
  return by_size(t.is_symbolic(), [&]<class Int>() { return repeats_elements<Int>(t); });
}

}  // namespace

Tensor empty_keeping_strides(const Tensor& self) {
  if (repeats_elements(self)) return empty_like(self);
  return empty_strided(self.sym_sizes(), self.sym_strides(), self.dtype(), self.layout(),
                       self.device());
}

Tensor clone_keeping_strides(const Tensor& self) {
  return copy_(empty_keeping_strides(self), self);
}

Tensor clone_keeping_offset(const Tensor& self) {
  const SymInt offset = self.sym_storage_offset();
  if (known(offset == 0) || repeats_elements(self)) return clone_keeping_strides(self);
  SymInt last = offset;
  for (size_t d = 0; d < self.sym_sizes().size(); ++d)
    last += sym_max(self.sym_sizes()[d] - 1, SymInt(0)) * self.sym_strides()[d];
  const Tensor room = new_empty(self, {last + 1});
  return copy_(as_strided(room, self.sym_sizes(), self.sym_strides(), offset), self);
}

}  // namespace sb
