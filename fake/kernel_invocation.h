// Fake tensors as kernels see them.

#ifndef SWITCHBOARD_FAKE_KERNEL_INVOCATION_H_
#define SWITCHBOARD_FAKE_KERNEL_INVOCATION_H_

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/modes/direct_call.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::internal {

// A fake tensor that is shown as a plain meta tensor: device, keys and all.
struct Unfaked {
  explicit Unfaked(TensorImpl* tensor)
      : impl(tensor),
        storage(tensor->storage().get()),
        keys(tensor->key_set()),
        device(tensor->device()),
        data(tensor->exchange_mode_data(nullptr).leak()) {
    // A view of a lazily conjugated or negated tensor is one too.
    constexpr DispatchKeySet kLazyBits{DispatchKey::Conjugate, DispatchKey::Negative};
    impl->set_key_set(tensor_key_set(DeviceType::Meta, impl->is_inference()) | (keys & kLazyBits));
    impl->set_device(DeviceType::Meta);
  }
  // It has to be called.
  void restore() const {
    impl->set_key_set(keys);
    impl->set_device(device);
    impl->set_mode_data(IntrusivePtr<ModeData>::adopt(data));
  }
  bool is_on(const StorageImpl* s) const { return storage == s || impl->storage().get() == s; }

  TensorImpl* impl;
  const StorageImpl* storage;  // as it was
  DispatchKeySet keys;
  Device device;
  ModeData* data;  // a reference, which restore() gives back
};

// While it lasts, the tensors given to it are plain meta tensors. A shape rule need not know that
// fake tensors exist, and what it calls runs at Meta. As `in_kernel_invocation_manager`. Restores
// them at the end, on exceptions too.
class KernelInvocation {
 public:
  // `sets_storage`: the kernel may give a tensor another storage.
  explicit KernelInvocation(bool sets_storage) : sets_storage_(sets_storage) {}
  ~KernelInvocation() {
    end();
    for (const Unfaked& u : unfaked_) u.impl->release();
  }
  KernelInvocation(const KernelInvocation&) = delete;
  KernelInvocation& operator=(const KernelInvocation&) = delete;

  // Nothing for a tensor that is not fake, or given before.
  void unfake(const Tensor& tensor) {
    TensorImpl* const impl = tensor.impl();
    if (!impl->mode_data()) return;
    if (sets_storage_) add_storage(impl->storage());
    unfaked_.emplace_back(impl);
    impl->retain();  // the kernel takes its arguments off the stack
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
    for (const Unfaked& u : unfaked_) u.restore();
  }

  bool is_storage_of_argument(const Storage& storage) const {
    const auto is_of = [&](const Unfaked& u) { return u.is_on(storage.get()); };
    return std::ranges::any_of(unfaked_, is_of) ||
           std::ranges::find(storages_, storage) != storages_.end();
  }

 private:
  void add_storage(Storage storage) { storages_.push_back(std::move(storage)); }

  absl::InlinedVector<Unfaked, 8> unfaked_;
  bool sets_storage_;
  bool ended_ = false;
  std::vector<Storage> storages_;  // so that no new one takes the address of an old one
};

// The same for a typed call, which counts nothing: its caller holds the tensors. Its kernel gives
// none of them another storage.
class DirectInvocation {
 public:
  explicit DirectInvocation(absl::Span<const Tensor* const> tensors) {
    Unfaked* end = unfaked_;
    for (const Tensor* const t : tensors)
      if (t->impl()->mode_data()) new (end++) Unfaked(t->impl());
    end_ = end;
  }
  ~DirectInvocation() {
    if (!ended_) end();
  }
  DirectInvocation(const DirectInvocation&) = delete;
  DirectInvocation& operator=(const DirectInvocation&) = delete;

  // Once.
  void end() {
    ended_ = true;
    for (const Unfaked *u = unfaked_, *const end = end_; u != end; ++u) u->restore();
  }

  // What the first of the tensors has. After the end.
  const IntrusivePtr<ModeData>& data() const { return unfaked_[0].impl->mode_data(); }

  bool is_storage_of_argument(const Storage& storage) const {
    if (storage->use_count() == 1) return false;  // only the result has it
    const auto is_of = [&](const Unfaked& u) { return u.is_on(storage.get()); };
    return std::any_of<const Unfaked*>(unfaked_, end_, is_of);
  }

 private:
  union {
    Unfaked unfaked_[DirectArguments::kMost];  // up to end_
  };
  const Unfaked* end_;
  bool ended_ = false;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_KERNEL_INVOCATION_H_
