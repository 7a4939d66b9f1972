// A result whose size only the data tells.

#include <algorithm>
#include <cstdint>
#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"

using sb::Tensor;

// doc: begin
// The elements above a bound.
Tensor above_cpu(const Tensor& x, double bound) {
  const Tensor dense = sb::contiguous(x);
  const float* const begin = dense.data<float>();
  const float* const end = begin + dense.numel();
  const auto is_above = [bound](float v) { return v > bound; };
  const Tensor y = sb::empty({std::count_if(begin, end, is_above)});
  std::copy_if(begin, end, y.data<float>(), is_above);
  return y;
}
// doc: end

int main() {
  // doc: begin
  const sb::CustomOp above =
      sb::custom_op("demo::above", "(Tensor x, float bound) -> Tensor", above_cpu)
          .register_fake([](const Tensor& x, double) {
            const sb::SymInt n = sb::fake_context().new_dynamic_size();
            return sb::empty({n}, x.dtype(), std::nullopt, x.device());
          });
  const Tensor x = sb::arange(5, sb::DType::Float32);
  std::cout << above(x, 1.5) << "\n";

  sb::FakeTensorMode symbolic({.shape_env = sb::ShapeEnv::create()});
  std::cout << above(symbolic.from_tensor(x), 1.5).describe() << "\n";
  try {
    sb::FakeTensorMode numbers;
    above(numbers.from_tensor(x), 1.5);
  } catch (const sb::DynamicOutputShapeError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
