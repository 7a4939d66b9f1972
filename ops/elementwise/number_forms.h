// The forms of an operator that take numbers for some of its tensors: the same with 0-dim tensors
// of them. Composed of the operator, so that every device has them.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_NUMBER_FORMS_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_NUMBER_FORMS_H_

#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"

namespace sb {
namespace internal {

inline const Tensor& as_tensor(const Tensor& t, const Tensor&) { return t; }
inline Tensor as_tensor(const Scalar& number, const Tensor& beside) {
  return wrapped_scalar_tensor(number, beside);
}

// The first tensor among the arguments of such a form: one at least is.
template <class... Rest>
const Tensor& tensor_among(const Tensor& t, const Rest&...) {
  return t;
}
template <class... Rest>
const Tensor& tensor_among(const Scalar&, const Rest&... rest) {
  return tensor_among(rest...);
}

template <class Tag>
inline constinit const Op<Tag> op_of{};

template <class Target>
struct NumberForm {
  template <class R, class... A>
  struct Kernel {
    R operator()(A... args) const {
      return op_of<Target>.call(as_tensor(args, tensor_among(args...))...);
    }
  };
};

}  // namespace internal

// Which keys they stand at. PyTorch has some of the in-place ones at CompositeImplicitAutograd.
struct NumberFormKeys {
  DispatchKey functional = DispatchKey::CompositeExplicitAutograd;
  DispatchKey inplace = functional;
};

// Defines `form` and those of its in-place and out= forms that it was declared with, each by the
// same form of `op`:
//
//   define_number_forms(m, bitwise_and_Scalar, bitwise_and);
template <class Tag, class Target>
void define_number_forms(Library& m, const Op<Tag>&, const Op<Target>&, NumberFormKeys keys = {},
                         SourceLocation where = SourceLocation::current()) {
  const auto define_form = [&]<class Form, class To>(const Op<Form>& form, const Op<To>&,
                                                     DispatchKey key) {
    using Kernel =
        typename Op<Form>::Traits::template Apply<internal::NumberForm<To>::template Kernel>;
    define(m, form, sb::Tag::derived_through, where).kernel(key, Kernel());
  };
  define_form(internal::op_of<Tag>, internal::op_of<Target>, keys.functional);
  if constexpr (HasForm<InplaceForm, Tag>) {
    define_form(internal::op_of<form_of<InplaceForm, Tag>>,
                internal::op_of<form_of<InplaceForm, Target>>, keys.inplace);
  }
  if constexpr (HasForm<OutForm, Tag>) {
    define_form(internal::op_of<form_of<OutForm, Tag>>, internal::op_of<form_of<OutForm, Target>>,
                DispatchKey::CompositeExplicitAutograd);
  }
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_NUMBER_FORMS_H_
