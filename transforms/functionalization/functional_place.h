// Operators that change where a functional tensor lies, and none of its elements.

#ifndef SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_PLACE_H_
#define SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_PLACE_H_

#include <cstddef>
#include <optional>

#include "switchboard/transforms/functionalization/functional_tensor.h"
#include "switchboard/transforms/functionalization/functionalization.h"
#include "switchboard/transforms/functionalization/memory_shape.h"

namespace sb::internal {

// Memory of a functional tensor, and the lineage that autograd sees it by.
struct PlaceInStorage {
  IntrusivePtr<FunctionalStorage> storage;
  size_t lineage = 0;
};

// As set_: the tensor becomes a view of that memory, or, without one, of a fresh one, which may not
// have any element. NotImplementedError otherwise.
void move_to_storage(const FunctionalizeContext& context, const OperatorHandle& op,
                     FunctionalTensorImpl& self, const MemoryShape& layout,
                     std::optional<PlaceInStorage> place);

// As detach_. As autograd's bases, the memory has no history from now on for the tensor and all
// that are views of it, which see that when they are made again. NotImplementedError where there
// are such and a gradient is recorded.
void detach_in_place(const FunctionalizeContext& context, const OperatorHandle& op,
                     FunctionalTensorImpl& self, bool records_gradient);

// As resize_. NotImplementedError where memory grows that other tensors have, too, or that the
// tensor does not fill.
void resize_in_place(const FunctionalizeContext& context, const OperatorHandle& op,
                     const Tensor& self, const MemoryShape& layout);

// Whether the tensor needs a larger storage for that shape; asked.
bool grows(const FunctionalTensorImpl& self, const MemoryShape& layout);
void check_can_grow(const OperatorHandle& op, const FunctionalTensorImpl& self,
                    const MemoryShape& layout);
// The memory of the tensor, as it is, in another shape.
Tensor viewed_as(FunctionalTensorImpl& self, const MemoryShape& layout);

}  // namespace sb::internal

#endif  // SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_PLACE_H_
