#include "switchboard/distributed/parallel/tensor_split.h"

#include <cstddef>
#include <utility>
#include <variant>

#include "switchboard/core/error.h"
#include "switchboard/distributed/parallel/split_plan.h"
#include "switchboard/distributed/parallel/splittable.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// A copy of the rank's part, with memory of its own.
Tensor part_of(const Tensor& tensor, const Placement& placement, int64_t rank, int64_t ranks) {
  std::vector<int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  const size_t dim = static_cast<size_t>(placement.dim);
  sizes[dim] /= placement.pieces * ranks;
  std::vector<Tensor> parts;
  for (int64_t piece = 0; piece < placement.pieces; ++piece)
    parts.push_back(narrow(tensor, placement.dim, (piece * ranks + rank) * sizes[dim], sizes[dim]));
  return parts.size() == 1 ? clone(parts[0], MemoryFormat::Contiguous) : cat(parts, placement.dim);
}

void shrink(io::StoredTensor* stored, const Placement& placement, int64_t rank, int64_t ranks) {
  stored->meta.sizes = local_sizes(placement, stored->meta.sizes, ranks);
  stored->meta.storage_offset = 0;
  int64_t stride = 1;
  for (size_t d = stored->meta.sizes.size(); d-- > 0; stride *= stored->meta.sizes[d])
    stored->meta.strides[d] = stride;
  if (stored->data.defined()) stored->data = part_of(stored->data, placement, rank, ranks);
}

io::StoredTensor& stored_of(io::ModelArchive* archive, const io::InputSpec& input) {
  const io::StoredTensor* const stored = archive->stored(input);
  for (auto* tensors : {&archive->weights, &archive->constants})
    for (io::StoredTensor& one : *tensors)
      if (&one == stored) return one;
  SB_THROW(RuntimeError, "tensor parallel: input '", input.name, "' is not stored");
}

std::string op_of(const io::Program& program, const std::string& name) {
  for (const io::InputSpec& input : program.inputs)
    if (input.name == name) return input.kind == io::InputKind::User ? "input" : "weight";
  return "";
}

std::vector<PlacedValue> placed_values(const io::Program& program, const SplitPlan& plan) {
  std::vector<PlacedValue> values;
  const auto add = [&](const std::string& op) {
    return [&values, &plan, op](const std::string& name) {
      const io::TensorMeta* const meta = plan.meta_of(name);
      const std::vector<Placement> placements = plan.placements(name);
      if (!placements.empty())
        values.push_back({name, op, meta ? *meta : io::TensorMeta(), placements});
    };
  };
  for (const io::Argument& input : plan.whole().inputs)
    if (const auto* ref = std::get_if<io::TensorRef>(&input))
      add(op_of(program, ref->name))(ref->name);
  for (const io::Node& node : plan.whole().nodes)
    for (const io::Argument& output : node.outputs) io::for_each_name(output, add(node.target()));
  return values;
}

}  // namespace

TensorSplit::TensorSplit(const io::ModelArchive& archive, const io::SymbolNumbers& sizes,
                         int64_t rank, int64_t ranks)
    : archive_(archive), rank_(rank), ranks_(ranks) {
  check_splittable(archive.program.graph);
  SplitPlan plan(archive.program, io::as_values(sizes), rank, ranks);
  values_ = placed_values(archive.program, plan);
  collectives_ = plan.collectives();
  inputs_ = plan.inputs();

  io::Program& program = archive_.program;
  program.graph = plan.take_graph();
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    io::InputSpec& input = program.inputs[i];
    if (inputs_[i].is_replicate()) continue;
    shrink(&stored_of(&archive_, input), inputs_[i], rank, ranks);
    input.name = ShardedGraph::name_of(input.name, inputs_[i]);
  }
  for (size_t i = 0; i < program.outputs.size(); ++i)
    if (std::holds_alternative<io::SymRef>(program.outputs[i].arg))
      program.outputs[i].arg = program.graph.outputs[i];
}

std::vector<IValue> TensorSplit::part(std::vector<IValue> inputs) const {
  SB_ASSERT(inputs.size() == inputs_.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs_[i].is_shard() && inputs[i].to_tensor().defined())
      inputs[i] = part_of(inputs[i].to_tensor(), inputs_[i], rank_, ranks_);
  return inputs;
}

}  // namespace sb
