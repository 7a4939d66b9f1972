#include "switchboard/fake/fake_tensor_mode.h"

#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/fake/fake_mode.h"

namespace sb {

FakeTensorMode::FakeTensorMode(FakeTensorOptions options)
    : impl_(make_intrusive<internal::FakeMode>(std::move(options))) {}

FakeTensorMode::FakeTensorMode(const FakeTensorMode& other) = default;
FakeTensorMode& FakeTensorMode::operator=(const FakeTensorMode& other) = default;
FakeTensorMode::~FakeTensorMode() = default;

Tensor FakeTensorMode::from_tensor(const Tensor& real, std::optional<Device> device) {
  return impl_->from_tensor(real, {.device = device});
}
Tensor FakeTensorMode::from_tensor(const Tensor& real, const FromTensorOptions& how) {
  return impl_->from_tensor(real, how);
}
std::vector<Tensor> FakeTensorMode::from_tensors(absl::Span<const Tensor> real,
                                                 std::optional<Device> device) {
  std::vector<Tensor> fake;
  for (const Tensor& t : real) fake.push_back(from_tensor(t, device));
  return fake;
}
Tensor FakeTensorMode::from_meta(const Tensor& meta, Device device) {
  SB_CHECK_VALUE(meta.defined() && meta.is_meta(),
                 "FakeTensorMode.from_meta: expected a meta tensor, got ", meta.describe());
  return impl_->from_tensor(meta, {.device = device, .static_shapes = true});
}

DispatchMode* FakeTensorMode::mode() const { return impl_.get(); }
const FakeTensorOptions& FakeTensorMode::options() const { return impl_->options(); }
ShapeEnv* FakeTensorMode::shape_env() const { return impl_->shape_env(); }
AllocationStats& FakeTensorMode::memory() const { return impl_->memory(); }
void FakeTensorMode::new_epoch() const { impl_->new_epoch(); }

bool is_fake(const Tensor& tensor) { return internal::find_fake_data(tensor) != nullptr; }

DispatchMode* maybe_get_fake_mode(const Tensor& tensor) {
  internal::FakeTensorData* const data = internal::find_fake_data(tensor);
  return data ? &data->mode() : nullptr;
}

Tensor constant_of(const Tensor& fake) {
  const internal::FakeExtras* const extras = internal::find_extras(fake);
  if (!extras || !extras->constant_storage || !extras->constant_storage->valid) return Tensor();
  return extras->constant;
}

Tensor real_of(const Tensor& fake) {
  const internal::FakeExtras* const extras = internal::find_extras(fake);
  return extras ? extras->real : Tensor();
}

const Creation* creation_of(const Tensor& fake) {
  const internal::FakeExtras* const extras = internal::find_extras(fake);
  return extras ? extras->creation.get() : nullptr;
}

}  // namespace sb
