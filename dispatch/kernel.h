// A kernel as the call path sees it: three words.

#ifndef SWITCHBOARD_DISPATCH_KERNEL_H_
#define SWITCHBOARD_DISPATCH_KERNEL_H_

#include <source_location>
#include <string>

#include "switchboard/core/dispatch_key_set.h"
#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/dispatch/schema/cpp_types.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

class OperatorEntry;
class OperatorHandle;
struct Kernel;
namespace internal {
struct TypedFrame;
}

// The state that a kernel keeps between calls: a functor, a lambda's captures.
class KernelState : public IntrusiveTarget {
 public:
  // A boxed kernel may take a typed call as it is, without a stack, and say so; then its boxed
  // entry is not called.
  virtual bool take_typed_call(OperatorEntry& /*op*/, DispatchKeySet /*keys*/,
                               const internal::TypedFrame& /*frame*/) const {
    return false;
  }
};

// The two ways into a kernel. The unboxed one has the operator's own signature behind the state and
// the key set: R (*)(const KernelState*, DispatchKeySet, Args...).
using UnboxedEntry = void (*)();
using BoxedEntry = void (*)(const Kernel&, const OperatorHandle&, DispatchKeySet, Stack*);

struct Kernel {
  UnboxedEntry unboxed = nullptr;  // null: call the boxed entry
  BoxedEntry boxed = nullptr;      // null: no kernel
  const KernelState* state = nullptr;

  explicit operator bool() const { return boxed != nullptr; }
  bool is_fallthrough() const;
  bool is_autograd_fallback() const;
  bool is_refusal() const;
};

// The kernel that makes a key transparent: calls pass on to the next key by mask and never enter
// it. Entering it through redispatch is an error.
struct Fallthrough {};
inline constexpr Fallthrough fallthrough{};

// The place of a registration. File names are relative to the workspace, as the compiler saw them.
using SourceLocation = std::source_location;
// "ops/add.cc:31".
std::string to_string(const SourceLocation& where);

// A kernel, and what registration needs besides.
struct KernelFunction {
  Kernel entries;
  IntrusivePtr<KernelState> state;          // keeps entries.state alive; may be null
  const CppSignature* signature = nullptr;  // of a typed kernel; null for a boxed one
};

KernelFunction make_fallthrough_kernel();
// The default at the autograd keys: redispatches below all of them. As `torch`'s fallback with the
// mode "nothing". A call does not enter it where it would come out where a fallthrough does.
KernelFunction make_autograd_fallback();
// The default at keys which need a kernel for each operator: Meta, FuncTorchBatched. A call that
// comes to it fails, as it does where there is no kernel at all.
KernelFunction make_refusal();

// Whether calls pass over the kernel that an operator has at `key`, without entering it.
// `at_autograd_other` is the one at AutogradOther.
bool is_passed_over(const Kernel& kernel, DispatchKey key, const Kernel& at_autograd_other);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_KERNEL_H_
