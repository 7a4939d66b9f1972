// The dummy device, used as any program would: through operators, never through its memory.

#include <cstring>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tests/conformance/place.h"

namespace sb::conformance {
namespace {

class DummyPlace : public Place {
 public:
  explicit DummyPlace(DeviceType type) : type_(type) {}
  std::string_view name() const override { return "dummy"; }
  Device device() const override { return type_; }
  bool has_data() const override { return true; }

  Tensor make_storage(const Elements& elements) override {
    const Tensor host = make_place("cpu")->make_storage(elements);
    const Tensor tensor =
        op("aten::empty.memory_format")
            .call({std::vector<int64_t>{host.numel()}},
                  {{"dtype", IValue(elements.dtype)}, {"device", IValue(device())}})
            .at(0)
            .to_tensor();
    copy(tensor, host);
    return tensor;
  }

  std::vector<std::byte> read_storage(const Tensor& tensor) override {
    const int64_t bytes = static_cast<int64_t>(tensor.storage()->nbytes());
    std::vector<std::byte> result(static_cast<size_t>(bytes));
    if (bytes == 0) return result;
    Tensor on_device(make_intrusive<TensorImpl>(tensor.storage(), tensor_key_set(type_),
                                                DType::UInt8, tensor.device()));
    on_device.impl()->set_sizes_contiguous({bytes});
    const Tensor host = empty_on(DeviceType::CPU, {bytes}, DType::UInt8);
    copy(host, on_device);
    std::memcpy(result.data(), host.data_ptr(), result.size());
    return result;
  }

 private:
  static OperatorHandle op(std::string_view name) {
    return default_dispatcher().find_op_or_throw(name);
  }
  static void copy(const Tensor& to, const Tensor& from) { op("aten::copy_").call({to, from}); }

  DeviceType type_;
};

const PlaceRegistration registration("dummy", []() -> std::unique_ptr<Place> {
  const std::optional<DeviceType> type = find_device_type("dummy");
  return type ? std::make_unique<DummyPlace>(*type) : nullptr;
});

}  // namespace
}  // namespace sb::conformance
