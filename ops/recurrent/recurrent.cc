#include "switchboard/ops/recurrent/recurrent.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/loss/dropout.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// The parameters of one layer in one direction.
struct Cell {
  Tensor w_ih, w_hh;
  std::optional<Tensor> b_ih, b_hh, w_hr;
};
struct State {
  Tensor h, c;  // c of an lstm alone
};

// A kind of cell: what it makes of the input's part of its gates and of the state before.
struct Kind {
  const char* name;
  int64_t gates;
  State (*step)(const Tensor& input_gates, const State& before, const Cell& cell);
};

Tensor of_input(const Tensor& input, const Cell& cell) {
  return linear(input, cell.w_ih, cell.b_ih);
}
Tensor of_hidden(const State& before, const Cell& cell) {
  return linear(before.h, cell.w_hh, cell.b_hh);
}

State lstm_step(const Tensor& input_gates, const State& before, const Cell& cell) {
  const std::vector<Tensor> gates = chunk(add(of_hidden(before, cell), input_gates), 4, -1);
  const Tensor kept = mul(sigmoid(gates[1]), before.c);
  const Tensor c = add(kept, mul(sigmoid(gates[0]), tanh(gates[2])));
  const Tensor h = mul(sigmoid(gates[3]), tanh(c));
  return {cell.w_hr ? linear(h, *cell.w_hr) : h, c};
}

State gru_step(const Tensor& input_gates, const State& before, const Cell& cell) {
  const std::vector<Tensor> from_input = chunk(input_gates, 3, -1);
  const std::vector<Tensor> from_hidden = chunk(of_hidden(before, cell), 3, -1);
  const Tensor reset = sigmoid(add(from_hidden[0], from_input[0]));
  const Tensor update = sigmoid(add(from_hidden[1], from_input[1]));
  const Tensor made = tanh(add(from_input[2], mul(from_hidden[2], reset)));
  return {add(mul(sub(before.h, made), update), made), Tensor()};
}

template <auto& activation>
State simple_step(const Tensor& input_gates, const State& before, const Cell& cell) {
  return {activation(add(of_hidden(before, cell), input_gates)), Tensor()};
}

constexpr Kind kLstm{"lstm", 4, lstm_step};
constexpr Kind kGru{"gru", 3, gru_step};
constexpr Kind kTanh{"rnn_tanh", 1, simple_step<tanh>};
constexpr Kind kRelu{"rnn_relu", 1, simple_step<relu>};

void check_weights(const Kind& kind, const Cell& cell, const State& state) {
  const SymInt hidden = (state.c.defined() ? state.c : state.h).sym_size(-1);
  const auto fits = [&](const char* name, const Tensor& weight, const SymInt& columns) {
    check_defined(kind.name, weight);
    SB_CHECK(weight.dim() == 2, kind.name, ": ", name, ": expected a matrix, got ",
             weight.describe());
    SB_CHECK(weight.sym_size(0) == hidden * kind.gates && weight.sym_size(1) == columns, kind.name,
             ": ", name, ": expected ", (hidden * kind.gates).to_string(), " rows and ",
             columns.to_string(), " columns, got ", weight.describe());
  };
  check_defined(kind.name, cell.w_ih);
  fits("w_ih", cell.w_ih, cell.w_ih.sym_size(-1));
  fits("w_hh", cell.w_hh, state.h.sym_size(-1));
}

// What the operators have in common.
struct Options {
  bool has_biases;
  int64_t layers;
  double dropout;
  bool train;
  bool bidirectional;
  bool batch_first;

  int64_t directions() const { return bidirectional ? 2 : 1; }
  // One for each layer and direction; of more than there can be, the most.
  int64_t cells() const {
    int64_t count = 0;
    const bool is_number = !__builtin_mul_overflow(layers, directions(), &count);
    return is_number ? count : std::numeric_limits<int64_t>::max();
  }
};

