// Real tensors to fake ones, the same real one always to the same fake.

#ifndef SWITCHBOARD_FAKE_FAKE_CONVERTER_H_
#define SWITCHBOARD_FAKE_FAKE_CONVERTER_H_

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/tensor.h"
#include "switchboard/fake/fake_storage.h"
#include "switchboard/fake/fake_tensor_data.h"

namespace sb::internal {

// Remembers conversions weakly: an entry counts as long as both the real tensor (or storage) and
// its fake live. As `FakeTensorConverter`.
class FakeConverter {
 public:
  FakeConverter() : allocator_(make_intrusive<FakeAllocator>()) {}

  // The fake of `real` on `device` (with an index if it is an accelerator), belonging to `mode`.
  // Throws UnsupportedFakeTensorError for a tensor that has none.
  Tensor convert(const Tensor& real, Device device, const IntrusivePtr<ModeData>& mode);
  // The fake that `real` has on that device; undefined where there is none.
  Tensor find(const Tensor& real, Device device) const;
  // The next conversion of `real` to that device makes another one.
  void forget(const Tensor& real, Device device) {
    tensors_.erase(TensorKey(real.impl(), number_of(device)));
  }

  // A tensor as `real`, which has a fake on that device, in memory that only this converter's
  // copies share, as the tensors share theirs.
  Tensor copy_of(const Tensor& real, Device device);

  // Gives a fake tensor the data of `real`. Code that writes to that storage calls forget().
  void make_constant(const Tensor& fake, const Tensor& real);
  // Makes all constants on that storage unknown. As `invalidate_constant_aliases`.
  void forget_constants(const Storage& storage);

  FakeAllocator& allocator() { return *allocator_; }

 private:
  using DeviceNumber = int;
  static DeviceNumber number_of(Device device) {
    return 256 * static_cast<int>(device.type) + device.index;
  }
  // The key is an address; the weak reference beside it keeps that address from being used again.
  struct TensorEntry {
    WeakIntrusivePtr<TensorImpl> real;
    WeakIntrusivePtr<TensorImpl> fake;  // weak: it keeps its mode alive, and so this
  };
  struct StorageEntry {
    WeakIntrusivePtr<StorageImpl> real;
    WeakIntrusivePtr<StorageImpl> fake;
    WeakIntrusivePtr<StorageImpl> copy;
    WeakIntrusivePtr<TensorImpl> view;  // a fake tensor on it, with which new ones count writes
  };
  Storage convert_storage(const Storage& real, Device device);
  void forget_expired();

  IntrusivePtr<FakeAllocator> allocator_;
  // With the device of the fake, of which there is one for each.
  using TensorKey = std::pair<const TensorImpl*, DeviceNumber>;
  using StorageKey = std::pair<const StorageImpl*, DeviceNumber>;
  absl::flat_hash_map<TensorKey, TensorEntry> tensors_;
  absl::flat_hash_map<StorageKey, StorageEntry> storages_;
  // By the storage of the real data, which an entry that is alive keeps.
  absl::flat_hash_map<const StorageImpl*, WeakIntrusivePtr<ConstantStorage>> constants_;
  size_t forget_at_ = 64;  // entries; doubles with what is left
};

// A constant has at most so many elements. As `CONSTANT_NUMEL_LIMIT`.
inline constexpr int64_t kMostConstantElements = 1;
// Returns whether the tensor may be a constant: real, with data and small.
bool may_be_constant(const Tensor& real);

// Makes `tensor`, which has no data, a fake tensor of the mode on `device`.
[[gnu::always_inline]] inline void become_fake(const Tensor& tensor, Device device,
                                               const IntrusivePtr<ModeData>& mode) {
  TensorImpl* const impl = tensor.impl();
  // The backend, autograd and autocast keys are the fake device's, so that layered kernels run as
  // there; Python sends what is left to the mode.
  constexpr DispatchKeySet kLazyBits{DispatchKey::Conjugate, DispatchKey::Negative};
  const DispatchKeySet keys = is_quantized(impl->dtype())
                                  ? quantized_key_set(device.type, impl->is_inference())
                                  : tensor_key_set(device.type, impl->is_inference());
  const DispatchKeySet lazy = impl->key_set() & kLazyBits;
  impl->set_key_set(keys | DispatchKey::Python | lazy);
  impl->set_device(device);
  impl->set_mode_data(mode);
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_FAKE_CONVERTER_H_
