#include "switchboard/ops/elementwise/select.h"

#include <algorithm>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/select_kernels.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

Tensor as_bool(const Tensor& condition) {
  return condition.dtype() == DType::Bool ? condition : to_dtype(condition, DType::Bool);
}

// Runs on operands whose dtypes are checked.
Tensor select_elements(std::string_view op, IteratorFlags flags, const Tensor& out,
                       const Tensor& condition, const Tensor& yes, const Tensor& no) {
  const Tensor* const inputs[] = {&condition, &yes, &no};
  TensorIterator iterator(op, flags, out, inputs);
  Tensor result = iterator.allocate_output(yes.dtype());
  // What is computed in float32 is moved in it.
  const DType moved = compute_dtype(yes.dtype());
  if (!iterator.device().is_meta()) {
    iterator.run((*select_kernel).of_size(itemsize(moved)), moved, moved, nullptr);
  }
  return result;
}

Tensor where_body(const Tensor& out, const Tensor& condition, const Tensor& self,
                  const Tensor& other) {
  check_defined("where", condition);
  check_defined("where", self);
  check_defined("where", other);
  SB_CHECK(condition.dtype() == DType::Bool || condition.dtype() == DType::UInt8,
           "where: argument condition: expected bool, got ", to_string(condition.dtype()));
  const DType dtype = result_type({&self, &other});
  SB_CHECK(!out.defined() || out.dtype() == dtype, "where: argument out: expected ",
           to_string(dtype), ", got ", to_string(out.dtype()));
  return select_elements("where", 0, out, as_bool(condition),
                         self.dtype() == dtype ? self : to_dtype(self, dtype),
                         other.dtype() == dtype ? other : to_dtype(other, dtype));
}

// Writes `number`, 0-dim and of self's dtype.
Tensor fill_where(const Tensor& self, const Tensor& mask, const Tensor& number) {
  SB_CHECK(mask.dtype() == DType::Bool, "masked_fill_: argument mask: expected bool, got ",
           to_string(mask.dtype()));
  return select_elements("masked_fill_", kFixedOutput, self, mask, number, self);
}

Tensor masked_fill_number_(const Tensor& self, const Tensor& mask, const Scalar& value) {
  check_defined("masked_fill_", self);
  check_defined("masked_fill_", mask);
  check_scalar_fits(value, self.dtype());
  const Tensor number = empty_on(self.device(), {}, self.dtype());
  if (self.is_cpu()) store_scalar(value, self.dtype(), number.data_ptr());
  return fill_where(self, mask, number);
}

void check_value(const Tensor& value) {
  check_defined("masked_fill", value);
  SB_CHECK(value.dim() == 0, "masked_fill: argument value: expected a 0-dim tensor, got one with ",
           value.dim(), " dimensions");
}

Tensor masked_fill_tensor_(const Tensor& self, const Tensor& mask, const Tensor& value) {
  check_defined("masked_fill_", self);
  check_defined("masked_fill_", mask);
  check_value(value);
  if (self.is_cpu()) return masked_fill_number_(self, mask, item(value));
  // Whether the value fits is not known.
  return fill_where(self, mask, empty_on(self.device(), {}, self.dtype()));
}

template <auto& inplace, class Value>
Tensor masked_fill_body(const Tensor& self, const Tensor& mask, const Value& value) {
  check_defined("masked_fill", self);
  check_defined("masked_fill", mask);
  if constexpr (std::is_same_v<Value, Tensor>) check_value(value);
  const Tensor all = by_size(any_symbolic(mask, self), [&]<class Int>() {
    const auto shape = broadcast_sizes<Int>(sizes_of<Int>(mask), sizes_of<Int>(self));
    return expand(self, SizesRef<Int>(shape));
  });
  const Tensor result = clone(all, MemoryFormat::Contiguous);
  inplace(result, mask, value);
  return result;
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, where, Tag::pointwise);
  define(m, where_out, Tag::pointwise);
  define(m, masked_fill_, Tag::pointwise);
  define(m, masked_fill__Tensor, Tag::pointwise);
  for (DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta}) {
    m.impl(where, key, [](const Tensor& condition, const Tensor& self, const Tensor& other) {
      return where_body(Tensor(), condition, self, other);
    });
    m.impl(where_out, key,
           [](const Tensor& condition, const Tensor& self, const Tensor& other, const Tensor& out) {
             return where_body(out, condition, self, other);
           });
    m.impl(masked_fill_, key, masked_fill_number_);
    m.impl(masked_fill__Tensor, key, masked_fill_tensor_);
  }

  define(m, where_ScalarSelf)
      .composed([](const Tensor& condition, const Scalar& self, const Tensor& other) {
        return where(condition, wrapped_scalar_tensor(self, condition), other);
      });
  define(m, where_ScalarOther)
      .composed([](const Tensor& condition, const Tensor& self, const Scalar& other) {
        return where(condition, self, wrapped_scalar_tensor(other, condition));
      });
  define(m, where_Scalar)
      .composed([](const Tensor& condition, const Scalar& self, const Scalar& other) {
        return where(condition, wrapped_scalar_tensor(self, condition),
                     wrapped_scalar_tensor(other, condition));
      });

  define(m, masked_fill, Tag::pointwise)
      .composite_explicit(masked_fill_body<masked_fill_, Scalar>)
      .out("Scalar_out");
  define(m, masked_fill_Tensor, Tag::pointwise)
      .composite_explicit(masked_fill_body<masked_fill__Tensor, Tensor>)
      .out("Tensor_out");
}

}  // namespace
}  // namespace sb
