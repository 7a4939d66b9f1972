// A kernel that is kept, to be called after another one has been put over it.
//
//   const KeptKernel below = get_kernel("aten::sin", DispatchKey::CPU);
//   m.impl("sin", DispatchKey::CPU, [=](DispatchKeySet keys, const Tensor& x) {
//     return x.numel() == 0 ? x : below(keys, x)[0].to_tensor();
//   });

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_KEPT_KERNEL_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_KEPT_KERNEL_H_

#include <cstdint>
#include <utility>

#include "switchboard/dispatch/kernel.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/dispatch/objects/registration.h"

namespace sb {

// As `SafeKernelFunction`. Thread-safe; copies are one kernel.
class KeptKernel {
 public:
  // Calls the kernel with a key set, which it sees as that of the call, and the arguments as
  // bind_arguments() takes them. Throws RuntimeError once the kernel is no longer registered.
  Arguments call(DispatchKeySet keys, Arguments positional, KeywordArguments keyword = {}) const;
  template <class... A>
  requires(std::is_convertible_v<A, IValue>&&...) Arguments operator()(DispatchKeySet keys,
                                                                       A&&... args) const {
    Arguments values;
    values.reserve(sizeof...(A));
    (values.emplace_back(std::forward<A>(args)), ...);
    return call(keys, std::move(values));
  }
  // The same with a stack of the schema's values.
  void call_boxed(DispatchKeySet keys, Stack* stack) const;

  const OpOverload& op() const { return op_; }
  // The place where it was registered.
  SourceLocation where() const { return where_; }

 private:
  friend KeptKernel get_kernel(const OpIdentifier& op, DispatchKey key);
  KeptKernel(const OpOverload& op, const Resolution& found);
  bool is_registered() const;

  OpOverload op_;
  KernelFunction function_;  // which stays alive, whatever happens to its registration
  SourceLocation where_;
  DispatchKey registered_at_;
  uint64_t id_;
  bool is_fallback_;
};

// The kernel that the table of the operator has for a runtime key now: a kernel of its own, one at
// an alias key, or a fallback. Throws RuntimeError where there is no such operator, or it has no
// kernel there, a fallthrough, or an ambiguous slot; ValueError for an alias key. As
// `torch.library.get_kernel`.
KeptKernel get_kernel(const OpIdentifier& op, DispatchKey key);
// The same for "CPU"; ValueError for what is no key.
KeptKernel get_kernel(const OpIdentifier& op, std::string_view key);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_KEPT_KERNEL_H_
