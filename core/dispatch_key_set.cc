#include "switchboard/core/dispatch_key_set.h"

#include <array>

namespace sb {
namespace {

constexpr DispatchKeySet kNoKeys;

constexpr DispatchKey backend_key(Backend b) { return runtime_key(DispatchKey::Dense, b); }

constexpr DispatchKeySet compute_autograd_keys(Backend b) {
  const bool has_own_key = b != Backend::HIP && b != Backend::VE;
  return {DispatchKey::ADInplaceOrView, has_own_key
                                            ? runtime_key(DispatchKey::AutogradFunctionality, b)
                                            : DispatchKey::AutogradOther};
}

constexpr DispatchKeySet compute_autocast_keys(Backend b) {
  switch (b) {
    case Backend::CPU:
      return DispatchKey::AutocastCPU;
    case Backend::CUDA:
      return DispatchKey::AutocastCUDA;
    case Backend::XLA:
      return DispatchKey::AutocastXLA;
    case Backend::MPS:
      return DispatchKey::AutocastMPS;
    case Backend::IPU:
      return DispatchKey::AutocastIPU;
    case Backend::XPU:
      return DispatchKey::AutocastXPU;
    case Backend::HPU:
      return DispatchKey::AutocastHPU;
    case Backend::MTIA:
      return DispatchKey::AutocastMTIA;
    case Backend::MAIA:
      return DispatchKey::AutocastMAIA;
    case Backend::PrivateUse1:
      return DispatchKey::AutocastPrivateUse1;
    default:
      return kNoKeys;
  }
}

constexpr DispatchKey compute_dispatch_key(DeviceType type) {
  switch (type) {
    case DeviceType::FPGA:
      return DispatchKey::FPGA;
    case DeviceType::Vulkan:
      return DispatchKey::Vulkan;
    case DeviceType::Metal:
      return DispatchKey::Metal;
    case DeviceType::MKLDNN:
      return DispatchKey::MkldnnCPU;
    default:
      return backend_key(static_cast<Backend>(type));
  }
}
static_assert(static_cast<int>(DeviceType::Meta) == kNumBackends - 1,
              "device types begin with the backends");

constexpr DispatchKeySet compute_tensor_keys(DeviceType type, bool inference) {
  const DispatchKeySet own = compute_dispatch_key(type);
  const int i = static_cast<int>(type);
  if (i >= kNumBackends) {
    return inference ? own : own | kUndefinedTensorKeys;
  }
  const Backend b = static_cast<Backend>(i);
  const DispatchKeySet keys = own | compute_autocast_keys(b);
  return inference ? keys : keys | compute_autograd_keys(b);
}

// Everything that a device or a backend implies, found by one array lookup.
struct Tables {
  std::array<DispatchKeySet, kNumBackends> autograd;
  std::array<DispatchKeySet, kNumBackends> autocast;
  std::array<DispatchKey, kNumDeviceTypes> key;
};

constexpr Tables make_tables() {
  Tables t{};
  for (int i = 0; i < kNumBackends; ++i) {
    t.autograd[i] = compute_autograd_keys(static_cast<Backend>(i));
    t.autocast[i] = compute_autocast_keys(static_cast<Backend>(i));
  }
  for (int i = 0; i < kNumDeviceTypes; ++i) {
    t.key[i] = compute_dispatch_key(static_cast<DeviceType>(i));
  }
  return t;
}
constexpr Tables kTables = make_tables();

constexpr internal::DeviceKeys make_device_keys() {
  internal::DeviceKeys keys{};
  for (int i = 0; i < kNumDeviceTypes; ++i) {
    const DeviceType type = static_cast<DeviceType>(i);
    keys.backend[i] = compute_dispatch_key(type);
    keys.tensor[false][i] = compute_tensor_keys(type, false);
    keys.tensor[true][i] = compute_tensor_keys(type, true);
  }
  return keys;
}

}  // namespace

namespace internal {
constinit const DeviceKeys kDeviceKeys = make_device_keys();
}  // namespace internal

std::vector<DispatchKey> DispatchKeySet::keys() const {
  std::vector<DispatchKey> result;
  for_each_runtime_key([&](DispatchKey k) {
    if (has(k)) result.push_back(k);
  });
  return result;
}

std::string to_string(DispatchKeySet set) {
  const std::vector<DispatchKey> keys = set.keys();
  std::string text = "{";
  for (auto k = keys.rbegin(); k != keys.rend(); ++k) {
    if (k != keys.rbegin()) text += ", ";
    text += to_string(*k);
  }
  return text += "}";
}

std::ostream& operator<<(std::ostream& out, DispatchKeySet set) { return out << to_string(set); }

DispatchKeySet autograd_keys_of(Backend b) { return kTables.autograd[static_cast<int>(b)]; }
DispatchKeySet autocast_keys_of(Backend b) { return kTables.autocast[static_cast<int>(b)]; }

DispatchKey dispatch_key_of(DeviceType type) { return kTables.key[static_cast<int>(type)]; }

std::optional<DeviceType> device_type_of(DispatchKey k) {
  if (const std::optional<Backend> b = backend_of(k)) return static_cast<DeviceType>(*b);
  switch (k) {
    case DispatchKey::FPGA:
      return DeviceType::FPGA;
    case DispatchKey::Vulkan:
      return DeviceType::Vulkan;
    case DispatchKey::Metal:
      return DeviceType::Metal;
    // Another layout of memory that is the CPU's. As `c10::dispatchKeyToDeviceType`.
    case DispatchKey::MkldnnCPU:
      return DeviceType::CPU;
    default:
      return std::nullopt;
  }
}

}  // namespace sb
