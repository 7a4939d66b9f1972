#include "switchboard/fake/remembered_calls.h"

#include <array>
#include <optional>
#include <utility>

#include "switchboard/dispatch/reclaim.h"

namespace sb::internal {

// Open addressing; a slot, once taken, stays. At most half of the slots are taken. Entries belong
// to the last table that has them.
struct RememberedCalls::Table {
  explicit Table(size_t capacity) : slots(capacity) {}
  // is(entry) tells whether it is the one, of those with this hash.
  template <class F>
  const CacheEntry* find(uint64_t hash, F&& is) const {
    for (size_t i = hash & (slots.size() - 1);; i = (i + 1) & (slots.size() - 1)) {
      const CacheEntry* const entry = slots[i].load(std::memory_order_acquire);
      if (!entry || (entry->hash == hash && is(*entry))) return entry;
    }
  }
  // Apart, for calls that were not the last ones at their place.
  [[gnu::noinline]] const CacheEntry* find_and_note(
      const CacheKey& key, std::atomic<const CacheEntry*>* last_there) const {
    const std::optional<uint64_t> hash = key.hash();
    if (!hash) return nullptr;
    const CacheEntry* const entry = find(*hash, [&](const CacheEntry& e) { return key.is(e.key); });
    if (entry) last_there->store(entry, std::memory_order_release);
    return entry;
  }
  void add(const CacheEntry* entry) {
    size_t i = entry->hash & (slots.size() - 1);
    while (slots[i].load(std::memory_order_relaxed)) i = (i + 1) & (slots.size() - 1);
    slots[i].store(entry, std::memory_order_release);
    ++size;
  }

  std::vector<std::atomic<const CacheEntry*>> slots;
  size_t size = 0;
  std::vector<std::shared_ptr<const CacheEntry>> entries;
  // The last entry that was found at each place, or nullptr.
  static constexpr int kPlaceBits = 9;
  mutable std::array<std::atomic<const CacheEntry*>, size_t{1} << kPlaceBits> last{};
};

RememberedCalls::RememberedCalls(size_t most) : most_(most), table_(std::make_shared<Table>(64)) {
  published_.store(table_.get(), std::memory_order_release);
}
RememberedCalls::~RememberedCalls() = default;

const CacheEntry* RememberedCalls::find(const CacheKey& key, uint64_t place) const {
  const Table& table = *published_.load(std::memory_order_acquire);
  auto& last = table.last[(place * 0x9e3779b97f4a7c15) >> (64 - Table::kPlaceBits)];
  const CacheEntry* const entry = last.load(std::memory_order_acquire);
  if (entry && key.is(entry->key)) return entry;
  return table.find_and_note(key, &last);
}

const CacheEntry* RememberedCalls::find_by_hash(const CacheKey& key, uint64_t hash) const {
  return published_.load(std::memory_order_acquire)->find(hash, [&](const CacheEntry& e) {
    return key.is(e.key);
  });
}

RememberedCalls::Inserted RememberedCalls::insert(std::unique_ptr<const CacheEntry> entry) {
  std::shared_ptr<Table> old;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto is_same = [&](const CacheEntry& e) { return e.key == entry->key; };
    if (table_->find(entry->hash, is_same)) return Inserted::Before;  // another thread was quicker
    if (table_->size == most_) {
      if (!CacheKey::is_outdated(table_->entries.front()->key, entry->key)) return Inserted::Full;
      old = std::exchange(table_, std::make_shared<Table>(64));  // the oldest, at least, are dead
    }
    if (2 * (table_->size + 1) > table_->slots.size()) {
      auto larger = std::make_shared<Table>(2 * table_->slots.size());
      larger->entries = table_->entries;
      for (const auto& e : larger->entries) larger->add(e.get());
      old = std::exchange(table_, std::move(larger));
    }
    const CacheEntry* const added = entry.get();
    table_->entries.push_back(std::move(entry));
    table_->add(added);
    published_.store(table_.get(), std::memory_order_release);
  }
  if (old) retire(std::move(old));
  return Inserted::Now;
}

void RememberedCalls::clear() {
  std::shared_ptr<Table> old;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    old = std::exchange(table_, std::make_shared<Table>(64));
    published_.store(table_.get(), std::memory_order_release);
  }
  retire(std::move(old));
}

size_t RememberedCalls::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return table_->size;
}

}  // namespace sb::internal
