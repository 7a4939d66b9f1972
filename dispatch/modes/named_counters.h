// Counters with names, for what is worth counting in a running program.

#ifndef SWITCHBOARD_DISPATCH_MODES_NAMED_COUNTERS_H_
#define SWITCHBOARD_DISPATCH_MODES_NAMED_COUNTERS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb {

// One counter. Thread-safe.
class NamedCounter {
 public:
  void count(int64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }
  void reset() { value_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

// A set of counters. Thread-safe. Counting is one relaxed addition where the counter is looked up
// once:
//
//   static NamedCounter& hits = default_counters()["fake.cache_hits"];
//   hits.count();
class NamedCounters {
 public:
  // The counter of that name, made at the first use. Valid as long as the set.
  NamedCounter& operator[](std::string_view name);
  // Every counter that is not 0, sorted by name.
  std::vector<std::pair<std::string, int64_t>> values() const;
  // Sets all to 0.
  void reset();

 private:
  // Not absl::Mutex: Debian's is not instrumented, so that ThreadSanitizer would see races.
  mutable std::mutex mutex_;
  std::map<std::string, NamedCounter, std::less<>> counters_;
};

// The process's own set. Never destroyed.
NamedCounters& default_counters();

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MODES_NAMED_COUNTERS_H_
