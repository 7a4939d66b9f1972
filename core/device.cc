#include "switchboard/core/device.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "switchboard/core/error.h"

namespace sb {
namespace {

constexpr std::string_view kNames[kNumDeviceTypes] = {
    "cpu",           "cuda",          "hip",
    "xla",           "mps",           "ipu",
    "xpu",           "hpu",           "ve",
    "lazy",          "mtia",          "maia",
    "privateuseone", "privateusetwo", "privateusethree",
    "meta",          "fpga",          "vulkan",
    "metal",         "mkldnn",
};

constexpr int kPrivateBackends = 3;
constexpr int private_number(DeviceType type) {
  return static_cast<int>(type) - static_cast<int>(DeviceType::PrivateUse1);
}
static_assert(private_number(DeviceType::PrivateUse3) == kPrivateBackends - 1);
constexpr bool is_private(DeviceType type) {
  return private_number(type) >= 0 && private_number(type) < kPrivateBackends;
}

// Null until the backend is renamed; then it never changes, so that readers need no lock.
constinit std::atomic<const std::string*> private_names[kPrivateBackends] = {};

const std::string* private_name(DeviceType type) {
  return private_names[private_number(type)].load(std::memory_order_acquire);
}

}  // namespace

bool is_renamed_private_backend(DeviceType type) {
  return is_private(type) && private_name(type) != nullptr;
}

void rename_private_backend(DeviceType type, std::string_view name) {
  SB_CHECK_VALUE(is_private(type), "rename_private_backend: expected PrivateUse1, PrivateUse2 or ",
                 "PrivateUse3, got ", to_string(type));
  SB_CHECK_VALUE(!name.empty(), "the name of a backend is empty");
  for (char c : name) {
    SB_CHECK_VALUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_', "backend name '",
                   name, "': expected lower-case letters, digits and underscores");
  }
  static constinit std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (name == to_string(type)) return;
  SB_CHECK(!private_name(type), "PrivateUse", private_number(type) + 1, " is already named '",
           to_string(type), "' and cannot be renamed '", name, "'");
  SB_CHECK_VALUE(!find_device_type(name), "backend name '", name,
                 "' is the name of another device");
  // Whose autograd key would have the name of another key.
  SB_CHECK_VALUE(name != "other" && name != "functionality", "backend name '", name,
                 "': AutogradOther and AutogradFunctionality are keys already");
  private_names[private_number(type)].store(new std::string(name), std::memory_order_release);
}

std::string_view to_string(DeviceType type) {
  if (is_renamed_private_backend(type)) return *private_name(type);
  const int i = static_cast<int>(type);
  return i < kNumDeviceTypes ? kNames[i] : "unknown";
}

std::string to_string(Device device) {
  std::string text(to_string(device.type));
  if (device.has_index()) absl::StrAppend(&text, ":", static_cast<int>(device.index));
  return text;
}

std::ostream& operator<<(std::ostream& out, DeviceType type) { return out << to_string(type); }
std::ostream& operator<<(std::ostream& out, Device device) { return out << to_string(device); }

std::optional<DeviceType> find_device_type(std::string_view name) {
  for (int i = 0; i < kPrivateBackends; ++i) {
    const auto type = static_cast<DeviceType>(static_cast<int>(DeviceType::PrivateUse1) + i);
    if (is_renamed_private_backend(type) && name == *private_name(type)) return type;
  }
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<DeviceType>(found - std::begin(kNames));
}

Device::Device(std::string_view text) : type(DeviceType::CPU), index(-1) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::optional<DeviceType> found = find_device_type(name);
  SB_CHECK_VALUE(found, "device '", text, "': unknown device type '", name, "'");
  type = *found;
  if (colon == std::string_view::npos) return;

  const std::string_view digits = text.substr(colon + 1);
  SB_CHECK_VALUE(!digits.empty(), "device '", text, "': no index after ':'");
  SB_CHECK_VALUE(std::all_of(digits.begin(), digits.end(),
                             [](unsigned char c) { return absl::ascii_isdigit(c); }),
                 "device '", text, "': index '", digits, "' is not a number");
  SB_CHECK_VALUE(digits.size() == 1 || digits[0] != '0', "device '", text, "': index '", digits,
                 "' has a leading zero");
  int value = 0;
  for (char c : digits) {
    value = value * 10 + (c - '0');
    SB_CHECK_VALUE(value <= std::numeric_limits<int8_t>::max(), "device '", text, "': index '",
                   digits, "' is above 127");
  }
  index = static_cast<int8_t>(value);
}

}  // namespace sb
