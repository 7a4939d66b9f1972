// What the current thread adds to, and takes from, the keys of every call.

#ifndef SWITCHBOARD_DISPATCH_DISPATCH_TLS_H_
#define SWITCHBOARD_DISPATCH_DISPATCH_TLS_H_

#include <cstdint>

#include "switchboard/core/dispatch_key_set.h"

namespace sb {

class CallObserver;  // slow_call.h

// By default a thread includes BackendSelect and ADInplaceOrView and excludes the Autocast keys.
inline constexpr DispatchKeySet kDefaultIncluded{DispatchKey::BackendSelect,
                                                 DispatchKey::ADInplaceOrView};
inline constexpr DispatchKeySet kDefaultExcluded{DispatchKey::AutocastCPU, DispatchKey::AutocastXPU,
                                                 DispatchKey::AutocastCUDA};

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

// Restores the thread's sets at the end of the scope, on exceptions too. Guards nest strictly.
class PreserveDispatchTls {
 public:
  PreserveDispatchTls() : included_(dispatch_tls.included), kept_(dispatch_tls.kept) {}
  ~PreserveDispatchTls() {
    dispatch_tls.included = included_;
    dispatch_tls.kept = kept_;
  }
  PreserveDispatchTls(const PreserveDispatchTls&) = delete;
  PreserveDispatchTls& operator=(const PreserveDispatchTls&) = delete;

 private:
  DispatchKeySet included_;
  DispatchKeySet kept_;
};

// Includes keys for a scope. As `c10::impl::IncludeDispatchKeyGuard`.
class IncludeKeysGuard : PreserveDispatchTls {
 public:
  explicit IncludeKeysGuard(DispatchKeySet keys) { dispatch_tls.included |= keys; }
};

// Excludes the functionalities of `keys` for a scope. As `c10::impl::ExcludeDispatchKeyGuard`.
class ExcludeKeysGuard : PreserveDispatchTls {
 public:
  explicit ExcludeKeysGuard(DispatchKeySet keys) { dispatch_tls.kept -= keys; }
};

// Takes the functionalities of `keys` off the excluded ones for a scope, as turning autocast on
// does.
class UnexcludeKeysGuard : PreserveDispatchTls {
 public:
  explicit UnexcludeKeysGuard(DispatchKeySet keys) {
    dispatch_tls.kept |=
        DispatchKeySet::from_bits(keys.bits() & DispatchKeySet::kFunctionalityBits);
  }
};

// Inference mode for a scope: ADInplaceOrView no longer included, all autograd excluded. As
// `c10::InferenceMode`, for the calls that are made; tensors made in it carry all their keys.
class InferenceModeGuard : PreserveDispatchTls {
 public:
  InferenceModeGuard() {
    dispatch_tls.included -= DispatchKey::ADInplaceOrView;
    dispatch_tls.kept -=
        DispatchKeySet{DispatchKey::AutogradOther, DispatchKey::AutogradFunctionality,
                       DispatchKey::AutogradNestedTensor};
  }
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_DISPATCH_TLS_H_
