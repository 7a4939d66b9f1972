#include "switchboard/ops/views/scatter_views.h"

#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/keep_strides.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// A copy of self with `src` written to the part that `view` gives of it.
template <class View>
Tensor scatter(const char* op, const Tensor& self, const Tensor& src, View&& view,
               Tensor (*copy_of)(const Tensor&) = clone_keeping_strides) {
  check_defined(op, self);
  check_defined(op, src);
  Tensor result = copy_of(self);
  const Tensor part = view(result);
  by_size(any_symbolic(part, src), [&]<class Int>() {
    SB_CHECK(equal_sizes<Int>(sizes_of<Int>(part), sizes_of<Int>(src)), op,
             ": argument src: expected the shape of the view, ", shape_text(sizes_of<Int>(part)),
             ", got ", shape_text(sizes_of<Int>(src)));
  });
  copy_(part, src);
  return result;
}

Tensor slice_scatter_kernel(const Tensor& self, const Tensor& src, int64_t dim,
                            std::optional<SymInt> start, std::optional<SymInt> end,
                            const SymInt& step) {
  return scatter("slice_scatter", self, src,
                 [&](const Tensor& t) { return slice(t, dim, start, end, step); });
}

Tensor select_scatter_kernel(const Tensor& self, const Tensor& src, int64_t dim,
                             const SymInt& index) {
  return scatter("select_scatter", self, src,
                 [&](const Tensor& t) { return select(t, dim, index); });
}

Tensor as_strided_scatter_kernel(const Tensor& self, const Tensor& src, SymIntArrayRef size,
                                 SymIntArrayRef stride, std::optional<SymInt> storage_offset) {
  return scatter(
      "as_strided_scatter", self, src,
      [&](const Tensor& t) { return as_strided(t, size, stride, storage_offset); },
      clone_keeping_offset);
}

Tensor copy_kernel(const Tensor& self, const Tensor& src, bool non_blocking) {
  check_defined("copy", self);
  check_defined("copy", src);
  return copy_(empty_keeping_strides(self), src, non_blocking);
}

Tensor fill_kernel(const Tensor& self, const Scalar& value) {
  check_defined("fill", self);
  return fill_(empty_like(self), value);
}
Tensor fill_tensor_kernel(const Tensor& self, const Tensor& value) {
  check_defined("fill", self);
  return fill__Tensor(empty_like(self), value);
}
Tensor zero_kernel(const Tensor& self) {
  check_defined("zero", self);
  return zero_(empty_like(self));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  // A backend that has no mutation of its own must not find these, which mutate what they make.
  const auto all = DispatchKey::CompositeExplicitAutogradNonFunctional;
  define(m, slice_scatter).kernel(all, slice_scatter_kernel).out(slice_scatter_out);
  define(m, select_scatter).kernel(all, select_scatter_kernel).out(select_scatter_out);
  define(m, as_strided_scatter, Tag::derived_through)
      .kernel(all, as_strided_scatter_kernel)
      .out(as_strided_scatter_out);
  define(m, copy).kernel(all, copy_kernel).out(copy_out);
  define(m, fill).composite_explicit(fill_kernel).out(fill_out);
  define(m, fill_Tensor).composite_explicit(fill_tensor_kernel).out(fill_Tensor_out);
  define(m, zero).composite_explicit(zero_kernel).out(zero_out);
}

}  // namespace sb
