// Derivatives of packing sequences. The way back is composed of operators that have derivatives.

#include "switchboard/ops/loss/packed_sequence.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/shape/dims.h"

namespace sb {
namespace {

// The batch sizes are read as numbers, wherever they are, and so are the sizes.
Tensor unpacked(const Tensor& grad, const InputMetadata& input, const Tensor& batch_sizes,
                bool batch_first) {
  DimVector sizes;
  for (const SymInt& size : input.sizes) sizes.push_back(size.guard_int());
  const Tensor counts = to_device(batch_sizes, DeviceType::CPU, batch_sizes.dtype());
  return _pack_padded_sequence_backward(grad, sizes, counts, batch_first);
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, _pack_padded_sequence,
         SB_GRAD(input, (grad, input_meta, result1, batch_first),
                 unpacked(grad, input_meta, result1, batch_first)));
}

}  // namespace sb
