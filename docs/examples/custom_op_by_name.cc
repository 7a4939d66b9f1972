// A gradient and a fake rule for an operator that is known by name.

#include <iostream>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/register_autograd.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/fake/register_fake.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"

using sb::Tensor;

// doc: begin
Tensor weighted(sb::TensorList xs, double weight) { return xs[0] + xs[1] * weight; }

void register_weighted(sb::Library& m) {
  sb::define("demo::weighted", "(Tensor[] xs, *, float weight=2) -> Tensor", {}, &m);
  sb::impl("demo::weighted", {"cpu", "cuda"}, weighted, &m);
  sb::register_fake(
      "demo::weighted", [](sb::TensorList xs, double) { return sb::empty_like(xs[0]); }, m);
  sb::register_autograd(
      "demo::weighted",
      [](sb::FunctionContext& ctx, const Tensor& grad) -> std::vector<Tensor> {
        const double weight = ctx.get("weight").to_double();
        return {grad, ctx.needs_input_grad(0, 1) ? grad * weight : Tensor()};
      },
      [](sb::FunctionContext& ctx, const sb::CallValues& /*inputs*/,
         const sb::CallValues& keyword_only_inputs,
         const sb::CallValues& /*output*/) { ctx.set("weight", keyword_only_inputs["weight"]); },
      m);
}
// doc: end

int main() {
  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "demo");
  register_weighted(library);
  const Tensor x = sb::ones({2}), y = sb::ones({2});
  sb::set_requires_grad(y);
  const sb::OpOverload op = sb::lookup_op("demo::weighted");
  const Tensor z = op.call({std::vector<Tensor>{x, y}}, {{"weight", 5.0}})[0].to_tensor();
  std::cout << z << " by " << sb::grad_fn(z)->name() << "\n";
  sb::backward(sb::sum(z));
  std::cout << sb::grad_of(y) << "\n";
  // doc: end
}
