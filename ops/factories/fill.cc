#include "switchboard/ops/factories/fill.h"

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"

namespace sb {
namespace {

Tensor fill_cpu(const Tensor& self, const Scalar& value) {
  alignas(16) char element[16];
  store_scalar(value, self.dtype(), element);
  if (self.numel() == 0) return self;
  if (self.impl()->is_non_overlapping_and_dense()) {
    const int64_t itemsize = static_cast<int64_t>(self.itemsize());
    cast_function(self.dtype(), self.dtype())(static_cast<char*>(self.data_ptr()), itemsize,
                                              element, 0, self.numel());
    return self;
  }
  Tensor number = empty_on(DeviceType::CPU, {}, self.dtype());
  store_scalar(value, self.dtype(), number.data_ptr());
  copy_elements(self, number, /*check_overlap=*/false);
  return self;
}

Tensor fill_meta(const Tensor& self, const Scalar& value) {
  check_scalar_fits(value, self.dtype());
  return self;
}

void check_value(const Tensor& value) {
  SB_CHECK(value.defined(), "fill_: argument value: expected a tensor, got an undefined one");
  SB_CHECK(value.dim() == 0, "fill_: argument value: expected a 0-dim tensor, got one with ",
           value.dim(), " dimensions");
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, fill_).cpu(fill_cpu).meta(fill_meta);

  define(m, fill__Tensor)
      .cpu([](const Tensor& self, const Tensor& value) {
        check_defined("fill_", self);
        check_value(value);
        check_no_internal_overlap(self);
        return fill_cpu(self, load_scalar(value.dtype(), value.data_ptr()));
      })
      .meta([](const Tensor& self, const Tensor& value) {
        check_defined("fill_", self);
        check_value(value);
        SB_CHECK(self.is_meta(), "fill_: argument value: ", value.describe(),
                 " has no data to give ", self.describe());
        return self;
      });

  define(m, zero_)
      .cpu([](const Tensor& self) { return fill_cpu(self, 0); })
      .meta([](const Tensor& self) { return self; });
}

}  // namespace
}  // namespace sb
