// The same random numbers twice.

#include <iostream>

#include "switchboard/core/generator.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/transforms/higher_order/rng_state.h"

using sb::Tensor;

int main() {
  // doc: begin
  const auto draw = [] { std::cout << sb::rand_like(sb::ones({2})) << "\n"; };
  sb::default_cpu_generator()->set_seed(1);
  draw();
  draw();

  sb::default_cpu_generator()->set_seed(1);
  const auto [state, drawn] = sb::run_and_save_rng_state("aten::rand_like", {sb::ones({2})});
  std::cout << "saved: " << drawn[0] << "\n";
  std::cout << "again: " << sb::run_with_rng_state(state, "aten::rand_like", {sb::ones({2})})[0]
            << "\n";
  draw();  // the generator goes on where the first call left it
  // doc: end
}
