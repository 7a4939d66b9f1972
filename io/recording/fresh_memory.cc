#include "switchboard/io/recording/fresh_memory.h"

#include <atomic>
#include <cstring>
#include <mutex>

#include "switchboard/core/memory/allocator.h"

namespace sb::internal {
namespace {

// A valid element of every dtype, and a number that is wrong enough to be seen.
constexpr int kFill = 1;

// Stands before another allocator. Storages keep it: it lives on, and then only passes on.
class Filling final : public Allocator {
 public:
  DataPtr allocate(size_t bytes) override {
    DataPtr data = below()->allocate(bytes);
    if (bytes > 0 && scopes_.load(std::memory_order_relaxed) > 0)
      std::memset(data.get(), kFill, bytes);
    return data;
  }
  void copy_data(void* destination, const void* source, size_t bytes) override {
    below()->copy_data(destination, source, bytes);
  }

  void begin() {
    const std::lock_guard lock(mutex_);
    if (scopes_.fetch_add(1) > 0) return;
    Allocator* const now = get_allocator(DeviceType::CPU);
    if (now == this) return;
    below_.store(now, std::memory_order_release);
    set_allocator(DeviceType::CPU, this);
  }
  void end() {
    const std::lock_guard lock(mutex_);
    // The program may have set another one meanwhile, which may call this one.
    if (scopes_.fetch_sub(1) == 1 && get_allocator(DeviceType::CPU) == this)
      set_allocator(DeviceType::CPU, below());
  }

 private:
  Allocator* below() const { return below_.load(std::memory_order_acquire); }

  std::mutex mutex_;
  std::atomic<int> scopes_{0};
  std::atomic<Allocator*> below_{nullptr};
};

Filling& filling() {
  static auto* const allocator = new Filling;
  return *allocator;
}

}  // namespace

FillFreshMemory::FillFreshMemory() { filling().begin(); }
FillFreshMemory::~FillFreshMemory() { filling().end(); }

}  // namespace sb::internal
