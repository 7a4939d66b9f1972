// A kernel whose code is in a shared object that nobody opens before it is needed.

#ifndef SWITCHBOARD_DISPATCH_KERNEL_FROM_LIBRARY_H_
#define SWITCHBOARD_DISPATCH_KERNEL_FROM_LIBRARY_H_

#include <string>

#include "switchboard/dispatch/kernel.h"

namespace sb::internal {

// See Library::impl_from_library.
KernelFunction make_kernel_from_library(std::string path, std::string symbol);

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_KERNEL_FROM_LIBRARY_H_
