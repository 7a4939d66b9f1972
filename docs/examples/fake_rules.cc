// A rule for one operator, and one that declines.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/fake/fake_rule.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"

using sb::Tensor;

// doc: begin
SB_OP(draw, "demo::draw(Tensor weights, int n) -> Tensor");

bool draw_rule(sb::FakeCall& call) {
  const Tensor weights = call.tensor("weights");
  if (weights.dim() != 1) return false;  // declines
  const int64_t n = call.argument("n").to_int();
  call.give({call.empty({n}, sb::DType::Int64, weights.device())});
  return true;
}
// doc: end

int main() {
  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "demo");
  library.define(draw);
  sb::FakeTensorMode fake;
  const Tensor weights = fake.from_tensor(sb::ones({100}), sb::Device("cuda:0"));
  const Tensor table = fake.from_tensor(sb::ones({100, 2}), sb::Device("cuda:0"));
  {
    const sb::RegistrationHandle rule = sb::register_fake_rule("demo::draw", draw_rule);
    std::cout << draw(weights, 5).describe() << "\n";
    try {
      draw(table, 5);
    } catch (const sb::UnsupportedOperatorError& error) {
      std::cout << error.what() << "\n";
    }
  }
  // doc: end
}
