#include "switchboard/dispatch/alias_keys.h"

namespace sb {
namespace {

using K = DispatchKey;

// Dense, Quantized, Sparse and SparseCsr on every backend, and the backends without a functionality
// family.
constexpr DispatchKeySet kBackendKeys =
    DispatchKeySet{K::Dense,  K::Quantized, K::Sparse,         K::SparseCsr, K::FPGA,
                   K::Vulkan, K::Metal,     K::CustomRNGKeyId, K::MkldnnCPU} |
    DispatchKeySet::all_backends();
constexpr DispatchKeySet kNestedTensorKeys =
    DispatchKeySet(K::NestedTensor) | DispatchKeySet::all_backends();
constexpr DispatchKeySet kAutogradKeys =
    DispatchKeySet{K::AutogradOther, K::AutogradFunctionality, K::AutogradNestedTensor} |
    DispatchKeySet::all_backends();
// The backends behind AutogradOther: those whose tensors have no autograd key of their own.
constexpr DispatchKeySet kOtherBackendKeys = kBackendKeys - K::Dense;

constexpr DispatchKeySet backends_without(DispatchKeySet keys, Backend a, Backend b) {
  return DispatchKeySet::from_bits(keys.bits() & ~DispatchKeySet(a).bits() &
                                   ~DispatchKeySet(b).bits());
}
constexpr DispatchKeySet kNonFunctionalKeys =
    backends_without(kBackendKeys - K::Sparse, Backend::XLA, Backend::Lazy);

}  // namespace

bool alias_includes(DispatchKey alias, DispatchKey key) {
  switch (alias) {
    case K::Autograd:
      return kAutogradKeys.has(key);
    case K::CompositeExplicitAutograd:
      return key == K::Undefined || kBackendKeys.has(key);
    case K::CompositeExplicitAutogradNonFunctional:
      return key == K::Undefined || kNonFunctionalKeys.has(key);
    case K::CompositeImplicitAutograd:
      return key == K::Undefined || kBackendKeys.has(key) || kNestedTensorKeys.has(key) ||
             kAutogradKeys.has(key);
    case K::CompositeImplicitAutogradNestedTensor:
      return kNestedTensorKeys.has(key) || key == K::AutogradNestedTensor;
    case K::FuncTorchBatchedDecomposition:
      return key == K::FuncTorchBatched;
    default:
      return false;
  }
}

DispatchKeySet backend_keys_behind(DispatchKey autograd_key) {
  if (autograd_key == K::AutogradOther) return kOtherBackendKeys;
  if (autograd_key == K::AutogradNestedTensor) return kNestedTensorKeys;
  if (functionality_of(autograd_key) != K::AutogradFunctionality) return {};
  const Backend backend = *backend_of(autograd_key);
  // HIP's and VE's tensors carry AutogradOther. MTIA is as in PyTorch, which has it on no list.
  if (backend == Backend::HIP || backend == Backend::VE || backend == Backend::MTIA) return {};
  return runtime_key(K::Dense, backend);
}

}  // namespace sb
