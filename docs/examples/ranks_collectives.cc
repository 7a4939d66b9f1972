// A program on four ranks, which are threads.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/distributed/device_mesh.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/one_process/run_ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/factories/factories.h"

using sb::Tensor;

int main() {
  // doc: begin
  sb::run_ranks(4, [] {
    const Tensor mine = sb::full({2}, sb::get_rank());
    const Tensor sum = sb::all_reduce(mine, "sum");
    const Tensor all = sb::all_gather_tensor(mine, 0);

    const sb::DeviceMesh mesh({{"data", 2}, {"tensor", 2}});
    const Tensor pair = sb::all_gather_tensor(mine, 0, mesh.group("tensor"));
    if (sb::get_rank() == 3) std::cout << sum << "\n" << all << "\n" << pair << "\n";
  });
  // doc: end
}
