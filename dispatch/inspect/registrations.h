// Which operators have a kernel at a key?

#ifndef SWITCHBOARD_DISPATCH_INSPECT_REGISTRATIONS_H_
#define SWITCHBOARD_DISPATCH_INSPECT_REGISTRATIONS_H_

#include <string>
#include <vector>

#include "switchboard/dispatch/dispatcher.h"

namespace sb {

// The names of operators that have a schema, and a kernel registered at exactly that key, runtime
// or alias; sorted. As `_dispatch_get_registrations_for_dispatch_key`.
std::vector<std::string> registrations_at(const Dispatcher& dispatcher, DispatchKey key);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_INSPECT_REGISTRATIONS_H_
