// The memory of the device: host pages that stay sealed but where a kernel opens them, so that a
// stray read or write by host code faults, as it would on a device with memory of its own. Sealing
// can be switched off for speed.

#ifndef SWITCHBOARD_DEVICES_DUMMY_MEMORY_H_
#define SWITCHBOARD_DEVICES_DUMMY_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/core/storage.h"
#include "switchboard/core/tensor.h"

namespace sb::dummy {

namespace internal {
struct Block;
}

// Thread-safe. Every allocation has pages of its own, and every opening and sealing is a system
// call: about a microsecond each.
class DeviceMemory {
 public:
  class Unlock;

  // Keeps memory valid, and sealed, for work that runs later, even if its storage is freed or
  // resized meanwhile.
  class Hold {
   public:
    Hold() {}
    Hold(Hold&& other) noexcept : blocks_(std::move(other.blocks_)) { other.blocks_.clear(); }
    ~Hold();

    // Holds more, as Unlock::add. Waits for nothing.
    void add(const Storage& storage);

   private:
    friend class Unlock;
    absl::InlinedVector<internal::Block*, 4> blocks_;
  };

  // Opens memory for a scope. Scopes nest and overlap, also between threads: memory is sealed when
  // the last one ends. It stays valid until then even if its storage is freed or resized.
  //
  // Waits first for all work of the memory's device (streams.h), and throws the error of work that
  // failed. Work itself opens what it holds.
  class Unlock {
   public:
    Unlock() {}
    // These delegate, so that what is open is sealed again if one throws midway.
    explicit Unlock(const Storage& storage) : Unlock() { add(storage); }
    explicit Unlock(const Tensor& tensor) : Unlock() { add(tensor.storage()); }
    Unlock(std::initializer_list<Tensor> tensors) : Unlock() {
      for (const Tensor& t : tensors) add(t.storage());
    }
    // For work: opens what `hold` holds, and must not outlive it. Waits for nothing.
    explicit Unlock(const Hold& hold);
    ~Unlock();
    Unlock(const Unlock&) = delete;
    Unlock& operator=(const Unlock&) = delete;

    // Opens more. A storage without bytes needs no opening; one whose memory is not the device's
    // is a RuntimeError.
    void add(const Storage& storage);
    // The same for the allocation that `address` lies in.
    void add_address(const void* address);

   private:
    void open(internal::Block* block);

    absl::InlinedVector<internal::Block*, 4> blocks_;
  };

  // Sets and returns whether memory that no scope has opened is sealed: true at first, unless the
  // environment says SB_DUMMY_SEALED=0. A change holds for all memory, at once. RuntimeError if the
  // system refuses, and nothing changes.
  static void set_sealing(bool sealing);
  static bool sealing();

  // Fresh memory, sealed, zero. RuntimeError that names the device and the size if there is none.
  // Counted in both, which outlive it.
  static DataPtr allocate(size_t bytes, Device device, AllocationStats* stats,
                          AllocationStats* total);

  // How many scopes hold the allocation open that `address` lies in; 0: it is sealed, while there
  // is sealing. -1: it is not the device's.
  static int open_count(const void* address);
};

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_MEMORY_H_
