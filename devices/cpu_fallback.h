// Runs an operator on the CPU for a device that has no kernel for it.

#ifndef SWITCHBOARD_DEVICES_CPU_FALLBACK_H_
#define SWITCHBOARD_DEVICES_CPU_FALLBACK_H_

#include "absl/types/span.h"
#include "switchboard/core/device.h"
#include "switchboard/core/storage.h"
#include "switchboard/devices/strided_ranges.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

class CallPath;
struct PathCall;

// Copies a device's bytes to the CPU and back. Implementations are thread-safe and return when the
// bytes are there. Ranges are inside the storage.
class HostTransfer {
 public:
  virtual ~HostTransfer() = default;
  // Copies those ranges of the storage to the same places behind `host`, and the other way around.
  virtual void download(const Storage& storage, void* host, absl::Span<const ByteRange> ranges) = 0;
  virtual void upload(const Storage& storage, const void* host,
                      absl::Span<const ByteRange> ranges) = 0;
};

// A backend fallback for devices of `type`, to be called by a boxed kernel. As
// `at::native::cpu_fallback`. The device needs an allocator and a device guard.
//
// - Arguments: the storages of the device's tensors are copied to the CPU, each once, and the
//   tensors made anew over them: strides, offsets, aliasing and identity stay. `Device` arguments
//   that name the device become the CPU; generators of the device draw through a CPU one.
// - A tensor that the schema says is written to is written back, elements and, where the operator
//   changed them, sizes, strides and storage. No other byte of its storage is touched.
//   A random operator that is given no generator draws from the default one of the device.
// - Results: one that is an argument is that very argument; one that shares an argument's memory is
//   a view of it; any other goes to the device that a `Device` argument named, or else to that of
//   the arguments. Results that share fresh memory share it there too.
//
// A call is refused with NotImplementedError where that is said (fallback_policy.h), and so is a
// random operator without a `Generator` argument, which would draw from the CPU's sequence, not
// from the device's. Every other is counted (fallback_stats.h).
//
// Throws RuntimeError that names operator, argument and devices unless all tensors are on one
// device; on the CPU may be 0-dim tensors that are only read and, as in indexing, the elements of a
// `Tensor?[]`. If the operator throws, no argument is changed.
void cpu_fallback(const OperatorHandle& op, Stack* stack, DeviceType type, HostTransfer& transfer);

// How a call goes on from there, for its explanation (dispatch/inspect/call_path.h): beside the
// fallback,
//
//   const ExplainFallback on_cpu(DispatchKey::PrivateUse1, [](CallPath& path, const PathCall& c) {
//     explain_cpu_fallback(path, c, DeviceType::PrivateUse1);
//   });
void explain_cpu_fallback(CallPath& path, const PathCall& call, DeviceType type);

}  // namespace sb

#endif  // SWITCHBOARD_DEVICES_CPU_FALLBACK_H_
