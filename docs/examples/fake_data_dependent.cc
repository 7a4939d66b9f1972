// Sizes and numbers that only the data tells.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/objects/op_namespace.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/views/views.h"

using sb::Tensor;

int main() {
  // doc: begin
  const auto env = sb::ShapeEnv::create();
  sb::FakeTensorMode fake({.shape_env = env, .static_shapes = true});
  const Tensor x = fake.from_tensor(sb::ones({9}));
  const Tensor rows = sb::select(sb::nonzero(x), 1, 0);
  std::cout << (rows + rows).describe() << ", u0 in " << to_string(env->symbol("u0")->range)
            << "\n";
  try {
    if (guard_bool(rows.sym_size(0) == 4)) std::cout << "four\n";
  } catch (const sb::GuardOnDataDependentError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end

  // doc: begin
  const Tensor count = fake.from_tensor(sb::full({}, 4, sb::DType::Int64));
  const sb::SymInt n = sb::ops["aten"]["item"](count)[0].to_sym_int();
  check(rows.sym_size(0) == n, "as many as expected");
  std::cout << guard_bool(rows.sym_size(0) == n) << ", " << n.to_string() << "\n";
  // doc: end

  // doc: begin
  for (const sb::RuntimeAssert& a : env->runtime_asserts()) std::cout << a.text << "\n";
  env->bind_unbacked("u0", 3);
  try {
    env->bind_unbacked("u1", 4);
  } catch (const sb::RuntimeError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
