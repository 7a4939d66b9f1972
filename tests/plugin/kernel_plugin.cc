// Kernels that impl_from_library names.

#include "switchboard/dispatch/library.h"

extern "C" void negate_boxed(const sb::OperatorHandle&, sb::DispatchKeySet, sb::Stack* stack) {
  const int64_t n = stack->back().to_int();
  stack->pop_back();
  stack->pop_back();
  stack->emplace_back(-n);
}
