// A device from a shared object: memory of its own, and the CPU for every operator.

#include <cstdlib>
#include <cstring>

#include "switchboard/core/memory/allocator.h"
#include "switchboard/devices/cpu_fallback.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/dispatch/library.h"

namespace {

using sb::Device, sb::DeviceType;
constexpr DeviceType kToy = DeviceType::PrivateUse2;

class Memory final : public sb::Allocator {
 public:
  sb::DataPtr allocate(size_t bytes) override {
    void* const data = bytes == 0 ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    SB_CHECK(data || bytes == 0, "toy: no memory for ", bytes, " bytes");
    return sb::DataPtr(data, data, std::free, Device(kToy, 0));
  }
  void copy_data(void* to, const void* from, size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
};

class Guard final : public sb::DeviceGuardImpl {
 public:
  DeviceType type() const override { return kToy; }
  int8_t device_count() const noexcept override { return 1; }
  Device current_device() const override { return Device(kToy, 0); }
  void set_current(int8_t) const noexcept override {}
};

class Transfer final : public sb::HostTransfer {
 public:
  void download(const sb::Storage& from, void* host,
                absl::Span<const sb::ByteRange> ranges) override {
    for (const sb::ByteRange& r : ranges)
      std::memcpy(static_cast<char*>(host) + r.begin,
                  static_cast<const char*>(from->data()) + r.begin, r.size);
  }
  void upload(const sb::Storage& to, const void* host,
              absl::Span<const sb::ByteRange> ranges) override {
    for (const sb::ByteRange& r : ranges)
      std::memcpy(static_cast<char*>(to->data()) + r.begin,
                  static_cast<const char*>(host) + r.begin, r.size);
  }
};

const bool registered = [] {
  sb::rename_private_backend(kToy, "toy");
  sb::set_allocator(kToy, new Memory);
  sb::register_device_guard(new Guard);
  return true;
}();

SB_LIBRARY_IMPL(_, PrivateUse2, m) {
  m.fallback([](const sb::OperatorHandle& op, sb::DispatchKeySet, sb::Stack* stack) {
    Transfer transfer;
    sb::cpu_fallback(op, stack, kToy, transfer);
  });
}
SB_LIBRARY_IMPL(_, AutogradPrivateUse2, m) { m.fallback(sb::fallthrough); }

}  // namespace
