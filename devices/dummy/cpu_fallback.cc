#include "switchboard/devices/dummy/cpu_fallback.h"

#include <cstring>

#include "switchboard/devices/cpu_fallback.h"
#include "switchboard/devices/dummy/memory.h"

namespace sb::dummy {
namespace {

class Transfer final : public HostTransfer {
 public:
  void download(const Storage& storage, void* host, absl::Span<const ByteRange> ranges) override {
    DeviceMemory::Unlock open(storage);
    for (const ByteRange& r : ranges)
      std::memcpy(static_cast<char*>(host) + r.begin,
                  static_cast<const char*>(storage->data()) + r.begin, r.size);
  }
  void upload(const Storage& storage, const void* host,
              absl::Span<const ByteRange> ranges) override {
    DeviceMemory::Unlock open(storage);
    for (const ByteRange& r : ranges)
      std::memcpy(static_cast<char*>(storage->data()) + r.begin,
                  static_cast<const char*>(host) + r.begin, r.size);
  }
};

}  // namespace

void cpu_fallback(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  Transfer transfer;
  sb::cpu_fallback(op, stack, DeviceType::PrivateUse1, transfer);
}

}  // namespace sb::dummy
