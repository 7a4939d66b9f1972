// Ranks that part, and one that waits for nobody.

#include <functional>
#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/one_process/run_ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/factories/factories.h"

using sb::Tensor;

namespace {

void print_error(const std::function<void()>& program) {
  try {
    sb::run_ranks(3, program);
  } catch (const sb::Error& error) {
    std::cout << error.what() << "\n\n";
  }
}

}  // namespace

int main() {
  // doc: begin
  print_error([] {
    const Tensor x = sb::ones({sb::get_rank() == 1 ? 3 : 2});
    sb::all_reduce(x, "sum");
  });
  print_error([] {
    if (sb::get_rank() == 0) sb::barrier();
  });
  print_error([] { sb::reduce_scatter_tensor(sb::ones({4}), "sum", 0); });
  // doc: end
}
