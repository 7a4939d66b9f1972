// A few kernels of the device's own, for contiguous float tensors; they leave everything else to
// the CPU. With them, a small network has kernels of both kinds.

#include <optional>

#include "Eigen/Core"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/dummy/cpu_fallback.h"
#include "switchboard/devices/dummy/launch.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/products/matmul.h"

namespace sb::dummy {
namespace {

template <class T>
Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>> array(const Tensor& t) {
  return {t.data<T>(), t.numel()};
}
template <class T>
auto matrix(const Tensor& t) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<Matrix>(t.data<T>(), t.size(0), t.size(1));
}

bool is_served(const Tensor& t) {
  return t.device().type == DeviceType::PrivateUse1 && t.is_contiguous() &&
         (t.dtype() == DType::Float32 || t.dtype() == DType::Float64);
}
// Whether both are served, together.
bool are_served(const Tensor& a, const Tensor& b) {
  return is_served(a) && is_served(b) && a.dtype() == b.dtype() && a.device() == b.device();
}

Tensor empty_with(const Tensor& like, IntArrayRef sizes) {
  DeviceGuard guard(like.device());
  return empty_on(like.device(), sizes, like.dtype());
}

// Calls f.template operator()<T>() for float or double.
template <class F>
void visit_float(DType dtype, F&& f) {
  dtype == DType::Float32 ? f.template operator()<float>() : f.template operator()<double>();
}

Tensor add_kernel(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (!are_served(self, other) || self.sizes() != other.sizes() || alpha.is_complex() ||
      alpha.is_bool())
    return fall_back(sb::add, self, other, alpha);
  internal::count_kernel(sb::add.name());
  const Tensor out = empty_with(self, self.sizes());
  launch(sb::add.name(), {self, other, out}, [alpha](HostTensors t) {
    visit_float(t[0].dtype(), [&]<class T>() {
      array<T>(t[2]) = array<T>(t[0]) + alpha.to<T>() * array<T>(t[1]);
    });
  });
  return out;
}

Tensor mul_kernel(const Tensor& self, const Tensor& other) {
  if (!are_served(self, other) || self.sizes() != other.sizes())
    return fall_back(sb::mul, self, other);
  internal::count_kernel(sb::mul.name());
  const Tensor out = empty_with(self, self.sizes());
  launch(sb::mul.name(), {self, other, out}, [](HostTensors t) {
    visit_float(t[0].dtype(), [&]<class T>() { array<T>(t[2]) = array<T>(t[0]) * array<T>(t[1]); });
  });
  return out;
}

Tensor relu_kernel(const Tensor& self) {
  if (!is_served(self)) return fall_back(sb::relu, self);
  internal::count_kernel(sb::relu.name());
  const Tensor out = empty_with(self, self.sizes());
  launch(sb::relu.name(), {self, out}, [](HostTensors t) {
    visit_float(t[0].dtype(), [&]<class T>() {
      const auto x = array<T>(t[0]);
      array<T>(t[1]) = (x <= T(0)).select(T(0), x);  // NaN stays NaN
    });
  });
  return out;
}

Tensor mm_kernel(const Tensor& self, const Tensor& mat2) {
  if (!are_served(self, mat2) || self.dim() != 2 || mat2.dim() != 2 ||
      self.size(1) != mat2.size(0) || self.numel() == 0 || mat2.numel() == 0)
    return fall_back(sb::mm, self, mat2);
  internal::count_kernel(sb::mm.name());
  const Tensor out = empty_with(self, {self.size(0), mat2.size(1)});
  launch(sb::mm.name(), {self, mat2, out}, [](HostTensors t) {
    visit_float(t[0].dtype(),
                [&]<class T>() { matrix<T>(t[2]).noalias() = matrix<T>(t[0]) * matrix<T>(t[1]); });
  });
  return out;
}

Tensor fill_kernel(const Tensor& self, const Scalar& value) {
  if (!is_served(self) || value.is_complex()) return fall_back(sb::fill_, self, value);
  check_scalar_fits(value, self.dtype());
  internal::count_kernel(sb::fill_.name());
  launch(sb::fill_.name(), {self}, [value](HostTensors t) {
    visit_float(t[0].dtype(), [&]<class T>() { array<T>(t[0]).setConstant(value.to<T>()); });
  });
  return self;
}

}  // namespace

SB_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl(sb::add, add_kernel);
  m.impl(sb::mul, mul_kernel);
  m.impl(sb::relu, relu_kernel);
  m.impl(sb::mm, mm_kernel);
  m.impl(sb::fill_, fill_kernel);
}

}  // namespace sb::dummy
