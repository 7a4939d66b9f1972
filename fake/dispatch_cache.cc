#include "switchboard/fake/dispatch_cache.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "switchboard/dispatch/reclaim.h"

namespace sb {

namespace internal {

std::string_view to_string(CacheBypass reason) {
  switch (reason) {
    case CacheBypass::DataDependentOutput:
      return "data dependent output";
    case CacheBypass::DynamicOutputShape:
      return "dynamic output shape";
    case CacheBypass::InplaceView:
      return "inplace view";
    case CacheBypass::UnsafeView:
      return "unsafe view";
    case CacheBypass::Lift:
      return "lift";
    case CacheBypass::StorageResize:
      return "storage resize";
    case CacheBypass::NonBuiltin:
      return "non-builtin";
    case CacheBypass::CompositeImplicitView:
      return "CompositeImplicitAutograd";
    case CacheBypass::SymbolicShape:
      return "symbolic shape";
    case CacheBypass::ConstantAttribute:
    case CacheBypass::ConstantOutput:
      return "constant attribute";
    case CacheBypass::OtherArgument:
      return "argument that has no key";
    case CacheBypass::SeveralOutputs:
    case CacheBypass::NonFakeOutput:
      return "non-FakeTensor output";
    case CacheBypass::KeywordAlias:
      return "kwarg aliases output";
    case CacheBypass::KeySetMismatch:
      return "dispatch_key_set mismatch";
    case CacheBypass::Full:
      return "cache is full";
  }
  return "";
}

namespace {
// Which count is this thread's.
size_t this_thread() {
  static constinit std::atomic<size_t> next{0};
  static constinit thread_local size_t mine = 0;  // none yet
  if (mine == 0) [[unlikely]]
    mine = 1 + next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}
}  // namespace

}  // namespace internal

// Open addressing; a slot, once taken, stays. At most half of the slots are taken. Entries belong
// to the last table that has them.
struct FakeDispatchCache::Table {
  explicit Table(size_t capacity) : slots(capacity) {}
  // is(entry) tells whether it is the one, of those with this hash.
  template <class F>
  const internal::CacheEntry* find(uint64_t hash, F&& is) const {
    for (size_t i = hash & (slots.size() - 1);; i = (i + 1) & (slots.size() - 1)) {
      const internal::CacheEntry* const entry = slots[i].load(std::memory_order_acquire);
      if (!entry || (entry->hash == hash && is(*entry))) return entry;
    }
  }
  // Apart, for calls that were not the last ones at their place.
  [[gnu::noinline]] const internal::CacheEntry* find_and_note(
      const internal::CacheKey& key, std::atomic<const internal::CacheEntry*>* last_there) const {
    const std::optional<uint64_t> hash = key.hash();
    if (!hash) return nullptr;
    const internal::CacheEntry* const entry =
        find(*hash, [&](const internal::CacheEntry& e) { return key.is(e.key); });
    if (entry) last_there->store(entry, std::memory_order_release);
    return entry;
  }
  void add(const internal::CacheEntry* entry) {
    size_t i = entry->hash & (slots.size() - 1);
    while (slots[i].load(std::memory_order_relaxed)) i = (i + 1) & (slots.size() - 1);
    slots[i].store(entry, std::memory_order_release);
    ++size;
  }

  std::vector<std::atomic<const internal::CacheEntry*>> slots;
  size_t size = 0;
  std::vector<std::shared_ptr<const internal::CacheEntry>> entries;
  // The last entry that was found at each place, or nullptr.
  static constexpr int kPlaceBits = 9;
  mutable std::array<std::atomic<const internal::CacheEntry*>, size_t{1} << kPlaceBits> last{};
};

FakeDispatchCache::FakeDispatchCache() : table_(std::make_shared<Table>(64)) {
  published_.store(table_.get(), std::memory_order_release);
}
FakeDispatchCache::~FakeDispatchCache() = default;

const IntrusivePtr<FakeDispatchCache>& FakeDispatchCache::process_wide() {
  static const IntrusivePtr<FakeDispatchCache>& cache = *new IntrusivePtr(create());
  return cache;
}

const internal::CacheEntry* FakeDispatchCache::find(const internal::CacheKey& key,
                                                    uint64_t place) const {
  const Table& table = *published_.load(std::memory_order_acquire);
  auto& last = table.last[(place * 0x9e3779b97f4a7c15) >> (64 - Table::kPlaceBits)];
  const internal::CacheEntry* const entry = last.load(std::memory_order_acquire);
  if (entry && key.is(entry->key)) return entry;
  return table.find_and_note(key, &last);
}

const internal::CacheEntry* FakeDispatchCache::find_by_hash(const internal::CacheKey& key,
                                                            uint64_t hash) const {
  return published_.load(std::memory_order_acquire)->find(hash, [&](const internal::CacheEntry& e) {
    return key.is(e.key);
  });
}

void FakeDispatchCache::count_hit() {
  hits_[internal::this_thread() % kCounts].hits.fetch_add(1, std::memory_order_relaxed);
}

void FakeDispatchCache::insert(std::unique_ptr<const internal::CacheEntry> entry) {
  std::shared_ptr<Table> old;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto is_same = [&](const internal::CacheEntry& e) { return e.key == entry->key; };
    if (table_->find(entry->hash, is_same)) return;  // another thread was quicker
    if (table_->size == kMostEntries) {
      if (internal::CacheKey::registrations(table_->entries.front()->key) ==
          internal::CacheKey::registrations(entry->key))
        return count_bypass(internal::CacheBypass::Full);
      old = std::exchange(table_, std::make_shared<Table>(64));  // the oldest, at least, are dead
    }
    misses_.fetch_add(1, std::memory_order_relaxed);
    if (2 * (table_->size + 1) > table_->slots.size()) {
      auto larger = std::make_shared<Table>(2 * table_->slots.size());
      larger->entries = table_->entries;
      for (const auto& e : larger->entries) larger->add(e.get());
      old = std::exchange(table_, std::move(larger));
    }
    const internal::CacheEntry* const added = entry.get();
    table_->entries.push_back(std::move(entry));
    table_->add(added);
    published_.store(table_.get(), std::memory_order_release);
  }
  if (old) internal::retire(std::move(old));
}

void FakeDispatchCache::clear() {
  std::shared_ptr<Table> old;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    old = std::exchange(table_, std::make_shared<Table>(64));
    published_.store(table_.get(), std::memory_order_release);
    for (Count& c : hits_) c.hits.store(0, std::memory_order_relaxed);
    misses_.store(0, std::memory_order_relaxed);
    for (auto& b : bypasses_) b.store(0, std::memory_order_relaxed);
  }
  internal::retire(std::move(old));
}

FakeCacheInfo FakeDispatchCache::info() const {
  FakeCacheInfo info;
  for (const Count& c : hits_) info.hits += c.hits.load(std::memory_order_relaxed);
  info.misses = misses_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < bypasses_.size(); ++i) {
    const uint64_t n = bypasses_[i].load(std::memory_order_relaxed);
    if (n == 0) continue;
    const std::string reason(to_string(static_cast<internal::CacheBypass>(i)));
    const auto known =
        std::ranges::find(info.bypasses, reason, [](const auto& b) { return b.first; });
    if (known != info.bypasses.end())
      known->second += n;
    else
      info.bypasses.emplace_back(reason, n);
  }
  std::ranges::stable_sort(info.bypasses, std::greater<>(), [](const auto& b) { return b.second; });
  std::lock_guard<std::mutex> lock(mutex_);
  info.size = table_->size;
  return info;
}

}  // namespace sb
