// A cache of the kernel that an operator runs at each key.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_DISPATCH_CACHE_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_DISPATCH_CACHE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/dispatch/kernel.h"

namespace sb {

// Every operator that holds a cache entry, by name, sorted. As `torch._ops.get_cached_ops`.
std::vector<std::string> cached_ops();
// Empties the caches of all of them. One registration may change what an operator does at many
// keys, and a change of the rules themselves what all operators do.
void reset_cached_ops();

namespace internal {

// A map from keys to kernels. Readers hold a CallPin, take no lock and write nothing; those who
// change it may hold the lock of a dispatcher.
class DispatchCache {
 public:
  // `op` is what cached_ops() calls it.
  explicit DispatchCache(std::string op) : op_(std::move(op)) {}
  ~DispatchCache();
  DispatchCache(const DispatchCache&) = delete;
  DispatchCache& operator=(const DispatchCache&) = delete;

  // nullptr if the key is not cached. Stays alive as long as the caller's CallPin.
  const KernelFunction* find(DispatchKey key) const {
    const Entries* const entries = current_.load(std::memory_order_acquire);
    if (!entries) return nullptr;
    for (const auto& [k, kernel] : *entries)
      if (k == key) return &kernel;
    return nullptr;
  }

  // To fill a key: take a ticket, find out the kernel, put it. What has been cleared in between, in
  // whatever cache, is not put, as the kernel may be one of before.
  static uint64_t take_ticket();
  void put(DispatchKey key, KernelFunction kernel, uint64_t ticket);

  void uncache(DispatchKey key);
  void clear();

 private:
  friend void sb::reset_cached_ops();
  friend std::vector<std::string> sb::cached_ops();
  using Entries = std::vector<std::pair<DispatchKey, KernelFunction>>;

  // Under the lock of all caches.
  void publish(std::shared_ptr<const Entries> entries);

  std::string op_;
  std::shared_ptr<const Entries> entries_;  // null: empty
  std::atomic<const Entries*> current_{nullptr};
};

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_DISPATCH_CACHE_H_