std::vector<Cell> cells_of(const Kind& kind, TensorList params, const Options& with,
                           bool has_projections) {
  const size_t each = 2 + (with.has_biases ? 2 : 0) + (has_projections ? 1 : 0);
  SB_CHECK(with.layers > 0, kind.name, ": num_layers: expected more than 0, got ", with.layers);
  SB_CHECK(params.size() % each == 0 && std::cmp_equal(params.size() / each, with.cells()),
           kind.name, ": params: expected ", each, " tensors for each of ", with.layers,
           " layers and ", with.directions(), " directions, got ", params.size());
  std::vector<Cell> result;
  for (size_t i = 0; i < params.size(); i += each) {
    Cell cell{params[i], params[i + 1], {}, {}, {}};
    if (with.has_biases) cell.b_ih = params[i + 2], cell.b_hh = params[i + 3];
    if (has_projections) cell.w_hr = params[i + each - 1];
    result.push_back(std::move(cell));
  }
  return result;
}

// The initial states of all cells.
std::vector<State> states_of(const Kind& kind, const Tensor& input, const Tensor& h,
                             const Tensor& c, const Options& with) {
  check_defined(kind.name, input);
  SB_CHECK(input.dim() == 3, kind.name, ": input: expected 3 dimensions, got ", input.describe());
  const int64_t cells = with.cells();
  const SymInt batch = input.sym_size(with.batch_first ? 0 : 1);
  const auto rows = [&](const Tensor& state) {
    check_defined(kind.name, state);
    SB_CHECK(state.dim() == 3 && state.sym_size(0) == cells && state.sym_size(1) == batch,
             kind.name, ": hx: expected (", cells, ", ", batch.to_string(), ", hidden), got ",
             state.describe());
    return unbind(state, 0);
  };
  const std::vector<Tensor> hs = rows(h);
  const std::vector<Tensor> cs = c.defined() ? rows(c) : std::vector<Tensor>();
  std::vector<State> states;
  for (size_t i = 0; i < hs.size(); ++i) states.push_back({hs[i], cs.empty() ? Tensor() : cs[i]});
  return states;
}

// The outputs of one layer in one direction, (time, batch, hidden). The state becomes the last one.
Tensor run_cell(const Kind& kind, const Tensor& input, const Cell& cell, bool backwards,
                State* state) {
  check_weights(kind, cell, *state);
  std::vector<Tensor> gates = unbind(of_input(input, cell), 0);
  if (backwards) std::ranges::reverse(gates);
  std::vector<Tensor> outputs;
  for (const Tensor& input_gates : gates) {
    *state = kind.step(input_gates, *state, cell);
    outputs.push_back(state->h);
  }
  if (backwards) std::ranges::reverse(outputs);
  return stack(outputs, 0);
}

// The outputs of the last layer. The states become the last ones.
Tensor run_layers(const Kind& kind, const Tensor& input, const std::vector<Cell>& cells,
                  const Options& with, std::vector<State>* states) {
  Tensor x = with.batch_first ? transpose(input, 0, 1) : input;
  SB_CHECK(x.sym_size(0) > 0, kind.name, ": input: expected steps of time, got ", input.describe());
  const auto directions = static_cast<size_t>(with.directions());
  for (size_t i = 0; i < cells.size(); i += directions) {
    std::vector<Tensor> outputs;
    for (size_t d = 0; d < directions; ++d)
      outputs.push_back(run_cell(kind, x, cells[i + d], /*backwards=*/d == 1, &(*states)[i + d]));
    x = directions == 1 ? outputs[0] : cat(outputs, -1);
    const bool is_last = i + directions == cells.size();
    if (with.train && with.dropout > 0 && !is_last) x = dropout(x, with.dropout, true);
  }
  return with.batch_first ? transpose(x, 0, 1) : x;
}

Tensor all_of(const std::vector<State>& states, Tensor State::*which) {
  std::vector<Tensor> all;
  for (const State& state : states) all.push_back(state.*which);
  return stack(all, 0);
}

