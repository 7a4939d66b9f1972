#include "switchboard/examples/digits_training/optimizers.h"

#include <cmath>
#include <string>
#include <utility>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"

namespace digits {
namespace {

using sb::IValue, sb::Tensor;
using Tensors = std::vector<Tensor>;

// An operator on lists, by name: foreach("mul_.Scalar", {tensors, 0.9}).
std::vector<IValue> foreach (const std::string& name, std::vector<IValue> arguments,
                             std::vector<std::pair<std::string, IValue>> keyword = {}) {
  return sb::default_dispatcher()
      .find_op_or_throw("aten::_foreach_" + name)
      .call(std::move(arguments), std::move(keyword));
}
// x + scale * y, to each x.
void add_scaled(const Tensors& x, const Tensors& y, double scale) {
  foreach ("add_.List", {x, y}, {{"alpha", scale}})
    ;
}

Tensors zeros_like_each(const Tensors& tensors) {
  Tensors zeros;
  for (const Tensor& t : tensors) zeros.push_back(sb::zeros_like(t));
  return zeros;
}

class Sgd final : public Optimizer {
 public:
  using Optimizer::Optimizer;

 private:
  void update(const Tensors& parameters, const Tensors& gradients) override {
    if (velocity_.empty()) {
      for (const Tensor& g : gradients) velocity_.push_back(sb::clone(g));
    } else {
      foreach ("mul_.Scalar", {velocity_, 0.9})
        ;
      add_scaled(velocity_, gradients, 1);
    }
    add_scaled(parameters, velocity_, -0.1);
  }

  Tensors velocity_;
};

class Adam final : public Optimizer {
 public:
  using Optimizer::Optimizer;

 private:
  void update(const Tensors& parameters, const Tensors& gradients) override {
    constexpr double kRate = 0.003, kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;
    if (mean_.empty()) {
      mean_ = zeros_like_each(parameters);
      square_ = zeros_like_each(parameters);
    }
    ++steps_;
    foreach ("mul_.Scalar", {mean_, kBeta1})
      ;
    add_scaled(mean_, gradients, 1 - kBeta1);
    foreach ("mul_.Scalar", {square_, kBeta2})
      ;
    foreach ("addcmul_.Scalar", {square_, gradients, gradients, 1 - kBeta2})
      ;
    // Both began as zeros: what is made up for grows less with each step.
    const double mean_part = 1 - std::pow(kBeta1, steps_);
    const double square_part = 1 - std::pow(kBeta2, steps_);
    const IValue deviation = foreach ("sqrt", {square_})[0];
    foreach ("div_.Scalar", {deviation, std::sqrt(square_part)})
      ;
    foreach ("add_.Scalar", {deviation, kEpsilon})
      ;
    foreach ("addcdiv_.Scalar", {parameters, mean_, deviation, -kRate / mean_part})
      ;
  }

  int steps_ = 0;
  Tensors mean_, square_;
};

}  // namespace

void Optimizer::step() {
  const sb::NoGradGuard no_grad;
  Tensors gradients;
  for (const Tensor& p : parameters_) {
    gradients.push_back(sb::grad_of(p));
    SB_CHECK(gradients.back().defined(), "Optimizer: a parameter has no gradient: ", p.describe());
  }
  update(parameters_, gradients);
}

void Optimizer::zero_grad() {
  for (const Tensor& p : parameters_) sb::set_grad(p, {});
}

std::unique_ptr<Optimizer> make_optimizer(std::string_view name, Tensors parameters) {
  if (name == "sgd") return std::make_unique<Sgd>(std::move(parameters));
  SB_CHECK_VALUE(name == "adam", "optimizer: expected sgd or adam, got ", name);
  return std::make_unique<Adam>(std::move(parameters));
}

}  // namespace digits
