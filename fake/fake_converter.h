// Real tensors to fake ones, the same real one always to the same fake.

#ifndef SWITCHBOARD_FAKE_FAKE_CONVERTER_H_
#define SWITCHBOARD_FAKE_FAKE_CONVERTER_H_

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/tensor.h"
#include "switchboard/fake/fake_storage.h"

namespace sb::internal {

// Remembers conversions weakly: an entry counts as long as both the real tensor (or storage) and
// its fake live.
class FakeConverter {
 public:
  explicit FakeConverter(IntrusivePtr<FakeAllocator> allocator)
      : allocator_(std::move(allocator)) {}

  // The fake of `real` on `device` (with an index if it is an accelerator), belonging to `mode`.
  Tensor convert(const Tensor& real, Device device, const IntrusivePtr<ModeData>& mode);

 private:
  // The key is an address; the weak reference beside it keeps that address from being used again.
  struct TensorEntry {
    WeakIntrusivePtr<TensorImpl> real;
    WeakIntrusivePtr<TensorImpl> fake;  // weak: it keeps its mode alive, and so this
  };
  struct StorageEntry {
    WeakIntrusivePtr<StorageImpl> real;
    WeakIntrusivePtr<StorageImpl> fake;
  };

  Storage convert_storage(const Storage& real);
  void forget_expired();

  IntrusivePtr<FakeAllocator> allocator_;
  absl::flat_hash_map<const TensorImpl*, TensorEntry> tensors_;
  absl::flat_hash_map<const StorageImpl*, StorageEntry> storages_;
  size_t forget_at_ = 64;  // entries; doubles with what is left
};

// Makes `tensor`, which has no data, a fake tensor of the mode on `device`.
void become_fake(const Tensor& tensor, Device device, const IntrusivePtr<ModeData>& mode);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_FAKE_CONVERTER_H_
