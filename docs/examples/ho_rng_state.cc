// The same random numbers twice.

#include <iostream>

#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/transforms/higher_order/rng_state.h"

using sb::Tensor;

int main() {
  // doc: begin
  const Tensor p = sb::full({100}, 0.5);
  const auto [state, drawn] = sb::run_and_save_rng_state("aten::bernoulli", {p});
  const Tensor again = sb::run_with_rng_state(state, "aten::bernoulli", {p})[0];
  std::cout << std::boolalpha
            << (sb::item(sb::sum(drawn[0])).to<double>() == sb::item(sb::sum(again)).to<double>())
            << "\n";
  // doc: end
}
