#include "switchboard/ops/lazy_bits/conjugate.h"

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/values/tensor_conversions.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
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
  for (size_t d = 0; d < strides.size(); ++d) {
    // The stride of a dimension of size 1 is no step.
    SB_CHECK(known(sizes[d] == 1) || strides[d] % 2 == 0,
             "view_as_complex: expected even strides but for the last, got ",
             shape_text(self.sym_strides()));
    strides[d] /= 2;
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
  take_numbers_for_tensors({"aten::_conj"});
  define(m, conj).composed(conj_any);
  define(m, _conj).view(conj_view);
  define(m, conj_physical, Tag::maybe_aliasing_or_mutating).composed(conj_physical_any);
  define(m, conj_physical_).composite_explicit(conj_physical_in_place);
  define(m, _conj_physical).composite_explicit(conj_physical_new).out("out");
  define(m, _neg_view).view([](const Tensor& self) {
    check_defined("_neg_view", self);
    // PyTorch gives a view that no operator can read.
    SB_CHECK_NOT_IMPLEMENTED(self.dtype() != DType::Bool, "_neg_view: expected numbers, got ",
                             self.describe(), "; logical_not() negates a bool tensor");
    return with_bit_turned("_neg_view", self, DispatchKey::Negative);
  });
  define(m, resolve_conj).composed([](const Tensor& self) {
    return resolve("resolve_conj", self, DispatchKey::Conjugate);
  });
  define(m, resolve_neg).composed([](const Tensor& self) {
    return resolve("resolve_neg", self, DispatchKey::Negative);
  });
  define(m, real).composed(real_kernel);
  define(m, imag).composed(imag_kernel);
  define(m, view_as_real).view(view_as_real_kernel);
  define(m, view_as_complex).view(view_as_complex_kernel);
}

}  // namespace sb
