// A fake-tensor mode: tensors that say they are on the CPU, or on a GPU, and hold nothing.

#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/tests/conformance/place.h"

namespace sb::conformance {
namespace {

class FakePlace : public Place {
 public:
  FakePlace(std::string_view name, Device device) : name_(name), device_(device) {}
  std::string_view name() const override { return name_; }
  Device device() const override { return device_; }
  bool owns(const Tensor& tensor) const override {
    return is_fake(tensor) && tensor.device() == device_;
  }
  bool has_data() const override { return false; }

  Tensor make_storage(const Elements& elements) override {
    return mode_.from_tensor(make_place("cpu")->make_storage(elements), device_);
  }
  std::vector<std::byte> read_storage(const Tensor&) override { return {}; }

  void run(absl::FunctionRef<void()> part) override {
    FakeTensorModeGuard guard(mode_);
    part();
  }

 private:
  std::string_view name_;
  Device device_;
  FakeTensorMode mode_;
};

const PlaceRegistration on_cpu("fake", []() -> std::unique_ptr<Place> {
  return std::make_unique<FakePlace>("fake", Device(DeviceType::CPU));
});
const PlaceRegistration on_gpu("fake:cuda:0", []() -> std::unique_ptr<Place> {
  return std::make_unique<FakePlace>("fake:cuda:0", Device(DeviceType::CUDA, 0));
});

}  // namespace
}  // namespace sb::conformance
