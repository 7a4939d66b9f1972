#include <random>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/gradcheck_numbers.h"
#include "switchboard/autograd/gradcheck_run.h"
#include "switchboard/autograd/variable.h"

namespace sb {
namespace {

using Number = std::complex<double>;
using Tensors = std::vector<Tensor>;

// Random numbers of magnitude 0.5 to 1.
Tensor random_like(const Tensor& output, std::mt19937_64& random) {
  const auto draw = [&] {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    return u < 0.5 ? u - 1 : u;
  };
  internal::GradcheckNumbers numbers(static_cast<size_t>(output.numel()));
  for (Number& z : numbers) z = Number(draw(), is_complex(output.dtype()) ? draw() : 0);
  const Tensor t = internal::plain_tensor_like(output, numbers);
  set_requires_grad(t);
  return t;
}

Tensors only_requiring_grad(const Tensors& tensors) {
  Tensors kept;
  for (const Tensor& t : tensors)
    if (requires_grad(t)) kept.push_back(t);
  return kept;
}

}  // namespace

GradcheckReport gradgradcheck_report(const DifferentiableFunction& f, const Tensors& inputs,
                                     const Tensors& grad_outputs, const GradcheckOptions& options) {
  SB_CHECK_VALUE(f != nullptr, "gradgradcheck: expected a function, got an empty one");
  internal::check_gradcheck_inputs("gradgradcheck", "input", inputs);
  const GradModeGuard on(true);
  const Tensors outputs = only_requiring_grad(f(inputs));
  SB_CHECK_VALUE(!outputs.empty(),
                 "gradgradcheck: expected an output that requires a gradient, got none");
  SB_CHECK_VALUE(grad_outputs.empty() || grad_outputs.size() == outputs.size(),
                 "gradgradcheck: expected ", outputs.size(),
                 " grad_outputs, one for each output that requires a gradient, got ",
                 grad_outputs.size());
  Tensors all = inputs;
  std::mt19937_64 random(2024);
  for (size_t i = 0; i < outputs.size(); ++i)
    all.push_back(grad_outputs.empty() ? random_like(outputs[i], random) : grad_outputs[i]);
  if (!only_requiring_grad(grad_outputs).empty())
    internal::check_gradcheck_inputs("gradgradcheck", "grad output", grad_outputs);

  std::vector<size_t> reached;  // the inputs whose gradients are the outputs now
  const DifferentiableFunction gradients = [&](const Tensors& given) {
    const auto middle = given.begin() + static_cast<std::ptrdiff_t>(inputs.size());
    const Tensors own(given.begin(), middle);
    GradOptions recorded;
    recorded.create_graph = true;
    recorded.allow_unused = true;
    const Tensors found = grad(only_requiring_grad(f(own)), only_requiring_grad(own),
                               Tensors(middle, given.end()), recorded);
    reached.clear();
    Tensors defined;
    for (size_t j = 0, k = 0; j < own.size(); ++j) {
      if (!requires_grad(own[j])) continue;
      const Tensor& g = found[k++];
      if (!g.defined()) continue;
      reached.push_back(j);
      defined.push_back(g);
    }
    return defined;
  };
  const size_t n = inputs.size();
  internal::GradcheckSubject subject;
  subject.may_lose_gradients = false;
  subject.input = [n](size_t j) {
    return j < n ? str_cat("input ", j) : str_cat("grad output ", j - n);
  };
  subject.output = [&reached](size_t i) { return str_cat("gradient of input ", reached.at(i)); };
  return internal::run_gradcheck(gradients, all, options, subject);
}

void gradgradcheck(const DifferentiableFunction& f, const Tensors& inputs,
                   const Tensors& grad_outputs, const GradcheckOptions& options) {
  const GradcheckReport report = gradgradcheck_report(f, inputs, grad_outputs, options);
  SB_CHECK_KIND(GradcheckError, report.passed(), "gradgradcheck: ", report.to_string());
}

}  // namespace sb
