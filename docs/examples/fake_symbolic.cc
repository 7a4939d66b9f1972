// Sizes that are symbols, what a program relied on, and for which other sizes it is right.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/core/symbols/sym_node.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/cat.h"

using sb::Tensor;

// doc: begin
Tensor layer(const Tensor& x, const Tensor& w) {
  SB_CHECK(x.sym_size(0) % 2 == 0, "layer: expected an even number of rows");
  const Tensor y = sb::mm(x, w);
  const sb::SymReason reason("layer: is it narrow?");
  if (guard_bool(y.sym_size(1) < 64)) return sb::cat({y, y}, 1);
  return y;
}
// doc: end

int main() {
  // doc: begin
  const auto env = sb::ShapeEnv::create();
  sb::FakeTensorMode fake({.shape_env = env});
  const Tensor x = fake.from_tensor(sb::ones({6, 10}), {.source = "x"});
  const Tensor w = fake.from_tensor(sb::ones({10, 4}), {.source = "w"});
  std::cout << layer(x, w).describe() << "\n";
  for (const std::string& line : env->produce_guards()) std::cout << line << "\n";
  // doc: end

  // doc: begin
  for (const auto& [rows, columns] : {std::pair(8, 20), {8, 80}, {7, 20}}) {
    const sb::GuardsResult result =
        env->evaluate_guards({{"x.size(0)", rows}, {"x.size(1)", 30}, {"w.size(1)", columns}});
    std::cout << rows << " x 30 x " << columns << ": " << (result ? "the same" : result.failed)
              << "\n";
  }
  // doc: end
}
