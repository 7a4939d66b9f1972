// The keys that the current thread adds to every call, and those that it removes.

#ifndef SWITCHBOARD_DISPATCH_DISPATCH_TLS_H_
#define SWITCHBOARD_DISPATCH_DISPATCH_TLS_H_

#include <cstdint>

#include "switchboard/core/dispatch_key_set.h"

namespace sb {

class CallObserver;  // slow_call.h

// By default a thread includes BackendSelect and ADInplaceOrView and excludes the Autocast keys.
inline constexpr DispatchKeySet kDefaultIncluded{DispatchKey::BackendSelect,
                                                 DispatchKey::ADInplaceOrView};
inline constexpr DispatchKeySet kDefaultExcluded{
    DispatchKey::AutocastCPU,        DispatchKey::AutocastMTIA, DispatchKey::AutocastMAIA,
    DispatchKey::AutocastXPU,        DispatchKey::AutocastIPU,  DispatchKey::AutocastHPU,
    DispatchKey::AutocastXLA,        DispatchKey::AutocastMPS,  DispatchKey::AutocastCUDA,
    DispatchKey::AutocastPrivateUse1};

// One word for what is added and one for what stays, so that a call computes its keys in two
// instructions. `kept` is the complement of the excluded functionalities; exclusion beats
// inclusion.
struct DispatchTls {
  DispatchKeySet included = kDefaultIncluded;
  DispatchKeySet kept = DispatchKeySet::full() - kDefaultExcluded;
  CallObserver* observer = nullptr;  // while it is set, Observed is among the included keys

  DispatchKeySet excluded() const {
    return DispatchKeySet::from_bits(~kept.bits() & DispatchKeySet::kFunctionalityBits);
  }
};

inline constinit thread_local DispatchTls dispatch_tls;

// Guards change the thread's sets for a scope. At its end, on exceptions too, each undoes what it
// has changed and nothing else: modes that came or went meanwhile keep their keys.

// Includes keys for a scope. As `c10::impl::IncludeDispatchKeyGuard`.
class IncludeKeysGuard {
 public:
  explicit IncludeKeysGuard(DispatchKeySet keys)
      : added_(keys.bits() & ~dispatch_tls.included.bits()) {
    dispatch_tls.included |= DispatchKeySet::from_bits(added_);
  }
  ~IncludeKeysGuard() {
    dispatch_tls.included = DispatchKeySet::from_bits(dispatch_tls.included.bits() & ~added_);
  }
  IncludeKeysGuard(const IncludeKeysGuard&) = delete;
  IncludeKeysGuard& operator=(const IncludeKeysGuard&) = delete;

 private:
  uint64_t added_;
};

// Excludes the functionalities of `keys` for a scope. As `c10::impl::ExcludeDispatchKeyGuard`.
class ExcludeKeysGuard {
 public:
  explicit ExcludeKeysGuard(DispatchKeySet keys)
      : taken_(DispatchKeySet::from_bits(dispatch_tls.kept.bits() & keys.bits() &
                                         DispatchKeySet::kFunctionalityBits)) {
    dispatch_tls.kept -= taken_;
  }
  ~ExcludeKeysGuard() { dispatch_tls.kept |= taken_; }
  ExcludeKeysGuard(const ExcludeKeysGuard&) = delete;
  ExcludeKeysGuard& operator=(const ExcludeKeysGuard&) = delete;

 private:
  DispatchKeySet taken_;
};

// Takes the functionalities of `keys` off the excluded ones for a scope, as turning autocast on
// does.
class UnexcludeKeysGuard {
 public:
  explicit UnexcludeKeysGuard(DispatchKeySet keys)
      : added_(DispatchKeySet::from_bits(~dispatch_tls.kept.bits() & keys.bits() &
                                         DispatchKeySet::kFunctionalityBits)) {
    dispatch_tls.kept |= added_;
  }
  ~UnexcludeKeysGuard() { dispatch_tls.kept -= added_; }
  UnexcludeKeysGuard(const UnexcludeKeysGuard&) = delete;
  UnexcludeKeysGuard& operator=(const UnexcludeKeysGuard&) = delete;

 private:
  DispatchKeySet added_;
};

// The functionalities of autograd.
inline constexpr DispatchKeySet kAutogradFunctionalities{DispatchKey::AutogradOther,
                                                         DispatchKey::AutogradFunctionality,
                                                         DispatchKey::AutogradNestedTensor};

// For an autograd kernel that has done its part: calls of the scope do not enter autograd again,
// those that modes or fallbacks make anew neither. As `at::AutoDispatchBelowAutograd`.
class BelowAutogradGuard : ExcludeKeysGuard {
 public:
  BelowAutogradGuard() : ExcludeKeysGuard(kAutogradFunctionalities) {}
};

namespace internal {
inline constexpr DispatchKeySet kRecordingKeys =
    kAutogradFunctionalities | DispatchKeySet(DispatchKey::ADInplaceOrView);

// For a kernel that has recorded, and counts writes and views itself, or whose writes are to what
// it has just made: what it calls does neither. As `at::AutoDispatchBelowADInplaceOrView`.
class BelowRecordingGuard : ExcludeKeysGuard {
 public:
  BelowRecordingGuard() : ExcludeKeysGuard(kRecordingKeys) {}
};
}  // namespace internal

// Inference mode for a scope: ADInplaceOrView no longer included, all autograd excluded, and new
// tensors are inference tensors, which have neither of these keys. As `c10::InferenceMode`. What is
// made in it takes no part in autograd afterwards: outside of inference mode nothing may write to
// it or make it require a gradient.
class InferenceModeGuard : BelowAutogradGuard {
 public:
  InferenceModeGuard()
      : was_included_(dispatch_tls.included.has(DispatchKey::ADInplaceOrView)),
        fresh_before_(internal::fresh_tensor_keys) {
    dispatch_tls.included -= DispatchKey::ADInplaceOrView;
    internal::fresh_tensor_keys = internal::kDeviceKeys.tensor[1];
  }
  ~InferenceModeGuard() {
    if (was_included_) dispatch_tls.included |= DispatchKey::ADInplaceOrView;
    internal::fresh_tensor_keys = fresh_before_;
  }

 private:
  bool was_included_;
  const DispatchKeySet* fresh_before_;
};
// As `torch.is_inference_mode_enabled()`.
inline bool is_inference_mode_enabled() {
  return internal::fresh_tensor_keys == internal::kDeviceKeys.tensor[1];
}

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_DISPATCH_TLS_H_
