// The derivatives of conjugate.h. conj, resolve_conj, resolve_neg, real and imag are made of these.

#include "switchboard/ops/lazy_bits/conjugate.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"

namespace sb {
namespace {

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, _conj, SB_GRAD(self, (grad), conj(grad)));
  derive(m, _conj_physical, SB_GRAD(self, (grad), conj_physical(grad)));
  derive(m, conj_physical_, SB_GRAD(self, (grad), conj_physical(grad)));
  derive(m, _neg_view, SB_GRAD(self, (grad), neg(grad)));
  derive(m, view_as_real, SB_GRAD(self, (grad), view_as_complex(contiguous(grad))));
  derive(m, view_as_complex, SB_GRAD(self, (grad), view_as_real(contiguous(resolve_conj(grad)))));
}

}  // namespace
}  // namespace sb
