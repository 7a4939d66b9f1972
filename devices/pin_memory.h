// Tensors in pinned memory: memory of the CPU that a device reads and writes by itself.

#ifndef SWITCHBOARD_DEVICES_PIN_MEMORY_H_
#define SWITCHBOARD_DEVICES_PIN_MEMORY_H_

#include "switchboard/dispatch/typed_op.h"
#include "switchboard/ops/composite/facts.h"

namespace sb {

// `is_pinned` (ops/composite/facts.h) says, with this linked in, whether a tensor's memory is
// pinned for a device; false for one that is not on the CPU. Without a device, here and below, for
// the accelerator: the first device type, in the order of DeviceType, beside CPU and Meta that has
// a device guard. Name the device where a program has several. False, too, where there is none.

// self itself where it is pinned already, else a copy of it that is. RuntimeError for all but dense
// CPU tensors, and without an accelerator; NotImplementedError where the device pins no memory.
SB_OP(pin_memory, "aten::pin_memory(Tensor(a) self, Device? device=None) -> Tensor(a)");
// The copy. A device registers it, and is_pinned, at its key; what they get is a dense CPU tensor.
SB_OP(_pin_memory, "aten::_pin_memory(Tensor self, Device? device=None) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_DEVICES_PIN_MEMORY_H_
