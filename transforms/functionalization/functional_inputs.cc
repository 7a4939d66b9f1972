#include "switchboard/transforms/functionalization/functional_inputs.h"

#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/views/views.h"

namespace sb {

Tensor FunctionalInputs::wrap(const Tensor& plain) {
  const auto known = index_.find(plain.impl());
  if (known != index_.end()) return inputs_[known->second].functional;
  BelowFunctionalization below(owner_);
  Tensor functional;
  const auto found = plain.storage() ? storages_.find(plain.storage().get()) : storages_.end();
  if (found == storages_.end()) {
    functional = to_functional_tensor(plain, owner_);
    const IntrusivePtr<FunctionalStorage>& storage =
        functional_impl(functional)->functional_storage();
    storages_.emplace(plain.storage().get(), memories_.size());
    memories_.push_back({storage->base(), storage});
  } else {
    const IntrusivePtr<FunctionalStorage>& storage = memories_[found->second].functional;
    storage->apply_updates();
    const Tensor& base = storage->base();
    ViewChain chain = chain_to(base, ViewForm(plain));
    Tensor value = apply_chain(chain, base);
    functional = Tensor(
        make_intrusive<FunctionalTensorImpl>(storage, std::move(chain), std::move(value), owner_));
  }
  index_.emplace(plain.impl(), inputs_.size());
  inputs_.push_back({plain, functional});
  return functional;
}

std::vector<Tensor> FunctionalInputs::finish(const std::vector<Tensor>& results) {
  // Everything is computed before anything is written.
  for (const Memory& memory : memories_) {
    BelowFunctionalization below(owner_);
    memory.functional->apply_updates();
  }
  for (const Input& input : inputs_) sync(input.functional);
  for (const Tensor& result : results)
    if (is_ours(result)) sync(result);
  write_data();
  std::vector<Tensor> plain;  // views, so before the shapes of what they view change
  for (const Tensor& result : results) plain.push_back(plain_result(result));
  write_shapes();
  forget();
  return plain;
}

bool FunctionalInputs::mutated() const {
  for (const Memory& memory : memories_)
    if (memory.functional->mutated()) return true;
  for (const Input& input : inputs_) {
    const FunctionalTensorImpl& now = *functional_impl(input.functional);
    if (has_grown(input) || input.plain.sizes() != now.sizes() ||
        input.plain.strides() != now.strides() ||
        input.plain.storage_offset() != now.storage_offset()) {
      return true;
    }
  }
  return false;
}

bool FunctionalInputs::has_grown(const Input& input) const {
  return memory_of(input.plain).functional !=
         functional_impl(input.functional)->functional_storage();
}

const FunctionalInputs::Memory& FunctionalInputs::memory_of(const Tensor& plain) const {
  const auto found = storages_.find(plain.storage().get());
  SB_CHECK(found != storages_.end(), "functionalize: ", plain.describe(),
           ": an operator gave the tensor other memory, which its schema does not tell");
  return memories_[found->second];
}

void FunctionalInputs::forget() {
  index_.clear();
  inputs_.clear();
  storages_.clear();
  memories_.clear();
}

bool FunctionalInputs::is_ours(const Tensor& tensor) const {
  const FunctionalTensorImpl* const impl = functional_impl(tensor);
  return impl && impl->owner() == owner_;
}

void FunctionalInputs::write_data() {
  for (const Memory& memory : memories_)
    if (memory.functional->mutated()) copy_(memory.base, memory.functional->base());
}

void FunctionalInputs::write_shapes() {
  for (const Input& input : inputs_) {
    FunctionalTensorImpl& now = *functional_impl(input.functional);
    const Tensor& plain = input.plain;
    const bool grown = memory_of(plain).functional != now.functional_storage();
    if (grown) resize_(plain, now.sizes());
    if (plain.sizes() != now.sizes() || plain.strides() != now.strides() ||
        plain.storage_offset() != now.storage_offset()) {
      as_strided_(plain, now.sizes(), now.strides(), now.storage_offset());
    }
    if (grown) copy_(plain, now.value());
  }
}

Tensor FunctionalInputs::plain_result(const Tensor& result) const {
  if (!is_ours(result)) return result;
  for (const Input& input : inputs_)
    if (input.functional.is_same(result)) return input.plain;
  FunctionalTensorImpl& impl = *functional_impl(result);
  for (const Memory& memory : memories_) {
    if (memory.functional == impl.functional_storage() && memory.functional->mutated())
      return apply_chain(impl.chain(), memory.base);
  }
  return impl.value();
}

}  // namespace sb
