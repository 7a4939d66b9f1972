// Rules of an operator for a type of mode, with the lifetime of a handle or a library. As
// `torch.library.register_torch_dispatch`.
//
//   register_torch_dispatch<MyMode>("mylib::twice",
//                                   [](MyMode& mode, DispatchKeySet keys, Stack* stack) { ... });

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_REGISTER_TORCH_DISPATCH_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_REGISTER_TORCH_DISPATCH_H_

#include <utility>

#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/dispatch/registration_handle.h"

namespace sb {

// The rule runs in place of Mode::call, for exactly that type of mode, with the mode off and the
// arguments on the end of the stack (OperatorBase::impl_mode). The operator exists already. Throws
// RuntimeError if there is no such operator, or it has a rule for that type.
template <class Mode, class F>
RegistrationHandle register_torch_dispatch(const OpIdentifier& op, F rule,
                                           SourceLocation where = SourceLocation::current()) {
  return operator_base(lookup_op(op).handle().entry())
      .template impl_mode<Mode>(std::move(rule), where);
}
template <class Mode, class F>
void register_torch_dispatch(const OpIdentifier& op, F rule, Library& lib,
                             SourceLocation where = SourceLocation::current()) {
  const OperatorHandle handle = lib.dispatcher().find_op_or_throw(op.name().to_string());
  lib.own(operator_base(handle.entry()).template impl_mode<Mode>(std::move(rule), where));
}

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_REGISTER_TORCH_DISPATCH_H_
