// Results of fake calls, remembered by the metadata of the arguments.

#ifndef SWITCHBOARD_FAKE_DISPATCH_CACHE_H_
#define SWITCHBOARD_FAKE_DISPATCH_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/fake/remembered_calls.h"

namespace sb {

enum class FakeCacheUse : uint8_t {
  Off,
  // For what costs more than looking it up does: calls with symbols, operators that are composed of
  // others, fake rules and fallback kernels. Meta kernels of single operators run;
  // docs/performance.md has the figures.
  Costly,
  All,
  // As All, and each result is computed too: RuntimeError where the two differ. As
  // `fake_tensor_cache_crosscheck_enabled`.
  CrossCheck,
};

// As `DispatchCacheInfo`.
struct FakeCacheInfo {
  uint64_t hits = 0;
  uint64_t misses = 0;  // calls that were then remembered
  // Calls that cannot be remembered, by the reason, with their number; most first.
  std::vector<std::pair<std::string, uint64_t>> bypasses;
  size_t size = 0;  // entries, but for calls with symbols
};

namespace internal {

// The reason why a call is not remembered. The texts are PyTorch's.
enum class CacheBypass : uint8_t {
  DataDependentOutput,
  DynamicOutputShape,
  InplaceView,
  UnsafeView,
  Lift,
  StorageResize,
  NonBuiltin,
  CompositeImplicitView,
  SymbolicShape,
  ConstantAttribute,
  OtherArgument,  // a generator, a storage, an object
  SeveralOutputs,
  NonFakeOutput,
  ConstantOutput,
  KeywordAlias,
  KeySetMismatch,
  Full,
};
inline constexpr size_t kCacheBypasses = static_cast<size_t>(CacheBypass::Full) + 1;
std::string_view to_string(CacheBypass reason);

}  // namespace internal

// Defining an operator, giving it another fake rule, and registering or removing any kernel make
// everything that was remembered before worthless.
//
// Calls with symbols are remembered by each mode for itself, as their results mean something in its
// ShapeEnv alone, and counted here; they hold as long as the environment learns nothing.
//
// Thread-safe: modes of several threads may share one; looking something up takes no lock. Holds at
// most kMostEntries; when it is full, it remembers nothing more until the next registration, and
// then starts over.
class FakeDispatchCache : public IntrusiveTarget {
 public:
  static constexpr size_t kMostEntries = size_t{1} << 16;

  static IntrusivePtr<FakeDispatchCache> create() { return make_intrusive<FakeDispatchCache>(); }
  // The cache of modes that are given none.
  static const IntrusivePtr<FakeDispatchCache>& process_wide();

  // As `FakeTensorMode.cache_info` and `cache_clear`, which sets the numbers to zero, too. Modes
  // keep their calls with symbols.
  FakeCacheInfo info() const;
  void clear();

  // For the mode.
  internal::RememberedCalls& calls() { return calls_; }
  void count_hit();
  void count_miss() { misses_.fetch_add(1, std::memory_order_relaxed); }
  void count_bypass(internal::CacheBypass reason) {
    bypasses_[static_cast<size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  }

 private:
  // One count for each of some threads, so that they do not contend.
  struct alignas(64) Count {
    std::atomic<uint64_t> hits{0};
  };
  static constexpr size_t kCounts = 16;

  internal::RememberedCalls calls_{kMostEntries};
  std::array<Count, kCounts> hits_;
  std::atomic<uint64_t> misses_{0};
  std::array<std::atomic<uint64_t>, internal::kCacheBypasses> bypasses_{};
};

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_DISPATCH_CACHE_H_
