// An operator that gives a view of its argument.

#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/views/views.h"

namespace demo {

// Every second element.
SB_OP(evens, "demo::evens(Tensor(a) self) -> Tensor(a)");

SB_LIBRARY(demo, m) {
  // doc: begin
  define(m, evens)
      .view([](const sb::Tensor& self) { return sb::slice(self, 0, 0, std::nullopt, 2); })
      .view_copy();  // defines evens_copy
  // doc: end
}
SB_OP(evens_copy, "demo::evens_copy(Tensor self) -> Tensor");

}  // namespace demo

int main() {
  const sb::Tensor x = sb::arange(5);
  SB_CHECK(demo::evens(x).numel() == 3 && demo::evens(x).is_alias_of(x), "a view");
  SB_CHECK(!demo::evens_copy(x).is_alias_of(x), "a copy");
}
