#include "switchboard/ops/outputs/meta_rehearsal.h"

#include "switchboard/core/error.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/outputs/builtin.h"
#include "switchboard/ops/outputs/map_tensors.h"

namespace sb {

bool meta_runs_kernel_for_all_devices(const OperatorHandle& op) {
  return op.entry().resolved_table().rules[slot_of(DispatchKey::Meta)] ==
         ResolutionRule::DefaultBackendKernel;
}

bool run_at_meta(const OperatorHandle& op, Stack* stack) {
  const NoModesGuard no_modes;
  const ExcludeKeysGuard below(DispatchKeySet::full() - DispatchKeySet::below(DispatchKey::Python) -
                               DispatchKey::Observed);
  try {
    op.redispatch_boxed(DispatchKey::Meta, stack);
    return true;
  } catch (const DataDependentOutputError&) {
    return false;
  } catch (const DynamicOutputShapeError&) {
    return false;
  }
}

std::optional<MetaRehearsal> MetaRehearsal::run(const OperatorHandle& op,
                                                absl::Span<const IValue> arguments) {
  if (!op.entry().resolved_table().slots[slot_of(DispatchKey::Meta)]) return std::nullopt;
  MetaRehearsal rehearsal;
  Stack stack;
  for (const IValue& value : arguments) {
    if (value.is_Storage())
      stack.push_back(rehearsal.stand_in_storage(value.to_storage()));
    else
      stack.push_back(map_tensors(value, [&](const Tensor& t) { return rehearsal.stand_in(t); }));
  }
  try {
    if (!run_at_meta(op, &stack)) return std::nullopt;
  } catch (const RuntimeError&) {
    // What a user's kernel refuses besides, it refuses when it runs.
    if (is_builtin_namespace(op.name().ns()) || !meta_runs_kernel_for_all_devices(op)) throw;
    return std::nullopt;
  }
  return rehearsal;
}

Tensor MetaRehearsal::stand_in(const Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  Tensor& stand_in = tensors_[tensor.impl()];
  if (stand_in.defined()) return stand_in;
  const Storage storage = stand_in_storage(tensor.storage());
  auto impl = make_intrusive<TensorImpl>(
      storage, tensor_key_set(DeviceType::Meta, tensor.impl()->is_inference()), tensor.dtype(),
      Device(DeviceType::Meta));
  impl->set_sym_sizes_and_strides(tensor.sym_sizes(), tensor.sym_strides(),
                                  tensor.sym_storage_offset());
  impl->set_wrapped_number(tensor.impl()->is_wrapped_number());
  stand_in = Tensor(std::move(impl));
  return stand_in;
}

Storage MetaRehearsal::stand_in_storage(const Storage& storage) {
  if (!storage) return storage;
  Storage& stand_in = storages_[storage.get()];
  if (!stand_in) {
    stand_in = make_storage(storage->nbytes(), get_allocator(DeviceType::Meta), DeviceType::Meta);
  }
  return stand_in;
}

const StorageImpl* MetaRehearsal::storage_of(const Tensor& argument) const {
  for (const auto& [storage, stand_in] : storages_)
    if (stand_in == after(argument).storage()) return storage;
  return nullptr;
}

}  // namespace sb
