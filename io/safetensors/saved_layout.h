// What a safetensors file says of tensors beside dtype, shape and elements: text under the key
// "switchboard" of its metadata.
//
//   {"version": 1, "tensors": {"w": {"device": "dummy:1", "strides": [1, 2], ...}, ...}}

#ifndef SWITCHBOARD_IO_SAFETENSORS_SAVED_LAYOUT_H_
#define SWITCHBOARD_IO_SAFETENSORS_SAVED_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/devices/device_hooks.h"

namespace sb::io {

// Of one tensor; each field is written only where it says something.
struct SavedLayout {
  std::string device = "cpu";  // by its registered name
  // The data is float64, with a last dimension of 2, for complex numbers of twice that size.
  bool is_complex128 = false;
  // In elements; nullopt for contiguous ones.
  std::optional<std::vector<int64_t>> strides;
  // Tensors with the same number share a storage; nullopt for a tensor that shares with none.
  std::optional<int64_t> storage;
  int64_t storage_offset = 0;  // in elements
  DeviceHooks::MetaEntries backend_meta;

  bool operator==(const SavedLayout&) const = default;
};

// By the tensor's name. A tensor of which nothing is to say has none.
using SavedLayouts = std::map<std::string, SavedLayout, std::less<>>;

inline constexpr char kLayoutsKey[] = "switchboard";

// Throws nlohmann's exception for text that is not UTF-8; the caller knows the file.
std::string layouts_to_json(const SavedLayouts& layouts);
// Throws ValueError that begins with `origin` for text that is malformed, of another version, or
// has fields that are unknown. Numbers are checked for being numbers, not for making sense.
SavedLayouts parse_layouts(std::string_view text, const std::string& origin);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_SAFETENSORS_SAVED_LAYOUT_H_
