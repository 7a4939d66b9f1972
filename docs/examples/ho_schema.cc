// What one call of a higher-order operator writes to.

#include <iostream>

#include "switchboard/dispatch/schema/function_schema.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/gen_schema.h"

using sb::Tensor;

int main() {
  // doc: begin
  const auto reads = [](const Tensor& x, const Tensor& y) { return x + y; };
  const auto writes = [](const Tensor& x, const Tensor& y) { return sb::add_(y, x) * 2; };
  const std::vector<Tensor> operands{sb::ones({2}), sb::ones({2})};
  const sb::FunctionSchema schema = sb::gen_schema(
      sb::cond_op(),
      {true, sb::tensor_callable("reads", reads), sb::tensor_callable("writes", writes), operands});
  std::cout << schema.to_string() << "\n";
  // doc: end
}
