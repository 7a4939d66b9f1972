// Ranks that would part, found before they run.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/distributed/check/check_ranks.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/factories/factories.h"

using sb::Tensor;

int main() {
  // doc: begin
  const auto program = [](bool right) {
    return [right] {
      const Tensor x = sb::all_reduce(sb::ones({1000, 1000}), "sum");
      if (right || sb::get_rank() != 2) sb::all_gather_tensor(x, 0);
    };
  };
  std::cout << sb::check_ranks(4, program(true)) << " calls agree\n";
  try {
    sb::check_ranks(4, program(false));
  } catch (const sb::Error& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
