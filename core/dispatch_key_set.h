// A set of runtime dispatch keys in 64 bits: the low bits are backends, the others functionalities.
//
// The set is the full cross product of its two parts: {CPU, AutogradCUDA} has CUDA and AutogradCPU
// too. Union and intersection act on both parts. Difference and removal take away functionalities
// only: a backend, once in a set, stays.

#ifndef SWITCHBOARD_CORE_DISPATCH_KEY_SET_H_
#define SWITCHBOARD_CORE_DISPATCH_KEY_SET_H_

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "switchboard/core/device.h"
#include "switchboard/core/dispatch_key.h"

namespace sb {

namespace internal {
// Index of the highest bit that is set. `bits` is not 0. (std::bit_width asks about 0 and
// subtracts.)
constexpr unsigned highest_bit(uint64_t bits) {
  return static_cast<unsigned>(__builtin_clzll(bits)) ^ 63u;
}
}  // namespace internal

class DispatchKeySet {
 public:
  static constexpr uint64_t kBackendBits = (uint64_t{1} << kNumBackends) - 1;
  static constexpr uint64_t kFunctionalityBits = ((uint64_t{1} << kNumFunctionalities) - 1)
                                                 << kNumBackends;

  constexpr DispatchKeySet() = default;
  // The set of one key: a runtime key, or a bare functionality (no backend). Undefined and alias
  // keys give the empty set.
  constexpr DispatchKeySet(DispatchKey k) : bits_(bits_of(k)) {}  // NOLINT: a key is a set
  constexpr DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (DispatchKey k : keys) bits_ |= bits_of(k);
  }
  constexpr explicit DispatchKeySet(Backend b) : bits_(uint64_t{1} << static_cast<int>(b)) {}
  static constexpr DispatchKeySet from_bits(uint64_t bits) {
    DispatchKeySet set;
    set.bits_ = bits;
    return set;
  }
  // Every functionality on every backend.
  static constexpr DispatchKeySet full() { return from_bits(kBackendBits | kFunctionalityBits); }
  static constexpr DispatchKeySet all_backends() { return from_bits(kBackendBits); }
  // The functionalities strictly lower than that of k, and every backend. "Below CPU" has no
  // functionality at all.
  static constexpr DispatchKeySet below(DispatchKey k) {
    const int f = static_cast<int>(functionality_of(k));
    if (f == 0) return all_backends();
    return from_bits(kBackendBits | (((uint64_t{1} << (f - 1)) - 1) << kNumBackends));
  }

  constexpr uint64_t bits() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  // Returns whether all bits of k's own set are here. As every set has the empty one,
  // has(Undefined) is false by definition.
  constexpr bool has(DispatchKey k) const {
    const uint64_t b = bits_of(k);
    return b != 0 && (bits_ & b) == b;
  }
  constexpr bool has_any(DispatchKeySet other) const {
    return (bits_ & other.bits_ & kFunctionalityBits) != 0 &&
           ((bits_ & other.bits_ & kBackendBits) != 0 ||
            (bits_ & other.bits_ & kFunctionalityBits & ~per_backend_bits()) != 0);
  }

  constexpr DispatchKeySet operator|(DispatchKeySet o) const { return from_bits(bits_ | o.bits_); }
  constexpr DispatchKeySet operator&(DispatchKeySet o) const { return from_bits(bits_ & o.bits_); }
  // Takes away o's functionalities. Backends stay.
  constexpr DispatchKeySet operator-(DispatchKeySet o) const {
    return from_bits(bits_ & (kBackendBits | ~o.bits_));
  }
  constexpr DispatchKeySet& operator|=(DispatchKeySet o) { return *this = *this | o; }
  constexpr DispatchKeySet& operator&=(DispatchKeySet o) { return *this = *this & o; }
  constexpr DispatchKeySet& operator-=(DispatchKeySet o) { return *this = *this - o; }
  constexpr bool operator==(const DispatchKeySet&) const = default;

