// out= forms that call the functional form and copy its result: for operators that are composed of
// others, or have nothing to gain. As the out= kernels that PyTorch generates.

#ifndef SWITCHBOARD_OPS_OUT_BY_COPY_H_
#define SWITCHBOARD_OPS_OUT_BY_COPY_H_

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copy_to_out.h"
#include "switchboard/ops/define/forms.h"

namespace sb {

namespace internal {

template <auto& functional>
struct OutByCopy {
  template <class R, class... A>
  struct Kernel {
    Tensor operator()(A... args, const Tensor& out) const {
      copy_result_to_out(functional.name(), functional.call(args...), out);
      return out;
    }
  };
};

template <auto& functional, DispatchKey key, class Tag>
void define_out_by_copy(Library& m, const Op<Tag>&, SourceLocation where) {
  using Kernel = typename OpTraits<Tag>::template Apply<OutByCopy<functional>::template Kernel>;
  constexpr Op<form_of<OutForm, Tag>> out;
  m.define(out, {}, where);
  m.impl(out, key, Kernel(), where);
}

}  // namespace internal

// Defines the out= form of an operator declared by SB_STRUCTURED or SB_STRUCTURED_NO_INPLACE:
// define_out_by_copy<add_Scalar>(m). `key` is CompositeImplicitAutograd where the operator's is.
template <auto& functional, DispatchKey key = DispatchKey::CompositeExplicitAutograd>
void define_out_by_copy(Library& m, SourceLocation where = SourceLocation::current()) {
  internal::define_out_by_copy<functional, key>(m, functional, where);
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_OUT_BY_COPY_H_
