// What a program would need on a device that is not here.

#include <iostream>

#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/tools/plan/plan_report.h"
#include "switchboard/tools/plan/planner.h"

using sb::Tensor;

int main() {
  // doc: begin
  const sb::FakeTensorMode fake;
  sb::FakeTensorModeGuard active(fake);
  sb::plan::Planner planner;
  const auto make = [&](const char* name, std::vector<int64_t> sizes) {
    const Tensor tensor = sb::empty(sizes, sb::DType::Float16, std::nullopt, sb::Device("cuda:0"));
    planner.add_input(tensor, name);
    return tensor;
  };
  const Tensor x = make("x", {512, 4096}), up = make("up", {11008, 4096}),
               down = make("down", {4096, 11008});
  Tensor y;
  {
    sb::ModeGuard planning(&planner);
    y = sb::linear(sb::relu(sb::linear(x, up)), down);
  }
  const sb::plan::PlanReport report(planner.finish());
  std::cout << report.calls_text() << "\n" << report.summary_text();
  // doc: end
}
