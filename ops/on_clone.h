// Functional and out= forms of operators whose in-place form has kernels of its own.

#ifndef SWITCHBOARD_OPS_ON_CLONE_H_
#define SWITCHBOARD_OPS_ON_CLONE_H_

#include "switchboard/ops/copy.h"
#include "switchboard/ops/out_by_copy.h"

namespace sb {

namespace internal {

// The functional form: the in-place one on a clone.
template <class InplaceTag>
struct OnClone {
  template <class R, class Self, class... Rest>
  struct Kernel {
    Tensor operator()(Self self, Rest... rest) const {
      SB_CHECK(self.defined(), Op<InplaceTag>::name(), ": self: expected a tensor, got none");
      return Op<InplaceTag>().call(clone(self), rest...);
    }
  };
};

}  // namespace internal

// Defines the functional and the out= form of `op`, declared by SB_STRUCTURED, from its in-place
// form. As PyTorch's CompositeExplicitAutograd operators. For one that only has a schema:
// composite/derived_forms.h.
template <auto& op, class Tag>
void define_on_clone(Library& m, const Op<Tag>&, TagSet tags = {},
                     SourceLocation where = SourceLocation::current()) {
  using Kernel = typename internal::OpTraits<Tag>::template Apply<
      internal::OnClone<form_of<InplaceForm, Tag>>::template Kernel>;
  m.define(op, tags, where);
  m.impl(op, DispatchKey::CompositeExplicitAutograd, Kernel(), where);
  define_out_by_copy<op>(m, where);
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ON_CLONE_H_
