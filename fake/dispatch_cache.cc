#include "switchboard/fake/dispatch_cache.h"

#include <algorithm>
#include <functional>

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

const IntrusivePtr<FakeDispatchCache>& FakeDispatchCache::process_wide() {
  static const IntrusivePtr<FakeDispatchCache>& cache = *new IntrusivePtr(create());
  return cache;
}

void FakeDispatchCache::count_hit() {
  hits_[internal::this_thread() % kCounts].hits.fetch_add(1, std::memory_order_relaxed);
}

void FakeDispatchCache::clear() {
  calls_.clear();
  for (Count& c : hits_) c.hits.store(0, std::memory_order_relaxed);
  misses_.store(0, std::memory_order_relaxed);
  for (auto& b : bypasses_) b.store(0, std::memory_order_relaxed);
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
  info.size = calls_.size();
  return info;
}

}  // namespace sb
