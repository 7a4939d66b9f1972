#include "switchboard/transforms/vmap/batched_tensor.h"

#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/vmap/level.h"

namespace sb::batching {
namespace {

// The value's keys but those that would run a kernel on memory that is not there, or go to whom the
// value belongs, and the one that leads to the level.
DispatchKeySet batched_keys(const Tensor& value) {
  constexpr DispatchKeySet kHidden{DispatchKey::Dense, DispatchKey::Quantized, DispatchKey::Python,
                                   DispatchKey::Functionalize};
  return (value.key_set() - kHidden) | DispatchKey::FuncTorchBatched;
}

}  // namespace

BatchedTensorImpl::BatchedTensorImpl(Tensor value, IntrusivePtr<Level> level)
    : TensorImpl(level->storage_for(value), batched_keys(value), value.dtype(), value.device()),
      level_(std::move(level)) {
  set_quantizer(value.impl()->quantizer());
  set_value(std::move(value));
}

BatchedTensorImpl::~BatchedTensorImpl() = default;

void BatchedTensorImpl::set_value(Tensor value) {
  SB_ASSERT(value.dim() > 0);
  set_sym_sizes_and_strides(value.sym_sizes().subspan(1), value.sym_strides().subspan(1),
                            value.sym_storage_offset());
  value_ = std::move(value);
}

void BatchedTensorImpl::release_resources() {
  value_ = Tensor();
  level_ = nullptr;
  TensorImpl::release_resources();
}

BatchedTensorImpl* batched_impl(const Tensor& tensor) {
  // Only these have a key that says so; the others are not asked what they are.
  if (!tensor.key_set().has(DispatchKey::FuncTorchBatched)) return nullptr;
  return dynamic_cast<BatchedTensorImpl*>(tensor.impl());
}

BatchedTensorImpl* batched_impl(const Tensor& tensor, const Level& level) {
  BatchedTensorImpl* const impl = batched_impl(tensor);
  return impl && impl->level().get() == &level ? impl : nullptr;
}

std::vector<SymInt> batch_sizes(const SymInt& batch, const Tensor& example) {
  std::vector<SymInt> sizes{batch};
  sizes.insert(sizes.end(), example.sym_sizes().begin(), example.sym_sizes().end());
  return sizes;
}

Tensor all_examples(const Tensor& tensor, const Level& level) {
  if (const BatchedTensorImpl* const impl = batched_impl(tensor, level)) return impl->value();
  return expand(tensor, batch_sizes(level.size(), tensor));
}

Tensor make_batched(const Tensor& value, Level* level) {
  if (!value.defined()) return value;
  return Tensor(make_intrusive<BatchedTensorImpl>(value, IntrusivePtr<Level>::share(level)));
}

}  // namespace sb::batching
