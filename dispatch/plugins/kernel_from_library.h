// Kernels whose code is in a shared object that nobody opens before it is needed.

#ifndef SWITCHBOARD_DISPATCH_PLUGINS_KERNEL_FROM_LIBRARY_H_
#define SWITCHBOARD_DISPATCH_PLUGINS_KERNEL_FROM_LIBRARY_H_

#include <string>
#include <string_view>

#include "switchboard/dispatch/library.h"

namespace sb {

// Registers a kernel from a shared object, which the first call that needs it opens: `symbol` is a
// C function of the type of a boxed kernel, void(const OperatorHandle&, DispatchKeySet, Stack*).
// `key` is a dense backend's (CPU, CUDA, ...); RuntimeError otherwise. A call throws RuntimeError
// if the object cannot be opened or lacks the symbol. As `Library._impl_with_aoti_compile`.
void impl_from_library(Library& m, std::string_view op, DispatchKey key, std::string path,
                       std::string symbol, SourceLocation where = SourceLocation::current());

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_PLUGINS_KERNEL_FROM_LIBRARY_H_