std::tuple<Tensor, Tensor, Tensor> lstm_layers(const Tensor& input, TensorList hx,
                                               TensorList params, bool has_biases,
                                               int64_t num_layers, double dropout, bool train,
                                               bool bidirectional, bool batch_first) {
  const Options with{has_biases, num_layers, dropout, train, bidirectional, batch_first};
  SB_CHECK(hx.size() == 2, "lstm: hx: expected 2 states, got ", hx.size());
  std::vector<State> states = states_of(kLstm, input, hx[0], hx[1], with);
  SB_CHECK(hx[1].defined(), "lstm: hx: expected 2 states, got an undefined one");
  const bool has_projections = !same_size(hx[0].sym_size(2), hx[1].sym_size(2));
  const std::vector<Cell> cells = cells_of(kLstm, params, with, has_projections);
  const Tensor output = run_layers(kLstm, input, cells, with, &states);
  return {output, all_of(states, &State::h), all_of(states, &State::c)};
}

template <const Kind& kind>
std::tuple<Tensor, Tensor> layers(const Tensor& input, const Tensor& hx, TensorList params,
                                  bool has_biases, int64_t num_layers, double dropout, bool train,
                                  bool bidirectional, bool batch_first) {
  const Options with{has_biases, num_layers, dropout, train, bidirectional, batch_first};
  std::vector<State> states = states_of(kind, input, hx, Tensor(), with);
  const std::vector<Cell> cells = cells_of(kind, params, with, false);
  const Tensor output = run_layers(kind, input, cells, with, &states);
  return {output, all_of(states, &State::h)};
}

State run_step(const Kind& kind, const Tensor& input, const State& state, const Cell& cell) {
  check_defined(kind.name, input);
  check_defined(kind.name, state.h);
  SB_CHECK(input.dim() >= 1 && state.h.dim() == input.dim(), kind.name,
           "_cell: hx: expected as many dimensions as the input's, ", input.describe(), ", got ",
           state.h.describe());
  for (int64_t d = 0; d + 1 < input.dim(); ++d) {
    SB_CHECK(state.h.sym_size(d) == input.sym_size(d), kind.name,
             "_cell: hx: expected the batch of the input, ", input.describe(), ", got ",
             state.h.describe());
  }
  check_weights(kind, cell, state);
  return kind.step(of_input(input, cell), state, cell);
}

std::tuple<Tensor, Tensor> lstm_cell_step(const Tensor& input, TensorList hx, const Tensor& w_ih,
                                          const Tensor& w_hh, const std::optional<Tensor>& b_ih,
                                          const std::optional<Tensor>& b_hh) {
  SB_CHECK(hx.size() == 2, "lstm_cell: hx: expected 2 states, got ", hx.size());
  check_defined("lstm_cell", hx[1]);
  const State after = run_step(kLstm, input, {hx[0], hx[1]}, {w_ih, w_hh, b_ih, b_hh, {}});
  return {after.h, after.c};
}

template <const Kind& kind>
Tensor cell_step(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                 const std::optional<Tensor>& b_ih, const std::optional<Tensor>& b_hh) {
  return run_step(kind, input, {hx, Tensor()}, {w_ih, w_hh, b_ih, b_hh, {}}).h;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, lstm, Tag::nondeterministic_seeded).composed(lstm_layers);
  define(m, gru, Tag::nondeterministic_seeded).composed(layers<kGru>);
  define(m, rnn_tanh, Tag::nondeterministic_seeded).composed(layers<kTanh>);
  define(m, rnn_relu, Tag::nondeterministic_seeded).composed(layers<kRelu>);
  define(m, lstm_cell).composed(lstm_cell_step);
  define(m, gru_cell).composed(cell_step<kGru>);
  define(m, rnn_tanh_cell).composed(cell_step<kTanh>);
  define(m, rnn_relu_cell).composed(cell_step<kRelu>);
}

}  // namespace sb
