// The *_copy form of every view, and the functional forms of resize_ and resize_as_.

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/indexing/view_backward.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/shape/size_bounds.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {

SB_OP(lift, "aten::lift(Tensor self) -> Tensor");
SB_OP(lift_fresh, "aten::lift_fresh(Tensor(a) self) -> Tensor(a)");
SB_OP(narrow_copy,
      "aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor");
SB_OP(narrow_copy_out, out_of(narrow_copy, "out"));

namespace {

// The dimension and the start, counted from the first.
template <SizeType Int>
std::pair<size_t, Int> narrowed(const Tensor& self, int64_t dim, const Int& start,
                                const Int& length) {
  const char* const op = "narrow_copy";
  SB_CHECK(self.dim() > 0, op, ": ", self.describe(), " has no dimensions");
  SB_CHECK(dim < self.dim(), op, ": dimension ", dim, " is out of range for ", self.describe());
  dim = wrap_dim(op, dim, self.dim());
  const Int& size = sizes_of<Int>(self)[static_cast<size_t>(dim)];
  SB_CHECK_INDEX(sym_and(start >= -size, start <= size), op, ": start ", size_text(start),
                 " is out of range at dimension ", dim, " of ", self.describe());
  const Int from = from_front(start, size);
  const auto check = [&](const auto& truth) {
    SB_CHECK(truth, op, ": start ", size_text(from), " and length ", size_text(length),
             " leave dimension ", dim, " of ", self.describe());
  };
  check(length >= 0);
  check(length <= size - from);
  return {static_cast<size_t>(dim), from};
}

template <SizeType Int>
BasicTensorMeta<Int> narrow_copy_rule(const Tensor& self, int64_t dim, const SymInt& start,
                                      const SymInt& length) {
  const size_t d = narrowed<Int>(self, dim, size_as<Int>(start), size_as<Int>(length)).first;
  BasicTensorMeta<Int> meta{size_vector<Int>(self), self.dtype()};
  meta.sizes[d] = size_as<Int>(length);
  return meta;
}
void narrow_copy_kernel(const Tensor& self, int64_t dim, const SymInt& start, const SymInt& length,
                        const Tensor& out) {
  const auto [d, from] = narrowed<int64_t>(self, dim, start.expect_int(), length.expect_int());
  const int64_t offset = self.storage_offset() + from * self.strides()[d];
  copy_elements(out, alias_with_unchecked(self, out.sizes(), self.strides(), offset), false);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_view_copy(m, alias.schema());
  define_view_copy(m, as_strided.schema());
  define_view_copy(m, detach.schema());
  define_view_copy(m, diagonal.schema());
  define_view_copy(m, expand.schema());
  define_view_copy(m, permute.schema());
  define_view_copy(m, _reshape_alias.schema());
  define_view_copy(m, select.schema());
  define_view_copy(m, slice.schema());
  define_view_copy(m, split.schema());
  define_view_copy(m, split_with_sizes.schema());
  define_view_copy(m, squeeze.schema());
  define_view_copy(m, squeeze_dim.schema());
  define_view_copy(m, squeeze_dims.schema());
  define_view_copy(m, t.schema());
  define_view_copy(m, transpose.schema());
  define_view_copy(m, unbind.schema());
  define_view_copy(m, unfold.schema());
  define_view_copy(m, unsqueeze.schema());
  // A shape that no view has is copied, not refused.
  define_view_copy(m, view.schema(), "aten::reshape");
  define_view_copy(m, view_dtype.schema());
  define_view_copy(m, _conj.schema());
  define_view_copy(m, _neg_view.schema());
  define_view_copy(m, view_as_real.schema());
  define_view_copy(m, view_as_complex.schema());
  define_view_copy(m, lift_fresh.schema());
  define(m, narrow_copy)
      .structured<by_size_rule<narrow_copy_rule<int64_t>, narrow_copy_rule<SymInt>>,
                  narrow_copy_kernel>()
      .out(narrow_copy_out);

  define_functional(m, resize_.schema());
  define_functional(m, resize_as_.schema());

  // They mark tensors from outside of a trace; outside of traces there is nothing to do.
  const auto same = [](const Tensor& self) { return self; };
  define(m, lift, {Tag::derived_through, Tag::maybe_aliasing_or_mutating})
      .composite_explicit(same)
      .out("out");
  define(m, lift_fresh, Tag::derived_through).view(same);
}

}  // namespace sb
