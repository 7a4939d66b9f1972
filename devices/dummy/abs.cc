// The device's arithmetic of abs, in the operator's slot; checks, dtypes, strides and the three
// forms are the library's.

#include "Eigen/Core"
#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/dummy/host_alias.h"
#include "switchboard/devices/dummy/launch.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/cpu/elementwise.h"

namespace sb::dummy {
namespace {

constexpr DispatchKeySet kCpu{DispatchKey::CPU};

template <class T>
void abs_array(HostTensors t) {
  using Array = Eigen::Array<T, Eigen::Dynamic, 1>;
  const Eigen::Map<const Array> in(t[0].data<T>(), t[0].numel());
  Eigen::Map<Array>(t[1].data<T>(), t[1].numel()) = in.abs();
}

// Float arrays are the stream's work; everything else is the CPU's, over the same memory.
void abs_of_device(TensorIterator& iterator, const void*) {
  internal::count_kernel(sb::abs.name());
  const Tensor &in = iterator.input(0), &out = iterator.output();
  const DType dtype = in.dtype();
  const bool is_float = dtype == DType::Float32 || dtype == DType::Float64;
  // A number on the CPU may be gone when the stream's turn comes.
  if (is_float && !in.is_cpu() && out.dtype() == dtype && iterator.is_contiguous()) {
    launch(sb::abs.name(), {in, out},
           dtype == DType::Float32 ? abs_array<float> : abs_array<double>);
  } else {
    HostAliases host;
    sb::abs_out.redispatch(kCpu, host(in), host(out));
  }
}

const bool abs_registered = [] {
  register_elementwise(abs_arithmetic, DeviceType::PrivateUse1, abs_of_device);
  return true;
}();

// The forms that the CPU has serve any device, where they find it current.
Tensor abs_kernel(const Tensor& self) {
  DeviceGuard guard(self.device());
  return sb::abs.redispatch(kCpu, self);
}
Tensor abs_out_kernel(const Tensor& self, const Tensor& out) {
  DeviceGuard guard(self.device());
  return sb::abs_out.redispatch(kCpu, self, out);
}
Tensor abs_inplace_kernel(const Tensor& self) {
  DeviceGuard guard(self.device());
  return sb::abs_.redispatch(kCpu, self);
}

const ExplainKernels explain_abs(DispatchKey::PrivateUse1, [](CallPath& path, const PathCall& c) {
  path.enter(c.op, kCpu, c.arguments);
});

}  // namespace

SB_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl(sb::abs, abs_kernel);
  m.impl(sb::abs_out, abs_out_kernel);
  m.impl(sb::abs_, abs_inplace_kernel);
}

}  // namespace sb::dummy
