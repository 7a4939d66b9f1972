#include "switchboard/ops/copying/item.h"

#include <algorithm>

#include "switchboard/core/dtype_types.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/values/tensor_conversions.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Boxed, as what stands for the number in a fake mode is no Scalar.
void item_kernel(const OperatorHandle&, DispatchKeySet, Stack* stack) {
  const Tensor& self = stack->back().to_tensor();
  check_defined("item", self);
  SB_CHECK(self.sym_numel() == 1, "item: expected a tensor of one element, got ", self.describe());
  _local_scalar_dense.handle().call_boxed(stack);
}

Scalar local_scalar_dense_kernel(const Tensor& self) {
  check_defined("_local_scalar_dense", self);
  SB_CHECK(self.numel() > 0, "_local_scalar_dense: ", self.describe(), " has no element");
  return load_scalar(self.dtype(), self.data_ptr());
}

bool equal_kernel(const Tensor& self, const Tensor& other) {
  check_defined("equal: self", self);
  check_defined("equal: other", other);
  SB_CHECK(self.device() == other.device(), "equal: expected tensors on one device, got ",
           self.describe(), " and ", other.describe());
  if (self.sizes() != other.sizes()) return false;
  if (self.numel() == 0) return true;
  const DType dtype = promote_types(self.dtype(), other.dtype());
  const auto as_array = [&](const Tensor& t) {
    return t.dtype() == dtype && t.is_contiguous() ? t : cast_copy(t, dtype);
  };
  const Tensor a = as_array(self);
  const Tensor b = as_array(other);
  return visit_dtype(dtype, [&]<class T>() {
    return std::equal(a.data<T>(), a.data<T>() + a.numel(), b.data<T>());
  });
}

// At Meta: there is nothing to look at.
Scalar local_scalar_dense_meta(const Tensor&) {
  SB_THROW(DataDependentOutputError,
           "_local_scalar_dense: the result depends on the data, which a ",
           "meta tensor does not have");
}
bool equal_meta(const Tensor&, const Tensor&) {
  SB_THROW(DataDependentOutputError, "equal: the result depends on the data, which meta tensors ",
           "do not have");
}

bool is_same_size_kernel(const Tensor& self, const Tensor& other) {
  check_defined("is_same_size: self", self);
  check_defined("is_same_size: other", other);
  return std::ranges::equal(self.sym_sizes(), other.sym_sizes(),
                            [](const SymInt& a, const SymInt& b) { return guard_bool(a == b); });
}

}  // namespace

std::vector<IValue> to_list(const Tensor& self) {
  check_defined("to_list", self);
  SB_CHECK(self.dim() == 1, "to_list: expected a tensor of one dimension, got ", self.describe());
  std::vector<IValue> elements;
  for (const Tensor& element : unbind(self)) elements.push_back(item.handle().call({element})[0]);
  return elements;
}

SB_LIBRARY_FRAGMENT(aten, m) {
  // Where a call by values gives a tensor for a number or for a list, or a number for a tensor.
  set_tensor_conversions({
      .item = [](const Tensor& t) { return item.handle().call({t})[0]; },
      .rows = [](const Tensor& t) { return unbind(t); },
      .wrap = [](const Scalar& number) { return wrapped_scalar_tensor(number); },
  });
  define(m, item, Tag::data_dependent_output);
  m.impl("item", DispatchKey::CompositeImplicitAutograd, item_kernel);
  define(m, _local_scalar_dense, Tag::data_dependent_output)
      .meta(local_scalar_dense_meta)
      .cpu(local_scalar_dense_kernel);
  define(m, equal, Tag::data_dependent_output).meta(equal_meta).cpu(equal_kernel);
  define(m, is_same_size).composite_explicit(is_same_size_kernel);
}

}  // namespace sb
