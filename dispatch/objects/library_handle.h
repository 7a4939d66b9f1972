// A library as a registration handle.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_LIBRARY_HANDLE_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_LIBRARY_HANDLE_H_

#include <memory>

#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/registration_handle.h"

namespace sb::internal {

// What the library registered is undone when the handle is destroyed, and stays until the process
// ends if it is released. Thread-safe.
RegistrationHandle library_handle(std::unique_ptr<Library> library);

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_LIBRARY_HANDLE_H_
