#include "switchboard/fake/fake_converter.h"

#include <algorithm>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/fake/fake_errors.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/views/views.h"

namespace sb::internal {
namespace {

void check_has_fake(const Tensor& real) {
  SB_CHECK_KIND(UnsupportedFakeTensorError, real.storage() != nullptr,
                "FakeTensorMode: ", real.describe(), " has no storage, and so no fake tensor");
}

}  // namespace

bool may_be_constant(const Tensor& real) {
  return real.defined() && !real.impl()->mode_data() && !real.is_meta() && real.storage() &&
         real.numel() <= kMostConstantElements;
}

Storage FakeConverter::convert_storage(const Storage& real, Device device) {
  const StorageKey key(real.get(), number_of(device));
  const auto found = storages_.find(key);
  if (found != storages_.end()) {
    if (Storage fake = found->second.fake.lock()) return fake;
  }
  Storage fake = make_fake_storage(allocator_.get(), real->nbytes());
  if (!real->resizable()) fake->set_resizable(nullptr);
  StorageEntry& entry = storages_[key];
  entry = StorageEntry();
  entry.real = WeakIntrusivePtr<StorageImpl>(real);
  entry.fake = WeakIntrusivePtr<StorageImpl>(fake);
  return fake;
}

Tensor FakeConverter::find(const Tensor& real, Device device) const {
  const auto found = tensors_.find(TensorKey(real.impl(), number_of(device)));
  if (found == tensors_.end()) return Tensor();
  IntrusivePtr<TensorImpl> fake = found->second.fake.lock();
  return fake ? Tensor(std::move(fake)) : Tensor();
}

Tensor FakeConverter::convert(const Tensor& real, Device device,
                              const IntrusivePtr<ModeData>& mode) {
  if (Tensor known = find(real, device); known.defined()) return known;
  check_has_fake(real);
  forget_expired();
  IntrusivePtr<TensorImpl> impl = real.impl()->shallow_copy();
  impl->set_storage(convert_storage(real.storage(), device));
  impl->set_autograd_meta(nullptr);
  const Tensor fake(std::move(impl));
  become_fake(fake, device, mode);
  // As views of one storage do: what is known of the data of one ends with a write to another.
  StorageEntry& entry = storages_[StorageKey(real.storage().get(), number_of(device))];
  if (const IntrusivePtr<TensorImpl> other = entry.view.lock())
    fake.impl()->share_version_counter(*other);
  else
    entry.view = WeakIntrusivePtr<TensorImpl>(fake.impl());
  tensors_.insert_or_assign(TensorKey(real.impl(), number_of(device)),
                            TensorEntry{WeakIntrusivePtr<TensorImpl>(real.impl()),
                                        WeakIntrusivePtr<TensorImpl>(fake.impl())});
  return fake;
}

Tensor FakeConverter::copy_of(const Tensor& real, Device device) {
  IntrusivePtr<TensorImpl> impl = real.impl()->shallow_copy();
  impl->set_autograd_meta(nullptr);
  StorageEntry& entry = storages_[StorageKey(real.storage().get(), number_of(device))];
  Storage copy = entry.copy.lock();
  if (!copy) {
    const NoModesGuard no_modes;
    const BelowAutogradGuard no_autograd;
    const ExcludeKeysGuard as_stored(DispatchKeySet(DispatchKey::Conjugate) |
                                     DispatchKey::Negative);
    const auto size = static_cast<int64_t>(real.storage()->nbytes() / itemsize(real.dtype()));
    copy = clone(as_strided(Tensor(impl), {size}, {1}, 0)).storage();
    entry.copy = WeakIntrusivePtr<StorageImpl>(copy);
  }
  impl->set_storage(std::move(copy));
  return Tensor(std::move(impl));
}

void FakeConverter::make_constant(const Tensor& fake, const Tensor& real) {
  WeakIntrusivePtr<ConstantStorage>& known = constants_[real.storage().get()];
  IntrusivePtr<ConstantStorage> storage = known.lock();
  if (!storage || !storage->valid) {
    storage = make_intrusive<ConstantStorage>(real.storage());
    known = WeakIntrusivePtr<ConstantStorage>(storage);
  }
  FakeExtras& extras = extras_of(fake);
  extras.constant = real;
  extras.constant_storage = std::move(storage);
}

void FakeConverter::forget_constants(const Storage& storage) {
  const auto found = constants_.find(storage.get());
  if (found == constants_.end()) return;
  if (const IntrusivePtr<ConstantStorage> known = found->second.lock()) known->valid = false;
  constants_.erase(found);
}

void FakeConverter::forget_expired() {
  if (tensors_.size() + storages_.size() + constants_.size() < forget_at_) return;
  absl::erase_if(tensors_, [](const auto& entry) {
    return entry.second.real.expired() || entry.second.fake.expired();
  });
  absl::erase_if(storages_, [](const auto& entry) {
    return entry.second.real.expired() || entry.second.fake.expired();
  });
  absl::erase_if(constants_, [](const auto& entry) { return entry.second.expired(); });
  forget_at_ = std::max<size_t>(64, 2 * (tensors_.size() + storages_.size() + constants_.size()));
}

}  // namespace sb::internal
