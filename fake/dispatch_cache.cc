#include "switchboard/fake/dispatch_cache.h"

#include <algorithm>
#include <functional>

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
size_t this_thread() {
  static std::atomic<size_t> next{0};
  thread_local const size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}
}  // namespace

}  // namespace internal

// Open addressing; a slot, once taken, stays. At most half of the slots are taken. Entries belong
// to the last table that has them.
struct FakeDispatchCache::Table {
  explicit Table(size_t capacity) : slots(capacity) {}
  const internal::CacheEntry* find(absl::Span<const uint64_t> key, uint64_t hash) const {
    for (size_t i = hash & (slots.size() - 1);; i = (i + 1) & (slots.size() - 1)) {
      const internal::CacheEntry* const entry = slots[i].load(std::memory_order_acquire);
      if (!entry || (entry->hash == hash && absl::MakeConstSpan(entry->key) == key)) return entry;
    }
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
};

FakeDispatchCache::FakeDispatchCache() : table_(std::make_shared<Table>(64)) {
  published_.store(table_.get(), std::memory_order_release);
}
FakeDispatchCache::~FakeDispatchCache() = default;

const IntrusivePtr<FakeDispatchCache>& FakeDispatchCache::process_wide() {
  static const IntrusivePtr<FakeDispatchCache>& cache = *new IntrusivePtr(create());
  return cache;
}

const internal::CacheEntry* FakeDispatchCache::find(const internal::CacheKey& key) {
  const internal::CacheEntry* const entry =
      published_.load(std::memory_order_acquire)->find(key.words(), key.hash());
  if (entry) {
    hits_[internal::this_thread() % kCounts].hits.fetch_add(1, std::memory_order_relaxed);
  }
  return entry;
}

bool FakeDispatchCache::contains(const internal::CacheKey& key) const {
  return published_.load(std::memory_order_acquire)->find(key.words(), key.hash()) != nullptr;
}

void FakeDispatchCache::insert(std::unique_ptr<const internal::CacheEntry> entry) {
  std::shared_ptr<Table> old;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (table_->find(entry->key, entry->hash)) return;  // another thread was quicker
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
