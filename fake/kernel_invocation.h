// Fake tensors as kernels see them.

#ifndef SWITCHBOARD_FAKE_KERNEL_INVOCATION_H_
#define SWITCHBOARD_FAKE_KERNEL_INVOCATION_H_

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/modes/direct_call.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::internal {

// While it lasts, the tensors given to it are plain meta tensors: device, keys and all. A shape
// rule need not know that fake tensors exist, and what it calls runs at Meta. As
// `in_kernel_invocation_manager`. Restores them at the end, on exceptions too.
class KernelInvocation {
 public:
  // `sets_storage`: the kernel may give a tensor another storage.
  explicit KernelInvocation(bool sets_storage) : sets_storage_(sets_storage) {}
  ~KernelInvocation() {
    end();
    for (const Saved& s : saved_) s.impl->release();
  }
  KernelInvocation(const KernelInvocation&) = delete;
  KernelInvocation& operator=(const KernelInvocation&) = delete;

  // Nothing for a tensor that is not fake, or given before.
  void unfake(const Tensor& tensor) {
    TensorImpl* const impl = tensor.impl();
    if (!impl->mode_data()) return;
    if (sets_storage_) add_storage(impl->storage());
    const DispatchKeySet keys = impl->key_set();
    Saved& saved =
        saved_.emplace_back(Saved{impl, impl->storage().get(), keys, impl->device(), nullptr});
    impl->retain();
    saved.data = impl->exchange_mode_data(nullptr).leak();
    // A view of a lazily conjugated or negated tensor is one too.
    constexpr DispatchKeySet kLazyBits{DispatchKey::Conjugate, DispatchKey::Negative};
    impl->set_key_set(tensor_key_set(DeviceType::Meta, impl->is_inference()) | (keys & kLazyBits));
    impl->set_device(DeviceType::Meta);
  }
  // All tensors and storages of an argument.
  void unfake(const IValue& value) {
    if (value.is_Tensor()) [[likely]]
      unfake(value.unchecked_tensor());
    else if (value.tag() < IValue::Tag::SymInt)
      return;
    else if (value.is_Storage())
      add_storage(value.to_storage());
    else
      value.for_each_tensor([&](const Tensor& t) { unfake(t); });
  }

  void end() {
    if (ended_) return;
    ended_ = true;
    for (const Saved& s : saved_) s.restore();
  }

  bool is_storage_of_argument(const Storage& storage) const {
    const auto is_of = [&](const Saved& s) {
      return s.storage == storage.get() || s.impl->storage() == storage;
    };
    return std::ranges::any_of(saved_, is_of) ||
           std::ranges::find(storages_, storage) != storages_.end();
  }

 private:
  // Counted by hand, as this is on the path of each call.
  struct Saved {
    void restore() const {
      impl->set_key_set(keys);
      impl->set_device(device);
      impl->set_mode_data(IntrusivePtr<ModeData>::adopt(data));
    }
    TensorImpl* impl;            // a reference of its own
    const StorageImpl* storage;  // as it was
    DispatchKeySet keys;
    Device device;
    ModeData* data;  // a reference, up to the end
  };
  void add_storage(Storage storage) { storages_.push_back(std::move(storage)); }

  absl::InlinedVector<Saved, DirectPath::kMost> saved_;
  bool sets_storage_;
  bool ended_ = false;
  std::vector<Storage> storages_;  // so that no new one takes the address of an old one
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_KERNEL_INVOCATION_H_
