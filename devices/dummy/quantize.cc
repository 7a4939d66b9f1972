// The device's arithmetic of quantize_per_tensor, in its slot; checks and results are the
// library's.

#include "switchboard/ops/quantized/quantize.h"

#include "switchboard/devices/dummy/launch.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/dispatch/library.h"

namespace sb::dummy {
namespace {

void quantize(const Tensor& self, const Tensor& quantized) {
  internal::count_kernel(sb::quantize_per_tensor.name());
  launch(sb::quantize_per_tensor.name(), {self, quantized},
         [quantizer = quantized.impl()->quantizer()](HostTensors t) {
           quantize_elements(t[0].data<float>(), t[1].data_ptr(), t[0].numel(), *quantizer,
                             t[1].dtype());
         });
}

const bool quantize_registered = [] {
  register_quantize_kernel(DeviceType::PrivateUse1, quantize);
  return true;
}();

SB_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl(sb::quantize_per_tensor, quantize_per_tensor_on_device);
}

}  // namespace
}  // namespace sb::dummy