  // The highest functionality; Undefined where there is none.
  constexpr DispatchKey highest_functionality() const {
    return static_cast<DispatchKey>(functionality_index());
  }
  // The highest backend; CPU where there is none.
  constexpr Backend highest_backend() const { return static_cast<Backend>(backend_index()); }
  // The runtime key that a call with this set goes to. Undefined where no functionality is left.
  constexpr DispatchKey highest_key() const {
    return runtime_key(highest_functionality(), highest_backend());
  }
  // The table slot of highest_key(), without a branch.
  constexpr int slot() const {
    return kSlotIndex.slot[functionality_index() * kBackendStride + backend_index()];
  }
  // Index of the highest backend, 0 (CPU) where there is none.
  constexpr unsigned backend_index() const {
    return internal::highest_bit((bits_ & kBackendBits) | 1);
  }

  // The runtime keys of the set, lowest priority first.
  std::vector<DispatchKey> keys() const;

 private:
  static constexpr uint64_t bits_of(DispatchKey k) {
    if (k == DispatchKey::Undefined || k >= DispatchKey::EndOfRuntimeKeys) return 0;
    const int f = static_cast<int>(functionality_of(k));
    uint64_t bits = uint64_t{1} << (kNumBackends + f - 1);
    if (const std::optional<Backend> b = backend_of(k)) bits |= uint64_t{1} << static_cast<int>(*b);
    return bits;
  }
  static constexpr uint64_t per_backend_bits() {
    uint64_t bits = 0;
    for (int f = 1; f <= kNumFunctionalities; ++f)
      if (kFunctionalityLayout.backend_mask[f]) bits |= uint64_t{1} << (kNumBackends + f - 1);
    return bits;
  }
  // 1 for the lowest functionality; the bit below it stands for "none", so that the count of
  // leading zeros is defined for every set.
  constexpr unsigned functionality_index() const {
    return internal::highest_bit((bits_ >> (kNumBackends - 1)) | 1);
  }

  uint64_t bits_ = 0;
};

// "{CPU, AutogradCPU}", highest priority first; "{}" for the empty set.
std::string to_string(DispatchKeySet set);
std::ostream& operator<<(std::ostream& out, DispatchKeySet set);

// The keys that a backend adds to its tensors beside its own: ADInplaceOrView and its autograd key
// (AutogradOther for backends without one), and its autocast key if it has one.
DispatchKeySet autograd_keys_of(Backend b);
DispatchKeySet autocast_keys_of(Backend b);

namespace internal {
// Inline look-ups: every `empty` makes them.
struct DeviceKeys {
  DispatchKeySet backend[kNumDeviceTypes];
  DispatchKeySet tensor[2][kNumDeviceTypes];  // [inference]
};
extern constinit const DeviceKeys kDeviceKeys;
// The row of kDeviceKeys.tensor that new tensors of this thread take their keys from.
inline constinit thread_local const DispatchKeySet* fresh_tensor_keys = kDeviceKeys.tensor[0];
}  // namespace internal

// The keys that a strided tensor on such a device carries. Devices without a backend of their own
// (FPGA, Vulkan, ...) have their functionality key and AutogradOther. An inference tensor has
// neither autograd key nor ADInplaceOrView.
inline DispatchKeySet tensor_key_set(DeviceType type, bool inference = false) {
  return internal::kDeviceKeys.tensor[inference][static_cast<int>(type)];
}

// The same for a tensor that is made now: an inference tensor while the thread is in inference
// mode.
inline DispatchKeySet fresh_key_set(DeviceType type) {
  return internal::fresh_tensor_keys[static_cast<int>(type)];
}

// The same for a quantized tensor: QuantizedCPU, say, in place of CPU.
inline DispatchKeySet quantized_key_set(DeviceType type, bool inference = false) {
  return (tensor_key_set(type, inference) - DispatchKeySet(DispatchKey::Dense)) |
         DispatchKeySet(DispatchKey::Quantized);
}

// The backend key of a device: cpu -> CPU, privateuseone -> PrivateUse1, vulkan -> Vulkan.
DispatchKey dispatch_key_of(DeviceType type);
// The set of that key alone.
inline DispatchKeySet backend_key_set(DeviceType type) {
  return internal::kDeviceKeys.backend[static_cast<int>(type)];
}
// The device type of a backend key or of a runtime key on a backend; nullopt where there is none.
std::optional<DeviceType> device_type_of(DispatchKey k);

// An undefined tensor carries ADInplaceOrView and AutogradOther.
inline constexpr DispatchKeySet kUndefinedTensorKeys{DispatchKey::ADInplaceOrView,
                                                     DispatchKey::AutogradOther};

}  // namespace sb

#endif  // SWITCHBOARD_CORE_DISPATCH_KEY_SET_H_
