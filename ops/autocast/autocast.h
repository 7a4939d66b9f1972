// Automatic mixed precision: scopes in which operators run in a dtype that suits them.

#ifndef SWITCHBOARD_OPS_AUTOCAST_AUTOCAST_H_
#define SWITCHBOARD_OPS_AUTOCAST_AUTOCAST_H_

#include <optional>
#include <string_view>

#include "switchboard/core/device.h"
#include "switchboard/core/dtype.h"
#include "switchboard/dispatch/dispatch_tls.h"

namespace sb {

// Whether the device type has an autocast key. As `torch.amp.is_autocast_available`.
bool is_autocast_available(DeviceType device_type);
// The autocast key of a device type, "cpu". Throws ValueError where it has none.
DispatchKey autocast_key_of(std::string_view device_type);

// The state of this thread. As `torch.is_autocast_enabled` and `torch.get_autocast_dtype`: autocast
// is on where the key is not excluded. Off by default, with bfloat16 for CPU and XLA, say, and
// float16 for CUDA.
bool is_autocast_enabled(DeviceType device_type);
DType autocast_dtype(DeviceType device_type);

// Autocast for a device type on or off, on this thread and for a scope; on with a dtype, or with
// that of the thread. As `torch.autocast`. Calls on other device types go on as before. Guards
// nest. Throws ValueError for a device type without autocast, and for dtypes but bfloat16 and
// float16.
class AutocastGuard {
 public:
  explicit AutocastGuard(std::string_view device_type, std::optional<DType> dtype = std::nullopt,
                         bool enabled = true);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  const DispatchKey key_;
  DType* const dtype_;  // of this thread
  const DType outer_dtype_;
  std::optional<UnexcludeKeysGuard> on_;
  std::optional<ExcludeKeysGuard> off_;
};

}  // namespace sb

#endif  // SWITCHBOARD_OPS_AUTOCAST_AUTOCAST_H_
