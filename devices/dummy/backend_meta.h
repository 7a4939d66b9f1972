// What the device may note about a tensor, and how a file tells it.

#ifndef SWITCHBOARD_DEVICES_DUMMY_BACKEND_META_H_
#define SWITCHBOARD_DEVICES_DUMMY_BACKEND_META_H_

#include <cstdint>

#include "switchboard/core/backend_meta.h"
#include "switchboard/core/tensor.h"
#include "switchboard/devices/device_hooks.h"

namespace sb::dummy {

// A format that a kernel could lay a tensor out in. No kernel here does; -1 says nothing.
struct FormatMeta final : BackendMeta {
  explicit FormatMeta(int64_t version, int64_t number) : version(version), number(number) {}
  // Every tensor has its own.
  IntrusivePtr<BackendMeta> clone() const override {
    return make_intrusive<FormatMeta>(version, number);
  }
  int64_t version;
  int64_t number;
};

// The entries "format_version" and "format_number"; one that is missing is -1. Reading throws
// ValueError, naming it, for another entry and for one that is no number, and changes nothing then.
// A tensor that has metadata of another kind has no entries.
void save_format(const Tensor& tensor, DeviceHooks::MetaEntries* entries);
void load_format(const Tensor& tensor, const DeviceHooks::MetaEntries& entries);

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_BACKEND_META_H_
