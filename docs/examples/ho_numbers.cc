// Numbers that a loop carries, and that branches give.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/switch.h"
#include "switchboard/transforms/control_flow/while_loop.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  using Values = std::vector<sb::IValue>;
  const Values loop =
      sb::while_loop_values([](const Values& in) { return sb::IValue(in[0].to_sym_int() < 3); },
                            [](const Values& in) {
                              return Values{in[0].to_sym_int() + 1, in[1].to_tensor() * 2};
                            },
                            {0, sb::ones({2})});
  std::cout << loop[0].to_int() << " trips: " << loop[1].to_tensor() << "\n";

  const auto grow = [](const Tensors& in) { return Values{in[0] * 2, 2}; };
  const auto stay = [](const Tensors& in) { return Values{in[0] * 1, 1}; };
  const auto shrink = [](const Tensors& in) { return Values{in[0] / 2, 0}; };
  const Tensor x = sb::ones({2});
  const Values one = sb::cond_values(sb::full({}, true, sb::DType::Bool), grow, stay, {x});
  const Values other =
      sb::switch_values(sb::full({}, 2, sb::DType::Int64), {grow, stay, shrink}, {x});
  std::cout << one[1].to_int() << " and " << other[1].to_int() << "\n";

  sb::FakeTensorMode fake({.shape_env = sb::ShapeEnv::create()});
  const Tensor pred = fake.from_tensor(sb::full({}, true, sb::DType::Bool));
  const Values unknown = sb::cond_values(pred, grow, stay, {fake.from_tensor(x)});
  std::cout << unknown[1].to_sym_int().to_string() << "\n";
  // doc: end
}
