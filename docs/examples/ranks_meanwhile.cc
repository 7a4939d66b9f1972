// A rank that computes while a collective waits for the others.

#include <iostream>
#include <latch>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/one_process/run_ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"

using sb::Tensor;

int main() {
  // doc: begin
  std::latch computed(1);
  sb::run_ranks(2, [&] {
    if (sb::get_rank() == 1) computed.wait();  // comes late
    const Tensor sum = sb::all_reduce(sb::ones({1000, 1000}), "sum");
    if (sb::get_rank() == 1) return;
    std::cout << "rank 0 goes on\n";
    const Tensor product = sb::matmul(sb::ones({2, 3}), sb::ones({3, 2}));
    computed.count_down();
    std::cout << product << "\n" << sb::narrow(sb::select(sum, 0, 0), 0, 0, 3) << "\n";
  });
  // doc: end
}
