// An operator of our own, from its arithmetic to its gradient, in one object.

// doc: begin
#include <cmath>
#include <cstdint>
#include <iostream>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/custom_ops/opcheck/opcheck.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/reductions/reductions.h"

using sb::Tensor;

void check_squash(const Tensor& x, double scale) {
  SB_CHECK_TYPE(x.dtype() == sb::DType::Float32 || x.dtype() == sb::DType::Float64,
                "demo::squash: expected float32 or float64, got ", x.describe());
  SB_CHECK_VALUE(scale > 0, "demo::squash: expected a scale above 0, got ", scale);
}

template <class T>
void squash_elements(const Tensor& x, double scale, const Tensor& y) {
  const T* const from = x.data<T>();
  T* const to = y.data<T>();
  for (int64_t i = 0; i < x.numel(); ++i)
    to[i] = static_cast<T>(scale * std::tanh(from[i] / scale));
}

Tensor squash_cpu(const Tensor& x, double scale) {
  check_squash(x, scale);
  const Tensor dense = sb::contiguous(x);
  const Tensor y = sb::empty_like(dense);
  if (x.dtype() == sb::DType::Float64)
    squash_elements<double>(dense, scale, y);
  else
    squash_elements<float>(dense, scale, y);
  return y;
}

int main() {
  sb::CustomOp squash = sb::custom_op("demo::squash", squash_cpu, {.arguments = {"x", "scale"}});
  std::cout << squash.schema() << "\n" << squash(sb::arange(4, sb::DType::Float32), 2.0) << "\n";
  // doc: end

  // doc: begin
  const Tensor x = sb::full({3}, 0.5, sb::DType::Float64);
  sb::set_requires_grad(x);
  try {
    sb::backward(sb::sum(squash(x, 2.0)));
  } catch (const sb::RuntimeError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end

  // doc: begin
  squash.register_autograd(
      [](sb::FunctionContext& ctx, const Tensor& grad) -> std::vector<Tensor> {
        const Tensor t = ctx.saved_tensors()[0] / ctx.get("scale").to_double();
        return {grad * (1 - t * t), Tensor()};
      },
      [](sb::FunctionContext& ctx, const sb::CallValues& inputs, const sb::CallValues& output) {
        ctx.save_for_backward({output.tensor(0)});
        ctx.set("scale", inputs["scale"]);
      });
  sb::backward(sb::sum(squash(x, 2.0)));
  std::cout << sb::grad_of(x) << "\n";
  // doc: end

  // doc: begin
  const auto f = [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{squash(in[0], 2.0)};
  };
  sb::gradcheck(f, {x});
  sb::gradgradcheck(f, {x});
  std::cout << "the gradients are right\n";
  // doc: end

  // doc: begin
  sb::FakeTensorMode fake;
  const Tensor there = fake.from_tensor(sb::ones({4, 3}), sb::Device("cuda:0"));
  try {
    squash(there, 2.0);
  } catch (const sb::UnsupportedOperatorError& error) {
    std::cout << error.what() << "\n";
  }
  squash.register_fake([](const Tensor& x, double scale) {
    check_squash(x, scale);
    return sb::empty_like(x);
  });
  std::cout << squash(there, 2.0).describe() << "\n";
  // doc: end

  // doc: begin
  for (const sb::OpCheckResult& result : sb::opcheck_results(squash, {x, 2.0}))
    std::cout << result.to_string() << "\n";
  sb::opcheck_variations(squash, {x, 2.0});
  // doc: end
}
