// Operators whose functional form has a shape rule and a kernel, and whose out= form copies its
// result, as PyTorch generates it: an out of any dtype that the result converts to.

#ifndef SWITCHBOARD_OPS_COPIED_OUT_H_
#define SWITCHBOARD_OPS_COPIED_OUT_H_
#include "switchboard/ops/define/structured.h"
#include "switchboard/ops/out_by_copy.h"
#include "switchboard/ops/out_form.h"
#include "switchboard/ops/structured.h"

namespace sb {

// define_structured for the functional form alone: where the out= form is made of other operators,
// or there is none.
template <auto rule, auto kernel, class OpTag>
OperatorHandle define_functional(Library& m, const Op<OpTag>& op,
                                 SourceLocation where = SourceLocation::current()) {
  using Forms = internal::StructuredForms<std::remove_const_t<decltype(rule)>>;
  constexpr StructuredOptions none;
  const OperatorHandle handle = m.define(op, {}, where);
  m.impl(op, DispatchKey::CPU,
         typename Forms::template Functional<OpTag, rule, kernel, none, true>(), where);
  m.impl(op, DispatchKey::Meta,
         typename Forms::template Functional<OpTag, rule, kernel, none, false>(), where);
  return handle;
}

// Defines `op`, declared by SB_STRUCTURED_NO_INPLACE, with both forms: see structured.h for the
// rule and the kernel.
template <auto& op, auto rule, auto kernel>
void define_with_copied_out(Library& m, SourceLocation where = SourceLocation::current()) {
  define_functional<rule, kernel>(m, op, where);
  define_out_by_copy<op>(m, where);
}

// The same for an operator declared by SB_OP, which may have several results; the out= form has no
// C++ handle (see out_form.h).
template <auto& op, auto rule, auto kernel>
void define_with_out(Library& m, SourceLocation where = SourceLocation::current()) {
  define_out_form(m, define_functional<rule, kernel>(m, op, where), "out", {}, where);
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_COPIED_OUT_H_
