#include "switchboard/fake/fake_tensor_data.h"

#include "switchboard/fake/fake_mode.h"

namespace sb::internal {

FakeTensorData::FakeTensorData(IntrusivePtr<FakeMode> mode) : mode_(std::move(mode)) {}
FakeTensorData::~FakeTensorData() = default;
DispatchMode& FakeTensorData::mode() const { return *mode_; }
void FakeTensorData::release_resources() {
  mode_ = nullptr;
  extras_ = nullptr;
}

FakeTensorData* find_fake_data(const Tensor& tensor) {
  return dynamic_cast<FakeTensorData*>(tensor.impl()->mode_data().get());
}

const FakeExtras* find_extras(const Tensor& tensor) {
  const FakeTensorData* const data = find_fake_data(tensor);
  return data ? data->extras() : nullptr;
}

FakeExtras& extras_of(const Tensor& tensor) {
  FakeTensorData* data = find_fake_data(tensor);
  if (!data->extras()) {
    // The others go on sharing what they had.
    const auto own =
        make_intrusive<FakeTensorData>(IntrusivePtr<FakeMode>::share(&data->fake_mode()));
    data = own.get();
    tensor.impl()->set_mode_data(own);
  }
  return data->make_extras();
}

}  // namespace sb::internal
