// Which key's kernel serves a key, for operators whose kernels are known one by one.

#ifndef SWITCHBOARD_DISPATCH_RESOLVE_KEY_H_
#define SWITCHBOARD_DISPATCH_RESOLVE_KEY_H_

#include <optional>
#include <string_view>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/alias_keys.h"

namespace sb::internal {

// As `torch._ops.resolve_key`: the order of the rules is that of ResolutionRule, but for backend
// fallbacks, which are the caller's matter. `has(key)` says whether there is a kernel at exactly
// that key, runtime or alias. nullopt where no rule applies. Throws RuntimeError, naming the
// operator, for a key that is ambiguous.
template <class Has>
std::optional<DispatchKey> resolve_key(std::string_view op, DispatchKey key, const Has& has) {
  using K = DispatchKey;
  const auto covers = [&](K alias) { return has(alias) && alias_includes(alias, key); };
  if (has(key)) return key;
  for (K alias : {K::CompositeExplicitAutogradNonFunctional, K::CompositeExplicitAutograd})
    if (covers(alias)) return alias;
  bool other_backend = false;
  for (K backend : backend_keys_behind(key).keys()) other_backend |= has(backend);
  const bool has_backend_kernel = other_backend || has(K::CompositeExplicitAutograd);
  if (covers(K::CompositeImplicitAutogradNestedTensor) && !has_backend_kernel)
    return K::CompositeImplicitAutogradNestedTensor;
  if (covers(K::CompositeImplicitAutograd)) {
    SB_CHECK(!(key == K::AutogradOther && other_backend), op,
             ": ambiguous at AutogradOther: it has a CompositeImplicitAutograd kernel and a kernel "
             "of a backend without an autograd key of its own");
    if (!has_backend_kernel) return K::CompositeImplicitAutograd;
  }
  for (K alias : {K::Autograd, K::FuncTorchBatchedDecomposition})
    if (covers(alias)) return alias;
  return std::nullopt;
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_RESOLVE_KEY_H_
