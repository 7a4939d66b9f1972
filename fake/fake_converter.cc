#include "switchboard/fake/fake_converter.h"

#include <algorithm>

namespace sb::internal {

Storage FakeConverter::convert_storage(const Storage& real) {
  const auto found = storages_.find(real.get());
  if (found != storages_.end()) {
    if (Storage fake = found->second.fake.lock()) return fake;
  }
  Storage fake = make_fake_storage(allocator_, real->nbytes());
  if (!real->resizable()) fake->set_resizable(nullptr);
  storages_.insert_or_assign(real.get(), StorageEntry{WeakIntrusivePtr<StorageImpl>(real),
                                                      WeakIntrusivePtr<StorageImpl>(fake)});
  return fake;
}

Tensor FakeConverter::convert(const Tensor& real, Device device,
                              const IntrusivePtr<ModeData>& mode) {
  const auto found = tensors_.find(real.impl());
  if (found != tensors_.end()) {
    IntrusivePtr<TensorImpl> fake = found->second.fake.lock();
    if (fake && fake->device() == device) return Tensor(std::move(fake));
  }
  forget_expired();
  IntrusivePtr<TensorImpl> impl = real.impl()->shallow_copy();
  impl->set_storage(convert_storage(real.storage()));
  impl->set_autograd_meta(nullptr);
  const Tensor fake(std::move(impl));
  become_fake(fake, device, mode);
  tensors_.insert_or_assign(real.impl(), TensorEntry{WeakIntrusivePtr<TensorImpl>(real.impl()),
                                                     WeakIntrusivePtr<TensorImpl>(fake.impl())});
  return fake;
}

void FakeConverter::forget_expired() {
  if (tensors_.size() + storages_.size() < forget_at_) return;
  absl::erase_if(tensors_, [](const auto& entry) {
    return entry.second.real.expired() || entry.second.fake.expired();
  });
  absl::erase_if(storages_, [](const auto& entry) {
    return entry.second.real.expired() || entry.second.fake.expired();
  });
  forget_at_ = std::max<size_t>(64, 2 * (tensors_.size() + storages_.size()));
}

void become_fake(const Tensor& tensor, Device device, const IntrusivePtr<ModeData>& mode) {
  TensorImpl* const impl = tensor.impl();
  // The backend, autograd and autocast keys are the fake device's, so that layered kernels run as
  // there; Python sends what is left to the mode.
  constexpr DispatchKeySet kLazyBits{DispatchKey::Conjugate, DispatchKey::Negative};
  const DispatchKeySet lazy = DispatchKeySet::from_bits(impl->key_set().bits() & kLazyBits.bits());
  const auto keys_on_device = is_quantized(impl->dtype()) ? quantized_key_set : tensor_key_set;
  impl->set_key_set(keys_on_device(device.type, impl->is_inference()) | DispatchKey::Python | lazy);
  impl->set_device(device);
  impl->set_mode_data(mode);
}

}  // namespace sb::internal
