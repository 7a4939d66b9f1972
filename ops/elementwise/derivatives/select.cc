// The derivatives of select.h: what was not chosen has no gradient.

#include "switchboard/ops/elementwise/select.h"

#include "switchboard/autograd/derivatives.h"

namespace sb {
namespace {

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, where, SB_GRAD(self, (grad, condition), where_ScalarOther(condition, grad, 0)),
         SB_GRAD(other, (grad, condition), where_ScalarSelf(condition, 0, grad)));

  const auto derive_fill = [&](const auto& op) {
    derive(m, op, SB_GRAD(self, (grad, mask), where_ScalarSelf(mask, 0, grad)));
  };
  derive_fill(masked_fill);
  derive_fill(masked_fill_);
  const auto derive_fill_by_tensor = [&](const auto& op) {
    derive(m, op, SB_GRAD(self, (grad, mask), where_ScalarSelf(mask, 0, grad)),
           SB_GRAD(value, (grad, mask), where_ScalarOther(mask, grad, 0)));
  };
  derive_fill_by_tensor(masked_fill_Tensor);
  derive_fill_by_tensor(masked_fill__Tensor);
}

}  // namespace
}  // namespace sb
