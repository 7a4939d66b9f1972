// The checks of operators on a device whose memory the CPU cannot read.

#include "catch2/catch.hpp"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/custom_ops/opcheck/opcheck.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

Tensor x(DType dtype) {
  return tensor_with({2, 3}, dtype, {0.1, -0.2, 0.3, 0.4, 0.5, -0.6}, Device("dummy"));
}

TEST_CASE("gradients are checked on dummy") {
  const DifferentiableFunction f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{mm(in[0], transpose(sin(in[0]), 0, 1))};
  };
  gradcheck(f, {requiring_grad(x(DType::Float64))});
  gradgradcheck(f, {requiring_grad(x(DType::Float64))});
  const DifferentiableFunction wrong = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{add(in[0], detach(in[0]))};
  };
  CHECK_THROWS_WITH(gradcheck(wrong, {requiring_grad(x(DType::Float64))}),
                    "gradcheck: 6 of 36 derivatives are not those of finite differences; worst: "
                    "output 0, element [0, 0], by input 0, element [0, 0]: analytic 1, numeric 2");
}

TEST_CASE("operators are checked on dummy, and with variations of their arguments") {
  opcheck("aten::sin", {requiring_grad(x(DType::Float32))});
  opcheck("aten::add_.Tensor",
          {transpose(x(DType::Float32), 0, 1), transpose(x(DType::Float32), 0, 1)});
  opcheck_variations("aten::add.Tensor", {requiring_grad(x(DType::Float32)), x(DType::Float32)}, {},
                     {.count = 60});
}

}  // namespace
}  // namespace sb
