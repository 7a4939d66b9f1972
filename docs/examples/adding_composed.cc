// An operator that is composed of others.

#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"

namespace demo {

// The root of the mean square.
SB_OP(rms, "demo::rms(Tensor self) -> Tensor");

SB_LIBRARY(demo, m) {
  // doc: begin
  define(m, rms)
      .composed([](const sb::Tensor& self) { return sb::sqrt(sb::mean_all(self * self)); })
      .out("out", sb::kCopiedOut);
  // doc: end
}

}  // namespace demo

int main() { SB_CHECK(sb::item(demo::rms(sb::ones({4}) * 3)).to<double>() == 3, "rms"); }
