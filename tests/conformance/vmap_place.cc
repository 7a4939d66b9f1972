// Inside of vmap: each call is one on two examples, those of the case and others, for which a call
// on them alone says what is right.

#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/core/generator.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/conformance/compare.h"
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

  // The tensor of the other example: the same, with the elements of its storage the other way
  // round.
  Tensor other(const Tensor& one) {
    Tensor& made = others_[one.impl()];
    if (made.defined()) return made;
    auto impl = make_intrusive<TensorImpl>(other_of(one.storage(), one.itemsize()), one.key_set(),
                                           one.dtype(), one.device());
    impl->set_sizes_and_strides(one.sizes(), one.strides());
    impl->set_storage_offset(one.storage_offset());
    impl->set_quantizer(one.impl()->quantizer());
    made = Tensor(std::move(impl));
    return made;
  }
  // Whether the call on them alone worked; else both examples are the same.
  void set_differ(bool differ) { differ_ = differ; }

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
      if (differ_) {
        check_written(storage, bytes + n);
      } else {
        SB_CHECK(std::memcmp(bytes, bytes + n, n) == 0, "the examples of an argument differ");
      }
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
    const Tensor first = select(value, 0, 0);
    if (!differ_) check_same("the examples of a result differ", first, select(value, 0, 1));
    return clone(first);
  }

  // The results of the other example are those of a call on it alone.
  void check_results(const Stack& results, const Stack& alone) const {
    for (size_t i = 0; i < results.size() && differ_; ++i) {
      std::vector<Tensor> got, expected;
      results[i].for_each_tensor([&](const Tensor& t) { got.push_back(t); });
      alone[i].for_each_tensor([&](const Tensor& t) { expected.push_back(t); });
      SB_CHECK(got.size() == expected.size(), "other: result ", i, ": another number of tensors");
      for (size_t k = 0; k < got.size(); ++k) {
        const batching::BatchedTensorImpl* const impl = batched_impl(got[k], *level_);
        if (!expected[k].defined()) continue;
        check_same("other: the second example of a result is wrong",
                   impl ? select(impl->value(), 0, 1) : got[k], expected[k]);
      }
    }
  }

 private:
  static void check_same(const char* what, const Tensor& a, const Tensor& b) {
    SB_CHECK(a.dtype() == b.dtype() && a.sizes() == b.sizes(), what, ": ", a.describe(), ", ",
             b.describe());
    const auto dense = [](const Tensor& t) { return clone(t, MemoryFormat::Contiguous); };
    const Tensor x = dense(a), y = dense(b);
    const auto* const p = static_cast<const std::byte*>(x.data_ptr());
    const auto* const q = static_cast<const std::byte*>(y.data_ptr());
    for (int64_t i = 0; i < x.numel(); ++i) {
      const size_t at = static_cast<size_t>(i) * x.itemsize();
      SB_CHECK(elements_agree(x.dtype(), q + at, p + at, {1e-3, 1e-4}), what);
    }
  }
  void check_written(const StorageImpl* storage, const std::byte* bytes) const {
    const StorageImpl& alone = *other_storages_.at(storage);
    SB_CHECK(std::memcmp(bytes, alone.data(), storage->nbytes()) == 0,
             "other: what was written to the second example is wrong");
  }
  Storage other_of(const Storage& storage, size_t itemsize) {
    Storage& made = other_storages_[storage.get()];
    if (made) return made;
    const size_t n = storage->nbytes();
    made = make_storage(n, get_allocator(DeviceType::CPU), DeviceType::CPU);
    const auto* const from = static_cast<const std::byte*>(storage->data());
    auto* const to = static_cast<std::byte*>(made->data());
    for (size_t i = 0; i + itemsize <= n; i += itemsize)
      std::memcpy(to + (n / itemsize * itemsize - itemsize - i), from + i, itemsize);
    // As it is before the call, for the batch.
    other_before_[storage.get()].assign(to, to + n);
    return made;
  }

  Storage all_of(const Storage& storage) {
    Storage& all = storages_[storage.get()];
    if (all) return all;
    const size_t n = storage->nbytes();
    all = make_storage(kExamples * n, get_allocator(DeviceType::CPU), DeviceType::CPU);
    for (size_t i = 0; i < kExamples && n > 0; ++i) {
      const void* const from =
          i > 0 && differ_ ? other_before_.at(storage.get()).data() : storage->data();
      std::memcpy(static_cast<std::byte*>(all->data()) + i * n, from, n);
    }
    return all;
  }

  struct Pair {
    Tensor one, batched;
  };
  batching::Level* level_;
  std::map<TensorImpl*, Pair> tensors_;
  std::map<StorageImpl*, Storage> storages_;
  bool differ_ = false;
  std::map<TensorImpl*, Tensor> others_;
  std::map<const StorageImpl*, Storage> other_storages_;
  std::map<const StorageImpl*, std::vector<std::byte>> other_before_;
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
    const std::vector<uint8_t> random = default_cpu_generator()->state();
    Stack alone;
    for (const IValue& value : *stack)
      alone.push_back(map_tensors(value, [&](const Tensor& t) { return examples.other(t); }));
    try {
      op.call_boxed(&alone);
      examples.set_differ(true);
    } catch (const Error&) {
    }
    default_cpu_generator()->set_state(random);
    for (IValue& value : *stack) {
      if (value.is_Storage()) throw Unsupported("vmap: a storage has no examples");
      value = map_tensors(value, [&](const Tensor& t) { return examples.batched(t); });
    }
    try {
      const FunctionTransformGuard guard(&*level);
      op.call_boxed(stack);
    } catch (const Error& error) {
      if (std::string_view(error.what()).find(": vmap level") == std::string_view::npos) throw;
      throw Unsupported("vmap refuses it by name", op.name().to_string());
    }
    examples.check_results(*stack, alone);
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
