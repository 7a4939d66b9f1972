// Sequences of different lengths in one tensor: padded, or packed time step by time step.

#ifndef SWITCHBOARD_OPS_LOSS_PACKED_SEQUENCE_H_
#define SWITCHBOARD_OPS_LOSS_PACKED_SEQUENCE_H_
#include "switchboard/dispatch/typed_op.h"

namespace sb {

// The elements of each time step without the padding, one step behind the other, and how many
// sequences take part in each step. `input` is [time, batch, ...] (or [batch, time, ...]), lengths
// a descending vector of int64. RuntimeError for an empty input and for lengths that do not fit.
SB_OP(_pack_padded_sequence,
      "aten::_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> "
      "(Tensor, Tensor)");
SB_OP(_pack_padded_sequence_backward,
      "aten::_pack_padded_sequence_backward(Tensor grad, SymInt[] input_size, Tensor batch_sizes, "
      "bool batch_first) -> Tensor");
// The way back: the padded sequences, at least total_length long, and their lengths.
SB_OP(_pad_packed_sequence,
      "aten::_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, "
      "Scalar padding_value, int total_length) -> (Tensor, Tensor)");
// Tensors of shapes [length, ...] side by side.
SB_OP(pad_sequence,
      "aten::pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0, "
      "str padding_side=\"right\") -> "
      "Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LOSS_PACKED_SEQUENCE_H_
