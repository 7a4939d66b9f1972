// What is found out at once.

#include <iostream>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

using sb::Tensor;

template <class F>
void print_error(F f) {
  try {
    f();
  } catch (const sb::Error& error) {
    std::cout << error.kind() << ": " << error.what() << "\n\n";
  }
}

int main() {
  // doc: begin
  const auto identity = [](sb::FunctionContext&, const Tensor& grad) { return grad; };

  sb::CustomOp add_one = sb::custom_op("demo::add_one", [](const Tensor& x) { x += 1; },
                                       {.arguments = {"x"}, .mutates_args = {"x"}});
  print_error([&] { add_one.register_autograd(identity); });

  const sb::CustomOp flat = sb::custom_op("demo::flat", "(Tensor x) -> Tensor",
                                          [](const Tensor& x) { return sb::view(x, {-1}); });
  print_error([&] { flat(sb::ones({2, 2})); });

  sb::CustomOp sum_of =
      sb::custom_op("demo::sum_of", "(Tensor x, Tensor y, *, int n=1) -> Tensor",
                    [](const Tensor& x, const Tensor& y, int64_t) { return x + y; });
  print_error([&] {
    sum_of.register_autograd(identity, [](sb::FunctionContext&, const sb::CallValues& /*inputs*/,
                                          const sb::CallValues& /*output*/) {});
  });
  sum_of.register_autograd(identity);
  const Tensor x = sb::ones({2});
  sb::set_requires_grad(x);
  print_error([&] { sb::backward(sb::sum(sum_of(x, x))); });
  // doc: end
}
