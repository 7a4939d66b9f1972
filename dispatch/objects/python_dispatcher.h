// The Python dispatcher: while it is on, operators use their key rules before their tables.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_PYTHON_DISPATCHER_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_PYTHON_DISPATCHER_H_

#include <functional>

#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/objects/dispatch_cache.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb {

// Turns the Python dispatcher on for a scope of this thread. As `enable_python_dispatcher`. (The
// name is that of its key: no Python is involved.) At its key k, a call then runs:
//
// 1. if k is Python, the operator's mode rule for the current mode, else the kernel of the table;
// 2. if k is PreDispatch and there are pre-dispatch modes, the top one;
// 3. else the kernel of resolve_key(k), for which key rules (OperatorBase::impl) count like kernels
//    of the table, and come first at the same key; else the backend fallback. It is found once for
//    each key and cached (cached_ops), but for PreDispatch.
//
// Kernels get the keys of the call without PythonDispatcher: a redispatch goes straight to the
// table, a new call comes here again.
class EnablePythonDispatcher : IncludeKeysGuard {
 public:
  EnablePythonDispatcher();
};
// Turns it off for a scope. As `no_python_dispatcher`.
class DisablePythonDispatcher : ExcludeKeysGuard {
 public:
  DisablePythonDispatcher() : ExcludeKeysGuard(DispatchKey::PythonDispatcher) {}
};

// Sees every call of the kernel at one key under the Python dispatcher, for debugging:
// `kernel(keys, stack)` goes on with it. As `make_crossref_functionalize`, which runs calls at
// Functionalize twice and compares.
using KernelWrapper = std::function<void(const OperatorHandle& op, const OperatorBase::Rule& kernel,
                                         DispatchKeySet keys, Stack* stack)>;

// Wraps the kernels that all operators have at a key, on every thread, for a scope. RuntimeError if
// the key has a wrapper; ValueError for Python and PreDispatch, whose kernels depend on the modes,
// and what is no runtime key. As `enable_crossref_functionalize`.
class WrapKernelsGuard {
 public:
  WrapKernelsGuard(DispatchKey key, KernelWrapper wrapper);
  ~WrapKernelsGuard();
  WrapKernelsGuard(const WrapKernelsGuard&) = delete;
  WrapKernelsGuard& operator=(const WrapKernelsGuard&) = delete;

 private:
  DispatchKey key_;
};

namespace internal {
// The kernel at the PythonDispatcher key.
void call_python_dispatcher(const OperatorHandle& op, DispatchKeySet keys, Stack* stack);
}  // namespace internal

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_PYTHON_DISPATCHER_H_
