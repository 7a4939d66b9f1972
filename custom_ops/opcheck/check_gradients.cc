#include <algorithm>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/gradcheck_numbers.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/custom_ops/opcheck/autograd_kernel.h"
#include "switchboard/custom_ops/opcheck/checks.h"
#include "switchboard/custom_ops/opcheck/tensor_form.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/outputs/map_tensors.h"

namespace sb::internal {
namespace {

DType in_double(DType dtype) {
  if (is_complex(dtype)) return DType::Complex128;
  return is_floating_point(dtype) ? DType::Float64 : dtype;
}

// A copy in float64 or complex128 that shares memory with nothing, with strides as far as they are
// those of a tensor without overlap.
Tensor double_copy(const Tensor& t) {
  const NoGradGuard off;
  const DType dtype = in_double(t.dtype());
  const Tensor copy = has_internal_overlap(t)
                          ? empty_on(t.device(), t.sizes(), dtype)
                          : empty_strided_on(t.device(), t.sizes(), t.strides(), dtype);
  copy_(copy, t);
  copy.impl()->set_wrapped_number(t.impl()->is_wrapped_number());
  if (requires_grad(t)) set_requires_grad(copy);
  return copy;
}

}  // namespace

Finding check_gradients(const CheckedCall& call) {
  if (!call.any_requires_grad()) return skipped("no argument requires a gradient");
  if (call.is_random(false)) return skipped("it is tagged as not deterministic");
  Stack doubles;
  for (const IValue& value : call.arguments)
    doubles.push_back(map_tensors(
        value, [](const Tensor& t) { return is_quantized(t.dtype()) ? t : double_copy(t); }));
  const CheckedCall wide{call.op, std::move(doubles), call.options};
  try {
    wide.run();
  } catch (const Error& error) {
    return skipped("the call in float64 throws: ", error.what());
  }
  if (autograd_kernel(call) == AutogradKernel::NotDifferentiable)
    return skipped("it is not_differentiable()");
  const DifferentiableFunction f = pure_form(wide);
  const std::vector<Tensor> inputs = tensors_in(wide.arguments);
  GradcheckReport report = gradcheck_report(f, inputs, call.options.gradcheck);
  if (!report.passed()) return failed(call, "gradcheck: ", report.to_string());
  if (!call.options.second_derivatives) return passed();
  report = gradgradcheck_report(f, inputs, {}, call.options.gradcheck);
  if (!report.passed()) return failed(call, "gradgradcheck: ", report.to_string());
  return passed();
}

}  // namespace sb::internal
