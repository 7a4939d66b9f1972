// Operators whose result's shape depends on the data.

#ifndef SWITCHBOARD_OPS_DEFINE_DYNAMIC_OUTPUT_H_
#define SWITCHBOARD_OPS_DEFINE_DYNAMIC_OUTPUT_H_

#include "switchboard/dispatch/library.h"

namespace sb {

namespace internal {
template <class Tag>
struct NoShape {
  template <class R, class... A>
  struct Kernel {
    R operator()(A...) const {
      SB_THROW(DynamicOutputShapeError, Op<Tag>::name(),
               ": the result's shape depends on the data, which meta tensors do not have");
    }
  };
};
}  // namespace internal

// Defines such an operator, with a kernel at Meta that throws DynamicOutputShapeError.
template <class OpTag>
void define_dynamic_output(Library& m, const Op<OpTag>& op,
                           SourceLocation where = SourceLocation::current()) {
  m.define(op, Tag::dynamic_output_shape, where);
  using Kernel =
      typename internal::OpTraits<OpTag>::template Apply<internal::NoShape<OpTag>::template Kernel>;
  m.impl(op, DispatchKey::Meta, Kernel(), where);
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_DEFINE_DYNAMIC_OUTPUT_H_
