// Derivatives of elements put elsewhere: reversed, rolled, padded, cut to a triangle. Each gradient
// is the way back.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/ops/indexing/flip.h"
#include "switchboard/ops/indexing/pad.h"
#include "switchboard/ops/indexing/repeat_interleave.h"
#include "switchboard/ops/indexing/triangles.h"
#include "switchboard/ops/shape/dims.h"

namespace sb {
namespace {

// Throws RuntimeError for the lowest number, which has no opposite.
SymDimVector opposites(SymIntArrayRef numbers) {
  SymDimVector negative;
  for (const SymInt& n : numbers) negative.push_back(-n);
  return negative;
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, flip, SB_GRAD(self, (grad, dims), flip(grad, dims)));
  derive(m, rot90, SB_GRAD(self, (grad, k, dims), rot90(grad, -(k % 4), dims)));
  derive(m, roll,
         SB_GRAD(self, (grad, shifts, dims), roll(grad, SymIntArrayRef(opposites(shifts)), dims)));
  derive(m, constant_pad_nd,
         SB_GRAD(self, (grad, pad), constant_pad_nd(grad, SymIntArrayRef(opposites(pad)))));
  derive(m, tril, SB_GRAD(self, (grad, diagonal), tril(grad, diagonal)));
  derive(m, triu, SB_GRAD(self, (grad, diagonal), triu(grad, diagonal)));
  not_differentiable(m, repeat_interleave_Tensor);
}

}  // namespace
}  // namespace sb
