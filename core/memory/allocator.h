// Allocators: one for each device type, which counts the memory that it has given out.

#ifndef SWITCHBOARD_CORE_MEMORY_ALLOCATOR_H_
#define SWITCHBOARD_CORE_MEMORY_ALLOCATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "switchboard/core/device.h"

namespace sb {

// Memory with its way back: owns `data` through `deleter(context)`. As `c10::DataPtr`.
class DataPtr {
 public:
  using Deleter = void (*)(void* context);

  DataPtr() = default;
  // Memory that somebody else owns.
  DataPtr(void* data, Device device) : data_(data), device_(device) {}
  DataPtr(void* data, void* context, Deleter deleter, Device device)
      : data_(data), context_(context), deleter_(deleter), device_(device) {}
  DataPtr(DataPtr&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        context_(std::exchange(other.context_, nullptr)),
        deleter_(std::exchange(other.deleter_, nullptr)),
        device_(other.device_) {}
  DataPtr& operator=(DataPtr&& other) noexcept {
    if (this != &other) {
      clear();
      data_ = std::exchange(other.data_, nullptr);
      context_ = std::exchange(other.context_, nullptr);
      deleter_ = std::exchange(other.deleter_, nullptr);
      device_ = other.device_;
    }
    return *this;
  }
  ~DataPtr() { clear(); }

  void clear() {
    if (deleter_) std::exchange(deleter_, nullptr)(context_);
    data_ = context_ = nullptr;
  }
  // Another thread may give the address meanwhile (give).
  void* get() const { return __atomic_load_n(&data_, __ATOMIC_ACQUIRE); }
  // The address of memory that `context` owns, which could not be told before.
  void give(void* data) { __atomic_store_n(&data_, data, __ATOMIC_RELEASE); }
  void* context() const { return context_; }
  Deleter deleter() const { return deleter_; }
  Device device() const { return device_; }

 private:
  void* data_ = nullptr;
  void* context_ = nullptr;
  Deleter deleter_ = nullptr;
  Device device_;
};

// Bytes that an allocator has given out. Thread-safe.
class AllocationStats {
 public:
  void add(size_t bytes) noexcept {
    const int64_t now = current_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed) +
                        static_cast<int64_t>(bytes);
    int64_t peak = peak_.load(std::memory_order_relaxed);
    while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }
  void remove(size_t bytes) noexcept {
    current_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  }
  int64_t current_bytes() const noexcept { return current_.load(std::memory_order_relaxed); }
  // The most bytes at one time since the last reset_peak().
  int64_t peak_bytes() const noexcept { return peak_.load(std::memory_order_relaxed); }
  void reset_peak() noexcept { peak_.store(current_bytes(), std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> current_{0};
  std::atomic<int64_t> peak_{0};
};

// As `c10::Allocator`. Implementations are thread-safe and live as long as the process.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // Memory for `bytes` bytes, aligned for every dtype; null data for 0 bytes. Throws RuntimeError
  // that names the device and the size when there is none.
  virtual DataPtr allocate(size_t bytes) = 0;
  // Copies between two memories of this allocator.
  virtual void copy_data(void* destination, const void* source, size_t bytes) = 0;

  AllocationStats& stats() { return stats_; }

 private:
  AllocationStats stats_;
};

// Registers the allocator of a device type; a later one replaces it. Not owned. Thread-safe.
void set_allocator(DeviceType type, Allocator* allocator);
namespace internal {
struct AllocatorRegistry {
  std::atomic<Allocator*> slots[kNumDeviceTypes];
};
extern constinit AllocatorRegistry allocator_registry;
[[noreturn, gnu::cold]] void throw_no_allocator(DeviceType type);
}  // namespace internal

// The allocator of a device type, or nullptr; and the same, throwing NotImplementedError that names
// the device. CPU and Meta always have one: Meta's gives null data of every size. Inline, as every
// `empty` asks; reading takes no lock.
inline Allocator* find_allocator(DeviceType type) {
  const size_t i = static_cast<size_t>(type);
  return i < kNumDeviceTypes ? internal::allocator_registry.slots[i].load(std::memory_order_acquire)
                             : nullptr;
}
inline Allocator* get_allocator(DeviceType type) {
  Allocator* const allocator = find_allocator(type);
  if (!allocator) [[unlikely]]
    internal::throw_no_allocator(type);
  return allocator;
}

}  // namespace sb

#endif  // SWITCHBOARD_CORE_MEMORY_ALLOCATOR_H_
