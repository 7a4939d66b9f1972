#include "switchboard/ops/composite/combinatorics.h"

#include <vector>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/composite/shape.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/indexing/flip.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/sorting/cumulative.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

void check_vector(const char* op, const Tensor& self) {
  check_defined(op, self);
  SB_CHECK(self.dim() == 1, op, ": expected a vector, got ", self.describe());
}

// The grid of all choices, of which those count whose places in self ascend.
Tensor combinations_kernel(const Tensor& self, int64_t r, bool with_replacement) {
  check_vector("combinations", self);
  SB_CHECK(r >= 0, "combinations: expected r to be 0 or more, got ", r);
  if (r == 0) return new_empty(self, {0});
  SB_CHECK(r <= static_cast<int64_t>(kMaxDimSet), "combinations: expected r to be at most ",
           kMaxDimSet, ", got ", r);
  const size_t n = static_cast<size_t>(r);
  const Tensor places = arange(self.sym_numel(), DType::Int64, std::nullopt, self.device());
  const std::vector<Tensor> place = meshgrid(std::vector<Tensor>(n, places));
  std::vector<Tensor> columns = meshgrid(std::vector<Tensor>(n, self));
  Tensor counts = full(columns[0].sym_sizes(), true, DType::Bool, std::nullopt, self.device());
  for (size_t i = 0; i + 1 < n; ++i) {
    counts = logical_and(
        counts, with_replacement ? le(place[i], place[i + 1]) : lt(place[i], place[i + 1]));
  }
  for (Tensor& column : columns) column = masked_select(column, counts);
  return stack(columns, 1);
}

Tensor vander_kernel(const Tensor& x, std::optional<int64_t> columns, bool increasing) {
  check_vector("vander", x);
  const SymInt n = columns ? SymInt(*columns) : x.sym_numel();
  SB_CHECK(n >= 0, "vander: expected N to be 0 or more, got ", n.to_string());
  const Tensor result = new_empty(x, {x.sym_numel(), n}, promote_types(x.dtype(), DType::Int64));
  if (n > 0) fill_(select(result, 1, 0), 1);
  if (n > 1) {
    const Tensor powers = slice(result, 1, 1);
    copy_(powers, unsqueeze(x, 1));
    copy_(powers, cumprod(clone(powers), 1));  // whose gradient needs what it was given
  }
  return increasing ? result : flip(result, {1});
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, combinations).composed(combinations_kernel);
  define(m, vander).composed(vander_kernel);
}

}  // namespace sb
