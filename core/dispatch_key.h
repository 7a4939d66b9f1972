// Dispatch keys: the reasons for which a call can be sent to one kernel and not another.
//
// A key set has two independent parts, functionalities and backends. A *runtime key* is either a
// functionality alone (BackendSelect, FPGA) or a per-backend functionality on one backend
// (CPU is Dense on the CPU backend; AutogradCUDA is Autograd on CUDA). An *alias key* stands for a
// set of runtime keys: kernels may be registered at it, and no tensor ever carries it.
//
// Names and priorities as PyTorch 2.14, less the deprecated Named, and with Observed on top.

#ifndef SWITCHBOARD_CORE_DISPATCH_KEY_H_
#define SWITCHBOARD_CORE_DISPATCH_KEY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

namespace sb {

// Backends, lowest priority first.
#define SB_FORALL_BACKENDS(X, prefix) \
  X(prefix, CPU)                      \
  X(prefix, CUDA)                     \
  X(prefix, HIP)                      \
  X(prefix, XLA)                      \
  X(prefix, MPS)                      \
  X(prefix, IPU)                      \
  X(prefix, XPU)                      \
  X(prefix, HPU)                      \
  X(prefix, VE)                       \
  X(prefix, Lazy)                     \
  X(prefix, MTIA)                     \
  X(prefix, MAIA)                     \
  X(prefix, PrivateUse1)              \
  X(prefix, PrivateUse2)              \
  X(prefix, PrivateUse3)              \
  X(prefix, Meta)

// Functionalities, lowest priority first. P(name, prefix) is a per-backend one, whose runtime keys
// are called prefix + backend; F(name) one that stands alone.
#define SB_FORALL_FUNCTIONALITIES(F, P) \
  P(Dense, )                            \
  F(FPGA)                               \
  F(Vulkan)                             \
  F(Metal)                              \
  P(Quantized, Quantized)               \
  F(CustomRNGKeyId)                     \
  F(MkldnnCPU)                          \
  P(Sparse, Sparse)                     \
  P(SparseCsr, SparseCsr)               \
  P(NestedTensor, NestedTensor)         \
  F(BackendSelect)                      \
  F(Fake)                               \
  F(Python)                             \
  F(FuncTorchDynamicLayerBackMode)      \
  F(Functionalize)                      \
  F(Conjugate)                          \
  F(Negative)                           \
  F(ZeroTensor)                         \
  F(ADInplaceOrView)                    \
  F(AutogradOther)                      \
  P(AutogradFunctionality, Autograd)    \
  F(AutogradNestedTensor)               \
  F(Tracer)                             \
  F(AutocastCPU)                        \
  F(AutocastMTIA)                       \
  F(AutocastMAIA)                       \
  F(AutocastXPU)                        \
  F(AutocastIPU)                        \
  F(AutocastHPU)                        \
  F(AutocastXLA)                        \
  F(AutocastMPS)                        \
  F(AutocastCUDA)                       \
  F(AutocastPrivateUse1)                \
  F(FuncTorchBatched)                   \
  F(BatchedNestedTensor)                \
  F(FuncTorchVmapMode)                  \
  F(Batched)                            \
  F(VmapMode)                           \
  F(FuncTorchGradWrapper)               \
  F(DeferredInit)                       \
  F(PythonTLSSnapshot)                  \
  F(FuncTorchDynamicLayerFrontMode)     \
  F(TESTING_ONLY_GenericWrapper)        \
  F(TESTING_ONLY_GenericMode)           \
  F(PreDispatch)                        \
  F(PythonDispatcher)                   \
  F(Observed)

#define SB_FORALL_ALIAS_KEYS(X)            \
  X(Autograd)                              \
  X(CompositeImplicitAutograd)             \
  X(FuncTorchBatchedDecomposition)         \
  X(CompositeImplicitAutogradNestedTensor) \
  X(CompositeExplicitAutograd)             \
  X(CompositeExplicitAutogradNonFunctional)

enum class Backend : uint8_t {
#define SB_BACKEND(prefix, name) name,
  SB_FORALL_BACKENDS(SB_BACKEND, )
#undef SB_BACKEND
};

// An End... enumerator has the value of the first key of the next group.
enum class DispatchKey : uint8_t {
  Undefined,
// The functionalities. Those that are per-backend are not runtime keys themselves.
#define SB_F(name) name,
#define SB_P(name, prefix) name,
  SB_FORALL_FUNCTIONALITIES(SB_F, SB_P) EndOfFunctionalities,
#undef SB_F
#undef SB_P
  LastFunctionality = EndOfFunctionalities - 1,
// The runtime keys of the per-backend functionalities.
#define SB_KEY(prefix, backend) prefix##backend,
#define SB_F(name)
#define SB_P(name, prefix) SB_FORALL_BACKENDS(SB_KEY, prefix)
  SB_FORALL_FUNCTIONALITIES(SB_F, SB_P) EndOfRuntimeKeys,
#undef SB_F
#undef SB_P
#undef SB_KEY
  LastRuntimeKey = EndOfRuntimeKeys - 1,
// The alias keys.
#define SB_KEY(name) name,
  SB_FORALL_ALIAS_KEYS(SB_KEY) EndOfKeys,
#undef SB_KEY
};

#define SB_ONE(...) +1
inline constexpr int kNumBackends = 0 SB_FORALL_BACKENDS(SB_ONE, );
#undef SB_ONE
inline constexpr int kNumFunctionalities = static_cast<int>(DispatchKey::LastFunctionality);

namespace internal {
#define SB_F(name) +0
#define SB_P(name, prefix) +1
inline constexpr int kNumPerBackend = 0 SB_FORALL_FUNCTIONALITIES(SB_F, SB_P);
#undef SB_F
#undef SB_P
}  // namespace internal

// Slots of an operator's table: Undefined, then one for each runtime key, by functionality.
inline constexpr int kNumSlots =
    1 + (kNumFunctionalities - internal::kNumPerBackend) + internal::kNumPerBackend * kNumBackends;

// Locates a functionality's slots: its first slot, and a mask that is all ones for a per-backend
// functionality and zero for one that stands alone. Indexed by functionality; 0 is Undefined.
struct FunctionalityLayout {
  uint8_t first_slot[kNumFunctionalities + 1];
  uint8_t backend_mask[kNumFunctionalities + 1];
  uint8_t first_key[kNumFunctionalities + 1];  // the runtime key at the first slot
  // The per-backend functionalities alone, in the order in which their runtime keys follow.
  DispatchKey per_backend[internal::kNumPerBackend];
};

namespace internal {
constexpr FunctionalityLayout make_functionality_layout() {
  FunctionalityLayout layout{};
  int slot = 1, functionality = 1, per_backends = 0;
  int key = static_cast<int>(DispatchKey::EndOfFunctionalities);
  auto add = [&](bool per_backend) {
    layout.first_slot[functionality] = static_cast<uint8_t>(slot);
    layout.backend_mask[functionality] = per_backend ? 0xff : 0;
    layout.first_key[functionality] = static_cast<uint8_t>(per_backend ? key : functionality);
    if (per_backend) layout.per_backend[per_backends++] = static_cast<DispatchKey>(functionality);
    slot += per_backend ? kNumBackends : 1;
    key += per_backend ? kNumBackends : 0;
    ++functionality;
  };
#define SB_F(name) add(false);
#define SB_P(name, prefix) add(true);
  SB_FORALL_FUNCTIONALITIES(SB_F, SB_P)
#undef SB_F
#undef SB_P
  return layout;
}
}  // namespace internal

inline constexpr FunctionalityLayout kFunctionalityLayout = internal::make_functionality_layout();

// The table slot of a functionality on a backend; the same as first_slot + (backend & mask), but
// one load on the call path.
inline constexpr int kBackendStride = 16;
static_assert(kNumBackends <= kBackendStride);
struct SlotIndex {
  uint8_t slot[(kNumFunctionalities + 1) * kBackendStride];
};
namespace internal {
constexpr SlotIndex make_slot_index() {
  SlotIndex index{};
  for (int f = 0; f <= kNumFunctionalities; ++f)
    for (int b = 0; b < kNumBackends; ++b)
      index.slot[f * kBackendStride + b] = static_cast<uint8_t>(
          kFunctionalityLayout.first_slot[f] + (b & kFunctionalityLayout.backend_mask[f]));
  return index;
}
}  // namespace internal
inline constexpr SlotIndex kSlotIndex = internal::make_slot_index();

constexpr bool is_alias_key(DispatchKey k) {
  return k >= DispatchKey::EndOfRuntimeKeys && k < DispatchKey::EndOfKeys;
}

// Returns whether k is one of the functionalities that exist once for each backend (Dense,
// Quantized, ...).
constexpr bool is_per_backend_functionality(DispatchKey k) {
  return k < DispatchKey::EndOfFunctionalities &&
         kFunctionalityLayout.backend_mask[static_cast<int>(k)] != 0;
}

// Returns whether a call can be sent to k: neither an alias nor a bare per-backend functionality.
// Undefined is a runtime key.
constexpr bool is_runtime_key(DispatchKey k) {
  return k < DispatchKey::EndOfRuntimeKeys && !is_per_backend_functionality(k);
}

// The functionality of a runtime key: AutogradCPU -> AutogradFunctionality, FPGA -> FPGA. An alias
// key has none: Undefined.
constexpr DispatchKey functionality_of(DispatchKey k) {
  if (k < DispatchKey::EndOfFunctionalities) return k;
  if (k >= DispatchKey::EndOfRuntimeKeys) return DispatchKey::Undefined;
  const int i = static_cast<int>(k) - static_cast<int>(DispatchKey::EndOfFunctionalities);
  return kFunctionalityLayout.per_backend[i / kNumBackends];
}

// The backend of a runtime key of a per-backend functionality: AutogradCPU -> CPU.
constexpr std::optional<Backend> backend_of(DispatchKey k) {
  if (k < DispatchKey::EndOfFunctionalities || k >= DispatchKey::EndOfRuntimeKeys) return {};
  const int i = static_cast<int>(k) - static_cast<int>(DispatchKey::EndOfFunctionalities);
  return static_cast<Backend>(i % kNumBackends);
}

// The runtime key of a functionality on a backend: (AutogradFunctionality, CPU) -> AutogradCPU.
// The backend does not matter for a functionality that stands alone.
constexpr DispatchKey runtime_key(DispatchKey functionality, Backend backend) {
  const int f = static_cast<int>(functionality);
  return static_cast<DispatchKey>(
      kFunctionalityLayout.first_key[f] +
      (static_cast<uint8_t>(backend) & kFunctionalityLayout.backend_mask[f]));
}

// The table slot of a runtime key, in [0, kNumSlots).
constexpr int slot_of(DispatchKey k) {
  const DispatchKey f = functionality_of(k);
  const std::optional<Backend> b = backend_of(k);
  return kFunctionalityLayout.first_slot[static_cast<int>(f)] + (b ? static_cast<int>(*b) : 0);
}

// The name of a key, as PyTorch spells it: "CPU", "AutogradPrivateUse1",
// "CompositeImplicitAutograd". A renamed private backend's is by its name, once it has one:
// "dummy", "AutogradDummy".
std::string_view to_string(DispatchKey k);
// The same, whatever a private backend is renamed.
std::string_view canonical_name(DispatchKey k);
std::string_view to_string(Backend b);
std::ostream& operator<<(std::ostream& out, DispatchKey k);

// The key of that name, in either spelling. nullopt where there is none.
std::optional<DispatchKey> find_dispatch_key(std::string_view name);
// The same; throws ValueError naming what was given.
DispatchKey parse_dispatch_key(std::string_view name);

// Calls f(DispatchKey) for every runtime key, lowest priority first, Undefined before all.
template <class F>
constexpr void for_each_runtime_key(F&& f) {
  f(DispatchKey::Undefined);
  for (int i = 1; i <= kNumFunctionalities; ++i) {
    const int count = kFunctionalityLayout.backend_mask[i] ? kNumBackends : 1;
    for (int b = 0; b < count; ++b)
      f(runtime_key(static_cast<DispatchKey>(i), static_cast<Backend>(b)));
  }
}

}  // namespace sb

#endif  // SWITCHBOARD_CORE_DISPATCH_KEY_H_
