// Numbers for objects that come and go: the same object has the same number, and another one at its
// address a new one.

#ifndef SWITCHBOARD_IO_RECORDING_IDENTITY_TABLE_H_
#define SWITCHBOARD_IO_RECORDING_IDENTITY_TABLE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/intrusive_ptr.h"

namespace sb::internal {

// Holds weak references, so that no new object takes the address of one that it knows. It lets go
// of those of dead objects from time to time, which begins an epoch: who remembers addresses
// forgets them then. Thread-safe if it is made for several threads.
template <class T>
class IdentityTable {
 public:
  explicit IdentityTable(bool for_threads) : for_threads_(for_threads) {}

  struct Found {
    uint64_t id;
    bool is_new;
  };

  // Numbers begin at 1.
  Found find(const T* object) {
    Shard& shard = shards_[reinterpret_cast<uintptr_t>(object) / sizeof(T) % shards_.size()];
    std::unique_lock lock(shard.mutex, std::defer_lock);
    if (for_threads_) lock.lock();
    const auto [it, added] = shard.ids.try_emplace(object);
    if (!added) return {it->second.id, false};
    it->second.weak = WeakIntrusivePtr<T>(const_cast<T*>(object));
    const uint64_t id = it->second.id = last_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (shard.ids.size() >= shard.limit) sweep(&shard);
    return {id, true};
  }
  uint64_t epoch() const { return epoch_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kFewest = 64;
  struct Known {
    WeakIntrusivePtr<T> weak;
    uint64_t id = 0;
  };
  struct Shard {
    std::mutex mutex;
    absl::flat_hash_map<const T*, Known> ids;
    size_t limit = kFewest;
  };

  [[gnu::noinline]] void sweep(Shard* shard) {
    // Before the references go: nobody gets the address and still finds the old number.
    epoch_.fetch_add(1, std::memory_order_relaxed);
    absl::erase_if(shard->ids, [](const auto& known) { return known.second.weak.expired(); });
    shard->limit = std::max(kFewest, 2 * shard->ids.size());
  }

  const bool for_threads_;
  std::array<Shard, 8> shards_;
  std::atomic<uint64_t> last_{0};
  std::atomic<uint64_t> epoch_{0};
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_IO_RECORDING_IDENTITY_TABLE_H_
