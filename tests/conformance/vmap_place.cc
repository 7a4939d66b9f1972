// Inside of vmap: every tensor stands for two examples, which are the same.

#include <cstring>

#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/conformance/place.h"
#include "switchboard/transforms/vmap/batched_tensor.h"
#include "switchboard/transforms/vmap/level.h"

namespace sb::conformance {
namespace {

class VmapPlace : public Place {
 public:
  ~VmapPlace() override { level_->end(); }
  std::string_view name() const override { return "vmap"; }
  Device device() const override { return DeviceType::CPU; }
  bool has_data() const override { return true; }

  Tensor make_storage(const Elements& elements) override {
    const Tensor one = cpu_->make_storage(elements);
    const Tensor both = clone(expand(one, {kExamples, one.numel()}), MemoryFormat::Contiguous);
    return batching::make_batched(both, level_.get());
  }

  // The first example's; the others must be the same.
  std::vector<std::byte> read_storage(const Tensor& tensor) override {
    const batching::BatchedTensorImpl* const impl = batching::batched_impl(tensor, *level_);
    if (!impl) return cpu_->read_storage(tensor);
    const Tensor& value = impl->value();
    const Tensor first = example(value, 0), other = example(value, 1);
    const size_t n = static_cast<size_t>(first.numel()) * first.itemsize();
    SB_CHECK(n == 0 || std::memcmp(first.data_ptr(), other.data_ptr(), n) == 0,
             "the examples differ, of ", tensor.describe());
    return cpu_->read_storage(value);
  }

  void run(absl::FunctionRef<void()> part) override {
    const FunctionTransformGuard guard(level_.get());
    part();
  }

 private:
  static constexpr int64_t kExamples = 2;

  static Tensor example(const Tensor& value, int64_t i) {
    return clone(select(value, 0, i), MemoryFormat::Contiguous);
  }

  std::unique_ptr<Place> cpu_ = make_place("cpu");
  IntrusivePtr<batching::Level> level_ =
      make_intrusive<batching::Level>(kExamples, Randomness::Same);
};

const PlaceRegistration registration("vmap", []() -> std::unique_ptr<Place> {
  return std::make_unique<VmapPlace>();
});

}  // namespace
}  // namespace sb::conformance
