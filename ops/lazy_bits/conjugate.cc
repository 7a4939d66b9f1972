#include "switchboard/ops/lazy_bits/conjugate.h"

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/out_form.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

Tensor with_bit_turned(const char* op, const Tensor& self, DispatchKey bit) {
  check_defined(op, self);
  Tensor view = by_size(any_symbolic(self), [&]<class Int>() {
    return alias_of_shape(self, sizes_of<Int>(self), strides_of<Int>(self),
                          storage_offset_of<Int>(self));
  });
  const DispatchKeySet keys = view.key_set();
  view.impl()->set_key_set(keys.has(bit) ? keys - bit : keys | bit);
  return view;
}

Tensor conj_view(const Tensor& self) {
  check_defined("_conj", self);
  SB_CHECK(is_complex(self.dtype()), "_conj: expected a complex tensor, got ", self.describe());
  return with_bit_turned("_conj", self, DispatchKey::Conjugate);
}

Tensor conj_any(const Tensor& self) {
  check_defined("conj", self);
  return is_complex(self.dtype()) ? _conj(self) : self;
}

Tensor conj_physical_new(const Tensor& self) {
  check_defined("_conj_physical", self);
  if (self.impl()->is_conj()) return clone(conj(self));
  return conj_physical_out(self, empty_like(self));
}
Tensor conj_physical_any(const Tensor& self) {
  check_defined("conj_physical", self);
  return is_complex(self.dtype()) ? _conj_physical(self) : self;
}
Tensor conj_physical_in_place(const Tensor& self) {
  check_defined("conj_physical_", self);
  return is_complex(self.dtype()) ? conj_physical_out(self, self) : self;
}

Tensor resolve(const char* op, const Tensor& self, DispatchKey bit) {
  check_defined(op, self);
  return self.key_set().has(bit) ? clone(self) : self;
}

// The memory of self as elements of another dtype.
Tensor seen_as(const Tensor& self, DType dtype, SymIntArrayRef sizes, SymIntArrayRef strides,
               const SymInt& offset) {
  Tensor view = alias_with_symbols(self, self.sym_sizes(), self.sym_strides(), offset);
  view.impl()->set_dtype(dtype);
  view.impl()->set_sym_sizes_and_strides(sizes, strides, offset);
  return view;
}

Tensor view_as_real_kernel(const Tensor& self) {
  check_defined("view_as_real", self);
  SB_CHECK(is_complex(self.dtype()), "view_as_real: expected a complex tensor, got ",
           self.describe());
  SB_CHECK(!self.impl()->is_conj(), "view_as_real: ", self.describe(),
           " has its conjugate bit set; resolve_conj copies");
  SymDimVector sizes(self.sym_sizes().begin(), self.sym_sizes().end());
  SymDimVector strides;
  for (const SymInt& stride : self.sym_strides()) strides.push_back(stride * 2);
  sizes.push_back(2);
  strides.push_back(1);
  return seen_as(self, to_real(self.dtype()), sizes, strides, self.sym_storage_offset() * 2);
}

Tensor view_as_complex_kernel(const Tensor& self) {
  check_defined("view_as_complex", self);
  SB_CHECK(self.dtype() == DType::Float32 || self.dtype() == DType::Float64,
           "view_as_complex: expected a float32 or float64 tensor, got ", self.describe());
  SB_CHECK(self.dim() > 0, "view_as_complex: expected the last dimension to have size 2, got ",
           self.describe());
  SB_CHECK(self.sym_size(-1) == 2, "view_as_complex: expected the last dimension to have size 2, ",
           "got ", self.describe());
  SB_CHECK(self.sym_stride(-1) == 1, "view_as_complex: expected the last dimension to have ",
           "stride 1, got strides ", shape_text(self.sym_strides()));
  SymDimVector sizes(self.sym_sizes().begin(), self.sym_sizes().end() - 1);
  SymDimVector strides(self.sym_strides().begin(), self.sym_strides().end() - 1);
  for (SymInt& stride : strides) {
    SB_CHECK(stride % 2 == 0, "view_as_complex: expected even strides but for the last, got ",
             shape_text(self.sym_strides()));
    stride /= 2;
  }
  const SymInt offset = self.sym_storage_offset();
  SB_CHECK(offset % 2 == 0, "view_as_complex: expected an even storage offset, got ",
           offset.to_string());
  return seen_as(self, to_complex(self.dtype()), sizes, strides, offset / 2);
}

Tensor real_kernel(const Tensor& self) {
  check_defined("real", self);
  if (!is_complex(self.dtype())) return self;
  return select(view_as_real(self.impl()->is_conj() ? _conj(self) : self), -1, 0);
}
Tensor imag_kernel(const Tensor& self) {
  check_defined("imag", self);
  SB_CHECK(is_complex(self.dtype()), "imag: expected a complex tensor, got ", self.describe());
  if (!self.impl()->is_conj()) return select(view_as_real(self), -1, 1);
  return _neg_view(select(view_as_real(_conj(self)), -1, 1));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  const auto explicit_key = DispatchKey::CompositeExplicitAutograd;
  const auto implicit_key = DispatchKey::CompositeImplicitAutograd;
  m.define(conj);
  m.impl(conj, implicit_key, conj_any);
  m.define(_conj);
  m.impl(_conj, explicit_key, conj_view);
  m.define(conj_physical);
  m.impl(conj_physical, implicit_key, conj_physical_any);
  m.define(conj_physical_);
  m.impl(conj_physical_, explicit_key, conj_physical_in_place);
  const OperatorHandle physical = m.define(_conj_physical);
  m.impl(_conj_physical, explicit_key, conj_physical_new);
  define_out_form(m, physical, "out");
  m.define(_neg_view);
  m.impl(_neg_view, explicit_key, [](const Tensor& self) {
    return with_bit_turned("_neg_view", self, DispatchKey::Negative);
  });
  m.define(resolve_conj);
  m.impl(resolve_conj, implicit_key,
         [](const Tensor& self) { return resolve("resolve_conj", self, DispatchKey::Conjugate); });
  m.define(resolve_neg);
  m.impl(resolve_neg, implicit_key,
         [](const Tensor& self) { return resolve("resolve_neg", self, DispatchKey::Negative); });
  m.define(real);
  m.impl(real, implicit_key, real_kernel);
  m.define(imag);
  m.impl(imag, implicit_key, imag_kernel);
  m.define(view_as_real);
  m.impl(view_as_real, explicit_key, view_as_real_kernel);
  m.define(view_as_complex);
  m.impl(view_as_complex, explicit_key, view_as_complex_kernel);
}

}  // namespace sb
