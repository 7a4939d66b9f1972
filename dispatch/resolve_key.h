// The resolution order: which key's kernel serves a key.

#ifndef SWITCHBOARD_DISPATCH_RESOLVE_KEY_H_
#define SWITCHBOARD_DISPATCH_RESOLVE_KEY_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/alias_keys.h"

namespace sb {

// The resolution rule that filled a slot. The order of the enumerators is the resolution order.
enum class ResolutionRule : uint8_t {
  Kernel,                  // "kernel": registered at the key itself
  DefaultBackendKernel,    // "default backend kernel": CompositeExplicitAutograd[NonFunctional]
  NestedKernel,            // "nested kernel": CompositeImplicitAutogradNestedTensor
  AmbiguousAutogradOther,  // "ambiguous autogradother": calling it fails
  MathKernel,              // "math kernel": CompositeImplicitAutograd
  AutogradKernel,          // "autograd kernel": alias Autograd
  BatchedKernel,           // "batched kernel": FuncTorchBatchedDecomposition
  BackendFallback,         // "backend fallback"
  Missing,                 // "missing": a call fails
};
std::string_view to_string(ResolutionRule rule);

namespace internal {

struct ResolvedKey {
  ResolutionRule rule;
  DispatchKey source;  // whose kernel it is; the key itself where there is none
};

// Does a kernel for nested tensors give way to a backend's own, as an implicit composite does?
// PyTorch's table and its `resolve_key` differ in this: the table uses it always.
enum class NestedComposite : uint8_t { Always, WithoutBackendKernel };

// `has(key)` says whether there is a kernel at exactly that key, runtime or alias. Backend
// fallbacks are the caller's matter: where no kernel serves, the rule is Missing.
template <class Has>
ResolvedKey resolve_key(DispatchKey key, NestedComposite nested, const Has& has) {
  using K = DispatchKey;
  using Rule = ResolutionRule;
  const auto covers = [&](K alias) { return has(alias) && alias_includes(alias, key); };

  if (has(key)) return {Rule::Kernel, key};
  for (K alias : {K::CompositeExplicitAutogradNonFunctional, K::CompositeExplicitAutograd})
    if (covers(alias)) return {Rule::DefaultBackendKernel, alias};
  // An autograd key with a kernel behind it must not skip that kernel's own gradient.
  const auto has_kernel_behind = [&] {
    bool any = false;
    for (K backend : backend_keys_behind(key).keys()) any |= has(backend);
    return any;
  };
  if (covers(K::CompositeImplicitAutogradNestedTensor)) {
    if (nested == NestedComposite::Always ||
        !(has(K::CompositeExplicitAutograd) || has_kernel_behind()))
      return {Rule::NestedKernel, K::CompositeImplicitAutogradNestedTensor};
  }
  if (covers(K::CompositeImplicitAutograd)) {
    const bool behind = has_kernel_behind();
    if (key == K::AutogradOther && behind) return {Rule::AmbiguousAutogradOther, key};
    if (!behind && !has(K::CompositeExplicitAutograd))
      return {Rule::MathKernel, K::CompositeImplicitAutograd};
  }
  if (covers(K::Autograd)) return {Rule::AutogradKernel, K::Autograd};
  if (covers(K::FuncTorchBatchedDecomposition))
    return {Rule::BatchedKernel, K::FuncTorchBatchedDecomposition};
  return {Rule::Missing, key};
}

// As `torch._ops.resolve_key`, for operators whose kernels are known one by one: which key's kernel
// serves a key, or nullopt. Throws RuntimeError, naming the operator, for a key that is ambiguous.
template <class Has>
std::optional<DispatchKey> resolve_own_key(std::string_view op, DispatchKey key, const Has& has) {
  const ResolvedKey found = resolve_key(key, NestedComposite::WithoutBackendKernel, has);
  SB_CHECK(
      found.rule != ResolutionRule::AmbiguousAutogradOther, op,
      ": ambiguous at AutogradOther: it has a CompositeImplicitAutograd kernel and a kernel of "
      "a backend without an autograd key of its own");
  if (found.rule == ResolutionRule::Missing) return std::nullopt;
  return found.source;
}

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_RESOLVE_KEY_H_
