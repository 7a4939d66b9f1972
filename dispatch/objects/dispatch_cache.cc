#include "switchboard/dispatch/objects/dispatch_cache.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "switchboard/dispatch/reclaim.h"

namespace sb {
namespace {

using internal::DispatchCache;

// One lock for all caches: they change only where registrations do, and once a key afterwards.
struct Caches {
  std::mutex mutex;  // not absl::Mutex; see Dispatcher
  std::set<DispatchCache*> filled;
  uint64_t cleared = 0;  // how often something was cleared
};

// Never destroyed: operators may be called until the very end of the program.
Caches& caches() {
  static Caches* const caches = new Caches;
  return *caches;
}

}  // namespace

std::vector<std::string> cached_ops() {
  std::vector<std::string> names;
  Caches& all = caches();
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    for (const DispatchCache* cache : all.filled) names.push_back(cache->op_);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void reset_cached_ops() {
  Caches& all = caches();
  std::lock_guard<std::mutex> lock(all.mutex);
  ++all.cleared;
  while (!all.filled.empty()) (*all.filled.begin())->publish(nullptr);
}

namespace internal {

void DispatchCache::publish(std::shared_ptr<const Entries> entries) {
  current_.store(entries.get(), std::memory_order_release);
  if (entries)
    caches().filled.insert(this);
  else
    caches().filled.erase(this);
  entries_.swap(entries);
  if (entries) retire(std::move(entries));
}

DispatchCache::~DispatchCache() { clear(); }

uint64_t DispatchCache::take_ticket() {
  Caches& all = caches();
  std::lock_guard<std::mutex> lock(all.mutex);
  return all.cleared;
}

void DispatchCache::put(DispatchKey key, KernelFunction kernel, uint64_t ticket) {
  Caches& all = caches();
  std::lock_guard<std::mutex> lock(all.mutex);
  // Two threads may have found out the same.
  if (all.cleared != ticket || find(key)) return;
  auto next = entries_ ? std::make_shared<Entries>(*entries_) : std::make_shared<Entries>();
  next->emplace_back(key, std::move(kernel));
  publish(std::move(next));
}

void DispatchCache::uncache(DispatchKey key) {
  Caches& all = caches();
  std::lock_guard<std::mutex> lock(all.mutex);
  ++all.cleared;
  if (!find(key)) return;
  auto next = std::make_shared<Entries>();
  for (const auto& entry : *entries_)
    if (entry.first != key) next->push_back(entry);
  publish(next->empty() ? nullptr : std::move(next));
}

void DispatchCache::clear() {
  Caches& all = caches();
  std::lock_guard<std::mutex> lock(all.mutex);
  ++all.cleared;
  if (entries_) publish(nullptr);
}

}  // namespace internal
}  // namespace sb
