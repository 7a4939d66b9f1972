// Recurrent layers and cells, composed of other operators.
//
// A layer's input is (time, batch, features), or (batch, time, features) with batch_first; hidden
// states are (layers * directions, batch, hidden). `params` has for each layer, and in it for each
// direction, the weights w_ih (gates * hidden, features) and w_hh (gates * hidden, hidden), with
// has_biases b_ih and b_hh, and for an lstm whose h is narrower than its c the projection w_hr.
// Gates are in the order input, forget, cell, output (lstm) and reset, update, new (gru). Results
// are the last layer's outputs, those of both directions side by side, and the final states. With
// `train`, what goes from layer to layer is dropped out with that probability. RuntimeError for
// shapes and numbers of parameters that do not fit, and for a sequence without steps.

#ifndef SWITCHBOARD_OPS_RECURRENT_RECURRENT_H_
#define SWITCHBOARD_OPS_RECURRENT_RECURRENT_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

SB_OP(lstm,
      "aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int "
      "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, "
      "Tensor, Tensor)");
SB_OP(gru,
      "aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
      "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)");
SB_OP(rnn_tanh,
      "aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
      "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, "
      "Tensor)");
SB_OP(rnn_relu,
      "aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
      "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, "
      "Tensor)");

// One step of one layer: input (batch, features), states (batch, hidden). hx is h and c.
SB_OP(lstm_cell,
      "aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
      "Tensor? b_hh=None) -> (Tensor, Tensor)");
SB_OP(
    gru_cell,
    "aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
    "b_hh=None) -> Tensor");
SB_OP(rnn_tanh_cell,
      "aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
      "Tensor? b_hh=None) -> Tensor");
SB_OP(rnn_relu_cell,
      "aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
      "Tensor? b_hh=None) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_RECURRENT_RECURRENT_H_
