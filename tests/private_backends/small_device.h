// A device type for each of the private backends, with all parts of its own.

#ifndef SWITCHBOARD_TESTS_PRIVATE_BACKENDS_SMALL_DEVICE_H_
#define SWITCHBOARD_TESTS_PRIVATE_BACKENDS_SMALL_DEVICE_H_

#include <cstdlib>
#include <cstring>
#include <utility>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/devices/cpu_fallback.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/device_hooks.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"

namespace sb::private_backends {

// Memory of the host, two devices, a generator for each.
template <DeviceType kType>
class SmallDevice {
 public:
  static SmallDevice& get() {
    static SmallDevice& device = *new SmallDevice;  // never destroyed
    return device;
  }

  // Names the backend and hands its parts over.
  void add(std::string_view name) {
    rename_private_backend(kType, name);
    set_allocator(kType, &memory_);
    register_device_guard(&guard_);
    register_device_hooks(&hooks_);
    const DispatchKey key = dispatch_key_of(kType);
    aten_.emplace(Library::Kind::Impl, "aten", key);
    aten_->impl(empty, [](IntArrayRef size, std::optional<DType> dtype, std::optional<Layout>,
                          std::optional<Device> device, std::optional<bool>,
                          std::optional<MemoryFormat> format) {
      const Device on = resolve_device(device.value_or(kType));
      DeviceGuard guard(on);
      return empty_on(on, size, dtype.value_or(default_dtype()),
                      format.value_or(MemoryFormat::Contiguous));
    });
    aten_->impl(empty_strided,
                [](IntArrayRef size, IntArrayRef stride, std::optional<DType> dtype,
                   std::optional<Layout>, std::optional<Device> device, std::optional<bool>) {
                  const Device on = resolve_device(device.value_or(kType));
                  DeviceGuard guard(on);
                  return empty_strided_on(on, size, stride, dtype.value_or(default_dtype()));
                });
    aten_->impl(_copy_from, [](const Tensor& self, const Tensor& dst, bool) {
      copy_(on_host(dst), on_host(self));
      return dst;
    });
    any_.emplace(Library::Kind::Impl, "_", key);
    any_->fallback([](const OperatorHandle& op, DispatchKeySet, Stack* stack) {
      Transfer transfer;
      ++get().fallbacks;
      cpu_fallback(op, stack, kType, transfer);
    });
    gradients_.emplace(Library::Kind::Impl, "_",
                       runtime_key(DispatchKey::AutogradFunctionality, *backend_of(key)));
    gradients_->fallback(fallthrough);
  }

  int fallbacks = 0;

 private:
  class Memory final : public Allocator {
   public:
    DataPtr allocate(size_t bytes) override {
      void* const data = bytes == 0 ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
      SB_CHECK(data || bytes == 0, to_string(kType), ": no memory for ", bytes, " bytes");
      return DataPtr(data, data, std::free, get().guard_.current_device());
    }
    void copy_data(void* to, const void* from, size_t bytes) override {
      std::memcpy(to, from, bytes);
    }
  };
  class Guard final : public DeviceGuardImpl {
   public:
    DeviceType type() const override { return kType; }
    int8_t device_count() const noexcept override { return 2; }
    Device current_device() const override { return Device(kType, current_); }
    void set_current(int8_t index) const noexcept override { current_ = index; }

   private:
    static inline thread_local int8_t current_ = 0;
  };
  class Hooks final : public DeviceHooks {
   public:
    DeviceType type() const override { return kType; }
    Generator default_generator(int8_t index) override {
      static const Generator* const generators =
          new Generator[2]{new_generator(0, 0), new_generator(1, 0)};
      return generators[index];
    }
    Generator new_generator(int8_t index, uint64_t seed) override {
      return make_intrusive<GeneratorImpl>(Device(kType, index), seed);
    }
  };
  class Transfer final : public HostTransfer {
   public:
    void download(const Storage& from, void* host, absl::Span<const ByteRange> ranges) override {
      for (const ByteRange& r : ranges)
        std::memcpy(static_cast<char*>(host) + r.begin,
                    static_cast<const char*>(from->data()) + r.begin, r.size);
    }
    void upload(const Storage& to, const void* host, absl::Span<const ByteRange> ranges) override {
      for (const ByteRange& r : ranges)
        std::memcpy(static_cast<char*>(to->data()) + r.begin,
                    static_cast<const char*>(host) + r.begin, r.size);
    }
  };

  // A tensor of the CPU on the same bytes.
  static Tensor on_host(const Tensor& t) {
    if (t.is_cpu()) return t;
    SB_CHECK(t.device().type == kType, "aten::_copy_from: expected a tensor on cpu or ",
             to_string(kType), ", got ", t.describe());
    auto impl = make_intrusive<TensorImpl>(
        make_intrusive<StorageImpl>(DataPtr(t.storage()->data(), DeviceType::CPU),
                                    t.storage()->nbytes(), nullptr),
        tensor_key_set(DeviceType::CPU), t.dtype(), DeviceType::CPU);
    impl->set_sizes_and_strides(t.sizes(), t.strides());
    impl->set_storage_offset(t.storage_offset());
    return Tensor(std::move(impl));
  }

  Memory memory_;
  Guard guard_;
  Hooks hooks_;
  std::optional<Library> aten_, any_, gradients_;
};

}  // namespace sb::private_backends

#endif  // SWITCHBOARD_TESTS_PRIVATE_BACKENDS_SMALL_DEVICE_H_
