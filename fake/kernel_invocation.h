// Fake tensors as kernels see them.

#ifndef SWITCHBOARD_FAKE_KERNEL_INVOCATION_H_
#define SWITCHBOARD_FAKE_KERNEL_INVOCATION_H_

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "switchboard/core/tensor.h"

namespace sb::internal {

// While it lasts, the tensors given to it are plain meta tensors: device, keys and all. A shape
// rule need not know that fake tensors exist, and what it calls runs at Meta. As
// `in_kernel_invocation_manager`. Restores them at the end, on exceptions too.
class KernelInvocation {
 public:
  KernelInvocation() = default;
  ~KernelInvocation() { end(); }
  KernelInvocation(const KernelInvocation&) = delete;
  KernelInvocation& operator=(const KernelInvocation&) = delete;

  // Nothing for a tensor that is not fake, or given before.
  void unfake(const Tensor& tensor) {
    TensorImpl* const impl = tensor.impl();
    if (!impl->mode_data()) return;
    saved_.push_back({tensor, impl->storage(), impl->key_set(), impl->device(), impl->mode_data()});
    // A view of a lazily conjugated or negated tensor is one too.
    constexpr DispatchKeySet kLazyBits{DispatchKey::Conjugate, DispatchKey::Negative};
    impl->set_key_set(tensor_key_set(DeviceType::Meta, impl->is_inference()) |
                      (impl->key_set() & kLazyBits));
    impl->set_device(DeviceType::Meta);
    impl->set_mode_data(nullptr);
  }

  // A storage that is itself an argument.
  void add_storage(Storage storage) { storages_.push_back(std::move(storage)); }

  void end() {
    if (ended_) return;
    ended_ = true;
    for (Saved& s : saved_) {
      s.tensor.impl()->set_key_set(s.keys);
      s.tensor.impl()->set_device(s.device);
      s.tensor.impl()->set_mode_data(std::move(s.data));
    }
  }

  bool is_storage_of_argument(const Storage& storage) const {
    for (const Saved& s : saved_)
      if (s.storage == storage || s.tensor.storage() == storage) return true;
    return std::ranges::find(storages_, storage) != storages_.end();
  }

 private:
  struct Saved {
    Tensor tensor;
    Storage storage;  // as it was: set_ may change it
    DispatchKeySet keys;
    Device device;
    IntrusivePtr<ModeData> data;
  };
  absl::InlinedVector<Saved, 4> saved_;
  absl::InlinedVector<Storage, 1> storages_;
  bool ended_ = false;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_KERNEL_INVOCATION_H_
