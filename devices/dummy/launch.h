// How kernels give their arithmetic to a stream.

#ifndef SWITCHBOARD_DEVICES_DUMMY_LAUNCH_H_
#define SWITCHBOARD_DEVICES_DUMMY_LAUNCH_H_

#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/devices/stream.h"

namespace sb::dummy {

// CPU tensors over the memory of those that a kernel launched with, in their order, with the
// shapes that these had then. Valid while the arithmetic runs.
using HostTensors = absl::Span<const Tensor>;
using Arithmetic = absl::AnyInvocable<void(HostTensors)>;

// Gives the arithmetic of an operator to the current stream of its tensors' device: `tensors` are
// all that it reads and writes. Their memory is kept until it has run and is open only while it
// runs, maybe later and on another thread; so it captures nothing else that may change. It calls no
// operators of the device, and waits for nothing. See run_on_stream for when it runs, and for what
// becomes of its errors. CPU tensors may be among them if the caller waits for the stream, or if
// they are pinned.
//
//   const Tensor out = empty_with(self, self.sizes());
//   launch("aten::relu", {self, out}, [](HostTensors t) { ... t[0] to t[1] ... });
//   return out;
void launch(std::string_view op, absl::Span<const Tensor> tensors, Arithmetic arithmetic);
void launch_on(Stream stream, std::string_view op, absl::Span<const Tensor> tensors,
               Arithmetic arithmetic);

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_LAUNCH_H_
