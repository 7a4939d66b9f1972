// Fallbacks that every dispatcher starts with, from the packages above this one.

#ifndef SWITCHBOARD_DISPATCH_DEFAULT_FALLBACK_H_
#define SWITCHBOARD_DISPATCH_DEFAULT_FALLBACK_H_

#include "switchboard/dispatch/kernel.h"

namespace sb::internal {

// The fallback at a key that belongs to a package: modes at Python, the Python dispatcher at its
// own. A constant of the program, made as it starts; a key has at most one.
class DefaultFallback {
 public:
  DefaultFallback(DispatchKey key, KernelFunction kernel,
                  SourceLocation where = SourceLocation::current());
  DefaultFallback(const DefaultFallback&) = delete;
  DefaultFallback& operator=(const DefaultFallback&) = delete;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_DEFAULT_FALLBACK_H_
