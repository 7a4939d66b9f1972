// A table of fake calls with their results.

#ifndef SWITCHBOARD_FAKE_REMEMBERED_CALLS_H_
#define SWITCHBOARD_FAKE_REMEMBERED_CALLS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "switchboard/core/tensor_impl.h"
#include "switchboard/fake/cache_key.h"
#include "switchboard/ops/shape/dims.h"

namespace sb::internal {

// The remembered result of a call. As `_DispatchCacheEntry`.
struct CacheEntry {
  std::vector<uint64_t> key;  // CacheKey::words
  uint64_t hash = 0;
  int same_as = -1;  // the argument that the result is; then the rest says nothing
  int view_of = -1;  // the argument whose storage the result is on
  size_t storage_bytes = 0;
  bool resizable = true;
  // Of a result with symbols: a tensor like it that has no storage. It says all that follows.
  IntrusivePtr<const TensorImpl> symbolic;
  DimVector sizes;
  DimVector strides;
  int64_t storage_offset = 0;
  DType dtype = DType::Float32;
  Device device;
  DispatchKeySet keys;
  int64_t numel = -1;  // where the result is contiguous and all of a fresh storage; else -1
};

// Thread-safe; looking something up takes no lock. What is found lives to the end of the
// dispatcher's call.
class RememberedCalls {
 public:
  // Holds at most so many. When it is full, it takes nothing more until the oldest is outdated, and
  // then starts over.
  explicit RememberedCalls(size_t most);
  ~RememberedCalls();
  RememberedCalls(const RememberedCalls&) = delete;
  RememberedCalls& operator=(const RememberedCalls&) = delete;

  // nullptr for nothing. `place` is any number that the same call has the next time: if the call is
  // the last that was found there, nothing is hashed.
  const CacheEntry* find(const CacheKey& key, uint64_t place) const;
  const CacheEntry* find_by_hash(const CacheKey& key, uint64_t hash) const;

  enum class Inserted : uint8_t { Now, Before, Full };
  Inserted insert(std::unique_ptr<const CacheEntry> entry);
  void clear();
  size_t size() const;

 private:
  struct Table;

  const size_t most_;
  mutable std::mutex mutex_;  // of those who write table_; not absl::Mutex: see Dispatcher
  std::shared_ptr<Table> table_;
  std::atomic<const Table*> published_;  // of table_
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_REMEMBERED_CALLS_H_
