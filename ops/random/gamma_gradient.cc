#include "switchboard/ops/random/gamma_gradient.h"

#include <cmath>

#include "Eigen/Core"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "unsupported/Eigen/SpecialFunctions"

namespace sb {
namespace {

double derivative(double shape, double draw) {
  if (std::isnan(shape) || std::isnan(draw)) return shape + draw;
  const double result = Eigen::numext::gamma_sample_der_alpha(shape, draw);
  return std::isnan(result) ? 0 : result;
}

Tensor standard_gamma_grad(const Tensor& self, const Tensor& output) {
  constexpr const char* op = "_standard_gamma_grad";
  for (const Tensor* t : {&self, &output}) check_defined(op, *t);
  SB_CHECK(is_floating_point(self.dtype()) && output.dtype() == self.dtype() &&
               output.device() == self.device(),
           op, ": expected self and output of one floating-point dtype and device, got ",
           self.describe(), " and ", output.describe());
  if (any_symbolic(self, output)) {
    return empty_with_symbols(broadcast_sizes<SymInt>(self.sym_sizes(), output.sym_sizes()), {},
                              self.dtype());
  }
  const auto sizes = broadcast_shapes(self.sizes(), output.sizes());
  const Tensor result = empty_on(self.device(), sizes, self.dtype());
  if (result.is_meta() || result.numel() == 0) return result;
  const auto new_doubles = [&] { return empty_on(DeviceType::CPU, sizes, DType::Float64); };
  const Tensor shapes = new_doubles(), draws = new_doubles(), to = new_doubles();
  copy_elements(shapes, self);
  copy_elements(draws, output);
  const double *const shape = shapes.data<double>(), *const draw = draws.data<double>();
  double* const derivatives = to.data<double>();
  parallel_for(0, to.numel(), 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) derivatives[i] = derivative(shape[i], draw[i]);
  });
  copy_elements(result, to);
  return result;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, _standard_gamma_grad).out("out");
  for (DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta})
    m.impl(_standard_gamma_grad, key, standard_gamma_grad);
}

}  // namespace sb
