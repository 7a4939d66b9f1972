#include "switchboard/devices/dummy/device.h"

#include "switchboard/devices/dummy/backend_meta.h"
#include "switchboard/devices/dummy/pinned_memory.h"
#include "switchboard/devices/dummy/streams.h"

namespace sb::dummy {
namespace {

constinit thread_local int8_t this_threads_device = 0;

class Guard final : public DeviceGuardImpl {
 public:
  DeviceType type() const override { return DeviceType::PrivateUse1; }
  int8_t device_count() const noexcept override { return kDeviceCount; }
  Device current_device() const override { return Device(type(), this_threads_device); }
  void set_current(int8_t index) const noexcept override { this_threads_device = index; }
  void synchronize(int8_t index) const override { synchronize_device(index); }

  bool has_stream(Stream stream) const override {
    return stream.id() >= 0 && stream.id() < kStreamCount;
  }
  Stream current_stream(int8_t index) const override { return current_stream_of(index); }
  void set_current_stream(Stream stream) const noexcept override { make_current(stream); }
  // All streams have one priority.
  Stream stream_from_pool(int8_t index, bool) const override { return next_pool_stream(index); }
  std::unique_ptr<EventImpl> make_event(EventFlag) const override { return dummy::make_event(); }
  bool query_stream(Stream stream) const override { return is_idle(stream); }
  void synchronize_stream(Stream stream) const override { dummy::synchronize_stream(stream); }
};

class Hooks final : public DeviceHooks {
 public:
  DeviceType type() const override { return DeviceType::PrivateUse1; }
  Generator default_generator(int8_t index) override {
    static const Generator* const generators =
        new Generator[kDeviceCount]{new_generator(0, 0), new_generator(1, 0)};
    return generators[index];
  }
  Generator new_generator(int8_t index, uint64_t seed) override {
    return make_intrusive<GeneratorImpl>(Device(DeviceType::PrivateUse1, index), seed);
  }
  bool is_pinned(const void* data) override { return dummy::is_pinned(data); }
  void save_backend_meta(const Tensor& tensor, MetaEntries* entries) override {
    save_format(tensor, entries);
  }
  void load_backend_meta(const Tensor& tensor, const MetaEntries& entries) override {
    load_format(tensor, entries);
  }
};

}  // namespace

int8_t current_index() { return this_threads_device; }

const DeviceGuardImpl& device_guard() {
  static const Guard& guard = *new Guard;  // never destroyed
  return guard;
}

DeviceHooks& device_hooks() {
  static Hooks& hooks = *new Hooks;
  return hooks;
}

}  // namespace sb::dummy
