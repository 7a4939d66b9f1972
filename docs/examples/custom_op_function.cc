// Pairs of functions, forward and backward.

#include <iostream>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/function.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"

using sb::Tensor;

// doc: begin
// Nothing forward, and the gradient turned round.
struct Reverse : sb::Function<Reverse> {
  static Tensor forward(sb::FunctionContext& ctx, const Tensor& x, double strength) {
    ctx.set("strength", strength);
    return x;
  }
  static std::vector<Tensor> backward(sb::FunctionContext& ctx, const Tensor& grad) {
    return {grad * -ctx.get("strength").to_double(), Tensor()};
  }
};
// doc: end

// doc: begin
// x *= y, in place.
struct Multiply : sb::Function<Multiply> {
  static Tensor forward(sb::FunctionContext& ctx, const Tensor& x, const Tensor& y) {
    ctx.save_for_backward({ctx.needs_input_grad(1) ? sb::clone(x) : Tensor(), y});
    x *= y;
    ctx.mark_dirty({x});
    return x;
  }
  static std::vector<Tensor> backward(sb::FunctionContext& ctx, const Tensor& grad) {
    const std::vector<Tensor> saved = ctx.saved_tensors();
    return {grad * saved[1], ctx.needs_input_grad(1) ? grad * saved[0] : Tensor()};
  }
};
// doc: end

int main() {
  // doc: begin
  const Tensor w = sb::ones({2});
  sb::set_requires_grad(w);
  const Tensor x = Reverse::apply(w, 0.5);
  sb::backward(sb::sum(x));
  std::cout << sb::grad_of(w) << " by " << sb::grad_fn(x)->name() << "\n";
  // doc: end

  // doc: begin
  const Tensor y = w * 3;
  const Tensor z = Multiply::apply(y, sb::full({2}, 5));
  std::cout << z << ", " << (z.is_same(y) ? "which is y" : "another tensor") << "\n";
  try {
    x *= y;
  } catch (const sb::RuntimeError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
