// Inside of vmap: each call is one on two examples, which are the same.

#include <cstring>
#include <map>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/conformance/outcome.h"
#include "switchboard/tests/conformance/place.h"
#include "switchboard/transforms/vmap/batched_tensor.h"
#include "switchboard/transforms/vmap/level.h"

namespace sb::conformance {
namespace {

using batching::batched_impl;

constexpr size_t kExamples = 2;

// The tensors of a call, as those of all examples, and back.
class Examples {
 public:
  explicit Examples(batching::Level* level) : level_(level) {}

  Tensor batched(const Tensor& one) {
    Tensor& made = tensors_[one.impl()].batched;
    if (made.defined()) return made;
    const Storage& storage = one.storage();
    const size_t bytes = storage->nbytes(), itemsize = one.itemsize();
    if (bytes % itemsize != 0) throw Unsupported("vmap: examples would not be aligned");
    auto impl =
        make_intrusive<TensorImpl>(all_of(storage), one.key_set(), one.dtype(), one.device());
    std::vector<int64_t> sizes{kExamples}, strides{static_cast<int64_t>(bytes / itemsize)};
    sizes.insert(sizes.end(), one.sizes().begin(), one.sizes().end());
    strides.insert(strides.end(), one.strides().begin(), one.strides().end());
    impl->set_sizes_and_strides(sizes, strides);
    impl->set_storage_offset(one.storage_offset());
    impl->set_quantizer(one.impl()->quantizer());
    made = batching::make_batched(Tensor(std::move(impl)), level_);
    tensors_[one.impl()].one = one;
    return made;
  }

  // What was written, and what views have become in place, as that of one example.
  void bring_back() {
    for (auto& [storage, all] : storages_) {
      const size_t n = storage->nbytes();
      SB_CHECK(all->nbytes() == kExamples * n, "a storage has another size");
      if (n == 0) continue;
      auto* const bytes = static_cast<std::byte*>(all->data());
      SB_CHECK(std::memcmp(bytes, bytes + n, n) == 0, "the examples of an argument differ");
      std::memcpy(storage->data(), bytes, n);
    }
    for (auto& [impl, pair] : tensors_) {
      pair.one.impl()->set_sizes_and_strides(pair.batched.sizes(), pair.batched.strides());
      pair.one.impl()->set_storage_offset(pair.batched.storage_offset());
    }
  }

  Tensor one(const Tensor& result) const {
    for (const auto& [impl, pair] : tensors_)
      if (pair.batched.is_same(result)) return pair.one;
    const batching::BatchedTensorImpl* const impl = batched_impl(result, *level_);
    if (!impl) return result;
    const Tensor& value = impl->value();
    for (const auto& [storage, all] : storages_) {
      if (value.storage() != all) continue;
      auto view = make_intrusive<TensorImpl>(Storage::share(storage), value.key_set(),
                                             value.dtype(), value.device());
      view->set_sizes_and_strides(result.sizes(), result.strides());
      view->set_storage_offset(result.storage_offset());
      return Tensor(std::move(view));
    }
    const Tensor first = select(value, 0, 0), other = select(value, 0, 1);
    const auto bytes = [](const Tensor& t) { return clone(t, MemoryFormat::Contiguous); };
    const Tensor a = bytes(first), b = bytes(other);
    SB_CHECK(a.nbytes() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0,
             "the examples of a result differ");
    return clone(first);
  }

 private:
  Storage all_of(const Storage& storage) {
    Storage& all = storages_[storage.get()];
    if (all) return all;
    const size_t n = storage->nbytes();
    all = make_storage(kExamples * n, get_allocator(DeviceType::CPU), DeviceType::CPU);
    for (size_t i = 0; i < kExamples && n > 0; ++i)
      std::memcpy(static_cast<std::byte*>(all->data()) + i * n, storage->data(), n);
    return all;
  }

  struct Pair {
    Tensor one, batched;
  };
  batching::Level* level_;
  std::map<TensorImpl*, Pair> tensors_;
  std::map<StorageImpl*, Storage> storages_;
};

class VmapPlace : public Place {
 public:
  std::string_view name() const override { return "vmap"; }
  Device device() const override { return DeviceType::CPU; }
  bool has_data() const override { return true; }
  Tensor make_storage(const Elements& elements) override { return cpu_->make_storage(elements); }
  std::vector<std::byte> read_storage(const Tensor& tensor) override {
    return cpu_->read_storage(tensor);
  }

  void call_boxed(const OperatorHandle& op, Stack* stack) override {
    const batching::RunningLevel level(kExamples, Randomness::Same);
    Examples examples(&*level);
    for (IValue& value : *stack) {
      if (value.is_Storage()) throw Unsupported("vmap: a storage has no examples");
      value = map_tensors(value, [&](const Tensor& t) { return examples.batched(t); });
    }
    {
      const FunctionTransformGuard guard(&*level);
      op.call_boxed(stack);
    }
    examples.bring_back();
    for (IValue& value : *stack)
      value = map_tensors(value, [&](const Tensor& t) { return examples.one(t); });
  }

 private:
  std::unique_ptr<Place> cpu_ = make_place("cpu");
};

const PlaceRegistration registration("vmap", []() -> std::unique_ptr<Place> {
  return std::make_unique<VmapPlace>();
});

}  // namespace
}  // namespace sb::conformance
