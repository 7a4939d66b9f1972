#include "soft_threshold.h"

#include <Eigen/Core>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"

namespace soft {
namespace {

using sb::DispatchKey, sb::Tensor;

// The shape rule, which every kernel begins with.
Tensor result_for(const Tensor& x, double by) {
  SB_CHECK(x.defined() && x.dtype() == sb::DType::Float32 && x.is_contiguous(),
           "soft::threshold: argument x: expected a contiguous float32 tensor, got ", x.describe());
  SB_CHECK_VALUE(by >= 0, "soft::threshold: argument by: expected it not negative, got ", by);
  return sb::empty_on(x.device(), x.sizes(), x.dtype());
}

Tensor on_cpu(const Tensor& x, double by) {
  const Tensor result = result_for(x, by);
  const Eigen::Map<const Eigen::ArrayXf> in(x.data<float>(), x.numel());
  Eigen::Map<Eigen::ArrayXf> out(result.data<float>(), x.numel());
  out = in.sign() * (in.abs() - static_cast<float>(by)).max(0.0f);
  return result;
}

SB_LIBRARY(soft, m) {
  m.define(threshold);
  m.impl(threshold, DispatchKey::CPU, on_cpu);
  m.impl(threshold, DispatchKey::Meta, result_for);
  m.impl(threshold, DispatchKey::Autograd, sb::fallthrough);  // no gradient: calls pass on
}

}  // namespace
}  // namespace soft
