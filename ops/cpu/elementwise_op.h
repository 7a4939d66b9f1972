// What an elementwise operator is made of: its arithmetic for each dtype and CPU capability, and
// how it treats dtypes. elementwise.h makes operators of it.

#ifndef SWITCHBOARD_OPS_CPU_ELEMENTWISE_OP_H_
#define SWITCHBOARD_OPS_CPU_ELEMENTWISE_OP_H_

#include <array>
#include <atomic>
#include <string_view>

#include "switchboard/core/dtype.h"
#include "switchboard/ops/cpu/cpu_kernel.h"
#include "switchboard/ops/cpu/tensor_iterator.h"

namespace sb {

// A loop for each dtype that the inputs are computed in; nullptr where the operator has none.
using LoopTable = std::array<ElementwiseLoop, kNumDTypes>;

// The arithmetic of an elementwise operator on another device than the CPU. The iterator has made
// the checks and the output; what is to be computed is output() of input(0), input(1)..., which are
// as the call gave them: of different dtypes, where common_dtype() is what to compute in, not
// broadcast, and 0-dim ones maybe on the CPU. `params` is what the operator passes to its loops.
using DeviceElementwise = void (*)(TensorIterator& iterator, const void* params);

// One for each device type; nullptr where there is none.
using DeviceSlots = std::array<std::atomic<DeviceElementwise>, kNumDeviceTypes>;

struct ElementwiseOp {
  std::string_view name;
  IteratorFlags flags;
  const CpuKernel<LoopTable>& loops;
  DeviceSlots& devices;
};

// Flags of the usual kinds, named as TensorIterator's build functions.
inline constexpr IteratorFlags kBinaryFlags = kPromoteInputs | kSafeCastOutput;
inline constexpr IteratorFlags kFloatFlags = kPromoteInputs | kSafeCastOutput | kIntToFloat;
inline constexpr IteratorFlags kUnaryFlags = kSameDtypeOutput;
inline constexpr IteratorFlags kComparisonFlags = kPromoteInputs | kBoolOutput;

}  // namespace sb

// Defines the ElementwiseOp `handle`, in a named namespace: its name in errors, its flags, and a
// constant expression that makes its LoopTable.
#ifdef SB_CPU_VARIANT
#define SB_ELEMENTWISE(handle, name, flags, ...) \
  SB_CPU_KERNEL(::sb::LoopTable, handle##_loops, __VA_ARGS__)
#else
#define SB_ELEMENTWISE(handle, name, flags, ...)               \
  SB_CPU_KERNEL(::sb::LoopTable, handle##_loops, __VA_ARGS__); \
  static constinit ::sb::DeviceSlots handle##_devices{};       \
  constexpr ::sb::ElementwiseOp handle = {name, flags, handle##_loops, handle##_devices}
#endif

#endif  // SWITCHBOARD_OPS_CPU_ELEMENTWISE_OP_H_
