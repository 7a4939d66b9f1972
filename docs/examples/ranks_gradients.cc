// A layer whose rows are spread over ranks, and its gradients.

#include <iostream>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/one_process/run_ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

using sb::Tensor;

int main() {
  // doc: begin
  // y = x w, where each rank has two columns of x and two rows of w: the products are added.
  sb::run_ranks(2, [] {
    const Tensor x = sb::view(sb::arange(8, sb::DType::Float32), {2, 4});
    const Tensor columns = sb::narrow(x, 1, 2 * sb::get_rank(), 2);
    const Tensor rows = sb::ones({2, 1});
    sb::set_requires_grad(rows);
    const Tensor y = sb::all_reduce(sb::matmul(columns, rows), "sum");
    sb::backward(sb::div_Scalar(sb::sum(y), sb::get_world_size()));
    if (sb::get_rank() == 1) std::cout << y << "\n" << sb::grad_of(rows) << "\n";
  });
  // doc: end
}
