// A run that goes on where a plain fake run would stop, and tells what to mend.

#include <iostream>

#include "switchboard/dispatch/library.h"
#include "switchboard/fake/draft_run.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/views/views.h"

using sb::Tensor;

SB_OP(halves, "demo::halves(Tensor x) -> Tensor");

// doc: begin
Tensor program(const Tensor& x) {
  const Tensor rows = sb::select(sb::nonzero(x), 1, 0);
  const Tensor pairs = guard_bool(rows.sym_size(0) % 2 == 0) ? halves(rows) : rows;
  return sb::ones({x.size(0)}) * sb::ones({1}) + sb::slice(pairs, 0, 0, 1);
}
// doc: end

int main() {
  sb::Library library(sb::Library::Kind::Def, "demo");
  library.define(halves);
  library.impl(halves, sb::DispatchKey::CPU,
               [](const Tensor& x) { return sb::slice(x, 0, 0, x.size(0) / 2) * 1; });
  // doc: begin
  sb::DraftRun draft;
  const Tensor x = draft.from_tensor(sb::ones({6}), {.source = "x"});
  {
    const sb::FakeTensorModeGuard active(draft.mode());
    std::cout << program(x).describe() << "\n";
  }
  std::cout << draft.report();
  // doc: end
}
