// Device types and devices: "cpu", "cuda:0", "meta", and a private backend under its own name.

#ifndef SWITCHBOARD_CORE_DEVICE_H_
#define SWITCHBOARD_CORE_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace sb {

// The devices that have a backend come first, in the order of sb::Backend.
enum class DeviceType : uint8_t {
  CPU,
  CUDA,
  HIP,
  XLA,
  MPS,
  IPU,
  XPU,
  HPU,
  VE,
  Lazy,
  MTIA,
  MAIA,
  PrivateUse1,
  PrivateUse2,
  PrivateUse3,
  Meta,
  FPGA,
  Vulkan,
  Metal,
  MKLDNN,
};
inline constexpr int kNumDeviceTypes = static_cast<int>(DeviceType::MKLDNN) + 1;

// As `c10::Device`: a type and an index; index -1 means "the current device of that type".
struct Device {
  constexpr Device(DeviceType type = DeviceType::CPU,
                   int8_t index = -1)  // NOLINT: a type is a device
      : type(type), index(index) {}
  // Parses "cpu" or "cuda:1". Throws ValueError naming the text and the place of the fault.
  explicit Device(std::string_view text);

  constexpr bool has_index() const { return index >= 0; }
  constexpr bool is_cpu() const { return type == DeviceType::CPU; }
  constexpr bool is_meta() const { return type == DeviceType::Meta; }
  constexpr bool operator==(const Device&) const = default;

  template <class H>
  friend H AbslHashValue(H h, const Device& d) {
    return H::combine(std::move(h), d.type, d.index);
  }

  DeviceType type;
  int8_t index;
};

// Lower-case name ("cuda", "privateuseone" or what it was renamed to).
std::string_view to_string(DeviceType type);
// "cuda:0", or "cuda" without an index.
std::string to_string(Device device);
std::ostream& operator<<(std::ostream& out, DeviceType type);
std::ostream& operator<<(std::ostream& out, Device device);

// The device type of that name, private names included; nullopt where there is none.
std::optional<DeviceType> find_device_type(std::string_view name);

// Names PrivateUse1, PrivateUse2 or PrivateUse3: a process may have three devices from outside. As
// `torch.utils.rename_privateuse1_backend`: the name is lower-case letters, digits and underscores,
// is not the name of another device, and cannot be changed once given; giving the same name again
// does nothing. Throws ValueError or RuntimeError. Thread-safe.
void rename_private_backend(DeviceType type, std::string_view name);
inline void rename_privateuse1_backend(std::string_view name) {
  rename_private_backend(DeviceType::PrivateUse1, name);
}
// Returns whether it has been renamed: to_string(type) is the name then, "privateuseone" and so on
// before.
bool is_renamed_private_backend(DeviceType type);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_DEVICE_H_
