#include "switchboard/transforms/vmap/shapes.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/ops/outputs/meta_rehearsal.h"
#include "switchboard/transforms/vmap/batched_tensor.h"

namespace sb::batching {
namespace {

std::vector<Tensor> tensors_in(const std::vector<IValue>& values) {
  std::vector<Tensor> tensors;
  for (const IValue& value : values)
    value.for_each_tensor([&](const Tensor& t) { tensors.push_back(t); });
  return tensors;
}

}  // namespace

Tensor meta_like(const Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const Storage& storage = tensor.storage();
  constexpr DispatchKeySet kLazyBits{DispatchKey::Conjugate, DispatchKey::Negative};
  auto impl =
      make_intrusive<TensorImpl>(make_storage(storage ? storage->nbytes() : 0,
                                              get_allocator(DeviceType::Meta), DeviceType::Meta),
                                 tensor_key_set(DeviceType::Meta, tensor.impl()->is_inference()) |
                                     (tensor.key_set() & kLazyBits),
                                 tensor.dtype(), Device(DeviceType::Meta));
  impl->set_sym_sizes_and_strides(tensor.sym_sizes(), tensor.sym_strides(),
                                  tensor.sym_storage_offset());
  impl->set_wrapped_number(tensor.impl()->is_wrapped_number());
  impl->set_quantizer(tensor.impl()->quantizer());
  return Tensor(std::move(impl));
}

Tensor meta_of(std::vector<SymInt> sizes, DType dtype) {
  return empty_with_symbols(sizes, {}, dtype);
}

Tensor meta_batch(const Tensor& example, int64_t size) {
  return meta_of(batch_sizes(size, example), example.dtype());
}

std::vector<IValue> meta_arguments(const std::vector<IValue>& arguments) {
  std::vector<IValue> meta;
  for (const IValue& argument : arguments) meta.push_back(map_tensors(argument, meta_like));
  return meta;
}

std::optional<std::vector<IValue>> run_on_meta(const OperatorHandle& op,
                                               const std::vector<IValue>& arguments) {
  {
    const internal::CallPin pin;
    if (!op.entry().resolved_table().slots[slot_of(DispatchKey::Meta)]) return std::nullopt;
    // A kernel for all devices may read memory, but for those that give views.
    if (meta_runs_kernel_for_all_devices(op) && !op.schema().is_view() &&
        !op.entry().has_tag(Tag::inplace_view))
      return std::nullopt;
  }
  Stack stack = arguments;
  if (!run_at_meta(op, &stack)) return std::nullopt;
  return stack;
}

std::optional<std::vector<IValue>> try_on_meta(const OperatorHandle& op,
                                               const std::vector<IValue>& arguments) {
  try {
    return run_on_meta(op, arguments);
  } catch (const Error&) {
    return std::nullopt;
  }
}

namespace {

// Whether values are examples with the sizes `batch` in the place of their first `replaced` ones.
bool agree(const std::vector<IValue>& values, const std::vector<IValue>& example, int64_t batch,
           size_t replaced) {
  return std::ranges::equal(
      tensors_in(values), tensors_in(example), [&](const Tensor& value, const Tensor& one) {
        if (!value.defined() || !one.defined()) return value.defined() == one.defined();
        const IntArrayRef all = value.sizes(), sizes = one.sizes();
        return value.dtype() == one.dtype() && sizes.size() >= replaced && !all.empty() &&
               all[0] == batch && std::ranges::equal(all.subspan(1), sizes.subspan(replaced));
      });
}

}  // namespace

bool has_batch_in_front(const std::vector<IValue>& values, const std::vector<IValue>& example,
                        int64_t size) {
  return agree(values, example, size, 0);
}

bool has_joined_batch(const std::vector<IValue>& values, const std::vector<IValue>& example,
                      int64_t size) {
  return agree(values, example, size, 1);
}

}  // namespace sb::batching
