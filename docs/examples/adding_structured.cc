// A structured operator: a shape rule and a kernel.

#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"

namespace demo {

// Each element `times` times, as numpy.repeat.
SB_OP(stretch, "demo::stretch(Tensor self, int times) -> Tensor");
SB_OP(stretch_out, out_of(stretch, "out"));

// doc: begin
sb::TensorMeta stretch_rule(const sb::Tensor& self, int64_t times) {
  SB_CHECK(self.dim() == 1, "stretch: argument self: expected 1 dimension, got ", self.dim());
  SB_CHECK(times >= 0, "stretch: argument times: expected 0 or more, got ", times);
  return {{self.size(0) * times}, self.dtype()};
}
// doc: end
void stretch_kernel(const sb::Tensor& self, int64_t times, const sb::Tensor& out) {
  const sb::Tensor by_element = sb::alias_with(out, {self.size(0), times}, {times, 1}, 0);
  sb::copy_elements(by_element, sb::alias_with(self, {self.size(0), times}, {self.stride(0), 0},
                                               self.storage_offset()));
}
SB_LIBRARY(demo, m) {
  // doc: begin
  define(m, stretch).structured<stretch_rule, stretch_kernel>().out(stretch_out);
  // doc: end
}

}  // namespace demo

int main() {
  const sb::Tensor x = sb::arange(3);
  SB_CHECK(sb::equal(demo::stretch(x, 2), sb::to_dtype(sb::arange(6) / 2, x.dtype())), "stretch");
  demo::stretch_out(x, 2, x);
  SB_CHECK(x.numel() == 6 && demo::stretch(sb::ones({3}, sb::Device("meta")), 2).numel() == 6,
           "an out that is an input, and meta");
}
