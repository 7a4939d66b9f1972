// How an operator runs under autocast: with its arguments in one dtype.
//
//   register_autocast("mylib::twice", "cpu", DType::BFloat16);
//   AutocastGuard autocast("cpu");
//   twice(x);  // on x in bfloat16

#ifndef SWITCHBOARD_CUSTOM_OPS_REGISTER_AUTOCAST_H_
#define SWITCHBOARD_CUSTOM_OPS_REGISTER_AUTOCAST_H_

#include <optional>
#include <string_view>

#include "switchboard/core/device.h"
#include "switchboard/core/dtype.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/dispatch/registration_handle.h"
#include "switchboard/ops/autocast/autocast.h"

namespace sb {

// A kernel at the autocast key of the device type: with autocast for it off, it calls the operator
// with every floating-point tensor of that device type, those in lists too, cast to `cast_inputs`;
// float64 stays. The newest counts. As `torch.library.register_autocast`, but that keyword-only
// tensors are cast as well.
//
// Throws ValueError for a device type without autocast, and what lookup_op() throws. A call throws
// RuntimeError where an argument that is written to would be cast, as the write would be lost.
RegistrationHandle register_autocast(const OpIdentifier& op, std::string_view device_type,
                                     DType cast_inputs,
                                     SourceLocation where = SourceLocation::current());
void register_autocast(const OpIdentifier& op, std::string_view device_type, DType cast_inputs,
                       Library& lib, SourceLocation where = SourceLocation::current());

// What the newest of them casts to; nullopt where there is none. Thread-safe.
std::optional<DType> registered_autocast(const OperatorHandle& op, DeviceType device_type);

}  // namespace sb

#endif  // SWITCHBOARD_CUSTOM_OPS_REGISTER_AUTOCAST_H_
