// The out= form of a functional operator. As `torch._library._out_variant`.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_OUT_VARIANT_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_OUT_VARIANT_H_

#include <optional>

#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/dispatch/registration_handle.h"

namespace sb {

// The first overload of the operator's name, in the order of their definitions, that is tagged out,
// takes the same arguments by name, type and default, and writes to as many more as the operator
// has results; nullopt where there is none. Throws RuntimeError for an operator that writes or
// whose name ends in `_`, and where that overload returns anything but what it writes to, in order.
std::optional<OpOverload> to_out_variant(const OpOverload& functional);

// Throws RuntimeError that shows the overloads that are tagged out, unless to_out_variant() gives
// `expected`.
void check_out_variant(const OpOverload& functional, const OpOverload& expected);

// Says which operator is the out= form of one whose form to_out_variant() cannot find, as it has
// another name or other arguments. Throws RuntimeError, naming both places, if that was said
// already. Thread-safe.
RegistrationHandle register_out_variant(const OpOverload& functional, const OpOverload& out,
                                        SourceLocation where = SourceLocation::current());
// The one that was registered so.
std::optional<OpOverload> lookup_manual_out_variant(const OpOverload& functional);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_OUT_VARIANT_H_
