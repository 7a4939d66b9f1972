#include "switchboard/transforms/functionalization/functional_place.h"

#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb::internal {

void move_to_storage(const FunctionalizeContext& context, const OperatorHandle& op,
                     FunctionalTensorImpl& self, const MemoryShape& layout,
                     std::optional<PlaceInStorage> place) {
  const BelowFunctionalization below(context.owner());
  if (!place) {
    SB_CHECK_NOT_IMPLEMENTED(known(layout.bytes == 0), "functionalize: ", op.name().to_string(),
                             ": a storage that is not large enough, and grows, cannot be ",
                             "functionalised");
    const Tensor value = new_empty(self.value(), layout.sizes);
    self.set_storage_view(make_intrusive<FunctionalStorage>(value), 0, {}, value);
    return;
  }
  place->storage->apply_updates();
  const Tensor& base = place->storage->base(place->lineage);
  ViewChain chain =
      chain_to(base, {self.dtype(), layout.sizes, layout.strides, layout.offset, self.key_set()});
  Tensor value = apply_chain(chain, base);
  self.set_storage_view(std::move(place->storage), place->lineage, std::move(chain),
                        std::move(value));
}

void detach_in_place(const FunctionalizeContext& context, const OperatorHandle& op,
                     FunctionalTensorImpl& self, bool records_gradient) {
  const BelowFunctionalization below(context.owner());
  FunctionalStorage& storage = *self.functional_storage();
  storage.apply_updates();
  SB_CHECK_NOT_IMPLEMENTED(storage.num_tensors() == 1 || !records_gradient,
                           "functionalize: ", op.name().to_string(),
                           ": it takes a tensor out of the graph that views of it stay in; use "
                           "aten::detach");
  storage.set_history(self.lineage(), {}, detach(storage.base(self.lineage())));
  self.set_view(self.chain(), detach(self.value()), self.lineage());
}

void resize_in_place(const FunctionalizeContext& context, const OperatorHandle& op,
                     const Tensor& tensor, const MemoryShape& layout) {
  if (layout == MemoryShape(tensor)) return;
  FunctionalTensorImpl& self = *functional_impl(tensor);
  const bool larger = grows(self, layout);
  if (larger) check_can_grow(op, self, layout);
  const BelowFunctionalization below(context.owner());
  if (!larger) {
    Tensor value = viewed_as(self, layout);
    self.set_view(self.chain_of(layout.sizes, layout.strides, layout.offset), std::move(value),
                  self.lineage());
    return;
  }
  // Elements keep their places in the memory; what is new is not initialised.
  const Tensor old = flat_storage(self.value());
  Tensor flat = new_empty(old, {layout.numel() - old.sym_numel()});
  if (!known(old.sym_numel() == 0)) flat = cat({old, flat}, 0);
  self.grow(as_strided(flat, layout.sizes, layout.strides, 0));
}

bool grows(const FunctionalTensorImpl& self, const MemoryShape& layout) {
  return guard_bool(layout.bytes > self.functional_storage()->sym_nbytes());
}

void check_can_grow(const OperatorHandle& op, const FunctionalTensorImpl& self,
                    const MemoryShape& layout) {
  SB_CHECK_NOT_IMPLEMENTED(self.functional_storage()->num_tensors() == 1, op.name().to_string(),
                           ": memory that grows under several tensors cannot be functionalised");
  SB_CHECK_NOT_IMPLEMENTED(
      (layout.offset == 0) &
          (layout.bytes == layout.numel() * static_cast<int64_t>(itemsize(self.dtype()))),
      op.name().to_string(), ": a tensor of shape ", symbolic_shape_text(layout.sizes),
      " with strides ", symbolic_shape_text(layout.strides), " and offset ",
      layout.offset.to_string(),
      " does not fill its memory: growing to it cannot be functionalised");
}

Tensor viewed_as(FunctionalTensorImpl& self, const MemoryShape& layout) {
  self.value();  // brings the base up to date
  return apply_chain(self.chain_of(layout.sizes, layout.strides, layout.offset),
                     self.functional_storage()->base(self.lineage()));
}

}  // namespace sb::internal
