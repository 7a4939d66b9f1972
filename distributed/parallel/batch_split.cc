#include "switchboard/distributed/parallel/batch_split.h"

#include <utility>
#include <variant>

#include "switchboard/core/error.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/world.h"
#include "switchboard/io/exported/symbol_rules.h"
#include "switchboard/ops/views/views.h"

namespace sb {

BatchSplit::BatchSplit(const io::Program& program, absl::Span<const IValue> inputs)
    : program_(program) {
  const io::SymbolRules rules(program);
  for (const io::SymbolRules::Place& place : rules.places()) {
    if (place.dim != 0u) continue;
    const auto symbol = place.size.symbol();
    SB_CHECK_VALUE(symbol, "data parallel: ", place.name, " is ", place.size.to_string(),
                   ", expected a symbol, the batch");
    symbols_.insert(std::string(*symbol));
    inputs_.insert(place.input);
  }
  SB_CHECK_VALUE(!symbols_.empty(), "data parallel: ", program.origin,
                 " has no input whose first dimension, the batch, is dynamic");

  const io::SymbolNumbers numbers = rules.numbers_of(inputs);
  batch_ = inputs[*inputs_.begin()].to_tensor().size(0);
  for (const io::SymbolRules::Place& place : rules.places())
    if (place.dim == 0u)
      SB_CHECK_VALUE(numbers.at(std::string(*place.size.symbol())) == batch_,
                     "data parallel: ", place.name, ": expected the batch, ", batch_, " as ",
                     program.inputs[*inputs_.begin()].name, " has, got ",
                     numbers.at(std::string(*place.size.symbol())));
  for (const io::SymbolRules::Place& place : rules.places()) {
    if (place.dim == 0u) continue;
    place.size.for_each_symbol([&](const std::string& symbol) {
      SB_CHECK_VALUE(!symbols_.contains(symbol), "data parallel: ", place.name, " is ",
                     place.size.to_string(), ", which depends on the batch");
    });
  }
  SB_CHECK_VALUE(batch_ % get_world_size() == 0, "data parallel: input '",
                 program.inputs[*inputs_.begin()].name, "': expected a batch that ",
                 get_world_size(), " ranks can divide, got ", batch_);
  check_outputs();
}

void BatchSplit::check_outputs() const {
  for (const io::OutputSpec& output : program_.outputs) {
    SB_CHECK_VALUE(!io::is_mutation(output.kind), "data parallel: the program writes to '",
                   output.target, "', of which each rank would have another");
    SB_CHECK_VALUE(!std::holds_alternative<io::SymRef>(output.arg),
                   "data parallel: an output of the program is a number that depends on sizes");
    const auto* ref = std::get_if<io::TensorRef>(&output.arg);
    if (!ref) continue;
    const io::ValueMeta& meta = program_.graph.meta_of(ref->name);
    SB_CHECK_VALUE(has_batch_first(meta), "data parallel: output '", ref->name,
                   "': expected the batch, ", *symbols_.begin(),
                   ", as its first dimension and no other, got ", meta.describe());
  }
}

bool BatchSplit::has_batch_first(const io::ValueMeta& meta) const {
  if (meta.sizes.empty()) return false;
  const auto first = meta.sizes[0].symbol();
  bool again = false;
  for (size_t i = 1; i < meta.sizes.size(); ++i)
    meta.sizes[i].for_each_symbol(
        [&](const std::string& symbol) { again |= symbols_.contains(symbol); });
  return first && symbols_.contains(std::string(*first)) && !again;
}

std::vector<IValue> BatchSplit::part(std::vector<IValue> inputs) const {
  const int64_t size = batch_ / get_world_size();
  for (const size_t i : inputs_)
    inputs[i] = narrow(inputs[i].to_tensor(), 0, get_rank() * size, size);
  return inputs;
}

std::vector<Tensor> BatchSplit::gather(std::vector<Tensor> outputs) const {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (std::holds_alternative<io::TensorRef>(program_.outputs[i].arg))
      outputs[i] = all_gather_tensor(outputs[i], 0);
  return outputs;
}

}  // namespace sb
