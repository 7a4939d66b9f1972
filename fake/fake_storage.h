// Storages that have a size and a device, and no memory; the mode counts what they would take.

#ifndef SWITCHBOARD_FAKE_FAKE_STORAGE_H_
#define SWITCHBOARD_FAKE_FAKE_STORAGE_H_

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/core/storage.h"

namespace sb::internal {

// Gives null data and counts it. The data keeps the allocator alive, as storages may outlive their
// mode.
class FakeAllocator final : public Allocator, public IntrusiveTarget {
 public:
  // Throws RuntimeError where all that is given out would not fit int64.
  DataPtr allocate(size_t bytes) override;
  void copy_data(void*, const void*, size_t) override {}

 private:
  friend void count_storage(StorageImpl* storage, FakeAllocator* allocator);
  DataPtr count(size_t bytes);
};

// A fake storage of so many bytes; resizable like a real one.
Storage make_fake_storage(FakeAllocator* allocator, size_t bytes);
// Makes the allocator count a storage without memory, and changes nothing else about it.
void count_storage(StorageImpl* storage, FakeAllocator* allocator);

// Notes for a scope the fake storages that are made on this thread. Scopes nest.
class FreshStorages {
 public:
  FreshStorages() : outer_(std::exchange(current_, this)) {}
  ~FreshStorages() { current_ = outer_; }
  FreshStorages(const FreshStorages&) = delete;
  FreshStorages& operator=(const FreshStorages&) = delete;

  bool has(const StorageImpl* storage) const { return made_.contains(storage); }
  static void note(const StorageImpl* storage) {
    if (current_) [[unlikely]]
      note_in_scopes(storage);
  }

 private:
  static void note_in_scopes(const StorageImpl* storage) {
    for (FreshStorages* scope = current_; scope; scope = scope->outer_)
      scope->made_.insert(storage);
  }

  static constinit inline thread_local FreshStorages* current_ = nullptr;

  absl::flat_hash_set<const StorageImpl*> made_;
  FreshStorages* outer_;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_FAKE_STORAGE_H_
