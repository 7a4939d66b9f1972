// A fake-tensor mode: tensors that say they are on the CPU and hold nothing.

#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/tests/conformance/place.h"

namespace sb::conformance {
namespace {

class FakePlace : public Place {
 public:
  std::string_view name() const override { return "fake"; }
  Device device() const override { return DeviceType::CPU; }
  bool owns(const Tensor& tensor) const override {
    return is_fake(tensor) && tensor.device().is_cpu();
  }
  bool has_data() const override { return false; }

  Tensor make_storage(const Elements& elements) override {
    return mode_.from_tensor(make_place("cpu")->make_storage(elements));
  }
  std::vector<std::byte> read_storage(const Tensor&) override { return {}; }

  void run(absl::FunctionRef<void()> part) override {
    FakeTensorModeGuard guard(mode_);
    part();
  }

 private:
  FakeTensorMode mode_;
};

const PlaceRegistration registration("fake", []() -> std::unique_ptr<Place> {
  return std::make_unique<FakePlace>();
});

}  // namespace
}  // namespace sb::conformance
