#include "switchboard/distributed/parallel/split_plan.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/parallel/fixed_sizes.h"
#include "switchboard/distributed/parallel/look_up_rows.h"
#include "switchboard/distributed/parallel/op_rules.h"

namespace sb {
namespace {

// Into how many pieces it is tried to cut a dimension; as one matrix may be three or four.
constexpr int64_t kMostPieces = 4;
// How many nodes are looked at for that.
constexpr size_t kLookAhead = 256;

std::string label(const io::Node& node) { return node.name.empty() ? node.target() : node.name; }

// The argument with other names in it.
template <class Rename>
io::Argument renamed(const io::Argument& argument, const Rename& rename) {
  io::Argument result = argument;
  if (auto* ref = std::get_if<io::TensorRef>(&result)) {
    ref->name = rename(ref->name);
  } else if (auto* refs = std::get_if<io::TensorRefs>(&result)) {
    for (io::TensorRef& one : *refs) one.name = rename(one.name);
  } else if (auto* some = std::get_if<io::OptionalTensorRefs>(&result)) {
    for (auto& one : *some)
      if (one) one->name = rename(one->name);
  }
  return result;
}

bool is_mutated(const io::Program& program, const io::InputSpec& input) {
  return std::ranges::any_of(program.outputs, [&](const io::OutputSpec& output) {
    return io::is_mutation(output.kind) &&
           (output.target == input.target || output.target == input.name);
  });
}

}  // namespace

SplitPlan::SplitPlan(const io::Program& program, const io::SymbolValues& symbols, int64_t rank,
                     int64_t ranks)
    : graph_(with_fixed_sizes(program.graph, symbols)), ranks_(ranks), written_(rank, ranks) {
  for (const auto& [name, meta] : graph_.tensor_values) {
    const auto known = [&](const io::Expression& e) { return e.is_known(symbols); };
    if (std::ranges::all_of(meta.sizes, known) && std::ranges::all_of(meta.strides, known))
      metas_.emplace(name, meta.at(symbols));
  }
  for (const io::Node& node : graph_.nodes)
    for (const io::NamedArgument& input : node.inputs)
      io::for_each_name(input.value, [&](const std::string& name) { ++consumers_[name]; });
  define_inputs(program);
  for (size_t n = 0; n < graph_.nodes.size(); ++n) run_node(n);
  for (size_t i = 0; i < graph_.outputs.size(); ++i)
    graph_outputs_.push_back(renamed(graph_.outputs[i], [&](const std::string& name) {
      return need(name, Placement::replicate(), str_cat("is output ", i, " of the program"));
    }));
  finish_inputs();
}

const io::TensorMeta* SplitPlan::meta_of(const std::string& value) const {
  const auto known = metas_.find(value);
  return known == metas_.end() ? nullptr : &known->second;
}

std::vector<Placement> SplitPlan::placements(const std::string& value) const {
  return written_.all_placements(value);
}

void SplitPlan::define_inputs(const io::Program& program) {
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const auto* ref = std::get_if<io::TensorRef>(&graph_.inputs[i]);
    if (!ref) continue;
    const io::InputSpec& spec = program.inputs[i];
    const bool is_stored = spec.kind == io::InputKind::Parameter ||
                           spec.kind == io::InputKind::Buffer ||
                           spec.kind == io::InputKind::TensorConstant;
    if (is_stored && meta_of(ref->name) && !is_mutated(program, spec))
      weights_.emplace(ref->name, nullptr);
    else
      written_.define_as_is(ref->name, graph_.meta_of(ref->name), meta_of(ref->name));
  }
}

std::string SplitPlan::need(const std::string& value, const Placement& placement,
                            const std::string& because) {
  const auto weight = weights_.find(value);
  if (weight != weights_.end() && !written_.has(value, placement)) {
    if (weight->second) {
      make_weight(value, *weight->second, placement);
    } else {
      wanted_[value].insert(placement);
      written_.define(value, placement, metas_.at(value));
    }
  }
  // Whatever else a node's arguments name is a number.
  if (!written_.knows(value)) return value;
  return written_.need(value, placement, because);
}

void SplitPlan::make_weight(const std::string& value, const io::Node& node,
                            const Placement& placement) {
  const auto call = OpCall::read(node, [this](const std::string& name) { return meta_of(name); });
  SB_ASSERT(call);
  if (placement.is_shard()) {
    std::set<int64_t> pieces = {placement.pieces};
    for (int64_t p = 1; p <= kMostPieces; ++p) pieces.insert(p);
    const SizeList& sizes = call->uses()[0].sizes;
    for (int64_t dim = 0; dim < std::ssize(sizes); ++dim)
      for (const int64_t p : pieces) {
        const Placement from = Placement::shard(dim, p);
        if (!divides(from, sizes, ranks_)) continue;
        const Choice choice{ranks_, [&](size_t) { return std::vector<Placement>{from}; },
                            [](size_t) { return false; }};
        for (const Strategy& strategy : find_rule(node)->strategies(*call, choice))
          if (strategy.uses[0] == from && strategy.results[0] == placement)
            return emit(node, *call, strategy);
      }
  }
  if (!written_.has(value, Placement::replicate())) emit(node, *call, Strategy::replicate(*call));
}

void SplitPlan::run_node(size_t n) {
  const io::Node& node = graph_.nodes[n];
  const auto call = OpCall::read(node, [this](const std::string& name) { return meta_of(name); });
  if (!call || node.kind != io::TargetKind::Operator) return run_whole(node);
  const OpRule* const rule = find_rule(node);
  if (rule && rule->keeps_weights && call->uses().size() == 1 && call->results().size() == 1 &&
      is_weight(call->uses()[0].name)) {
    weights_.emplace(call->results()[0].name, &node);
    return;
  }
  emit(node, *call, choose(n, *call));
}

int64_t SplitPlan::cost(const OpCall& call, const Strategy& strategy) const {
  int64_t bytes = 0;
  for (size_t u = 0; u < call.uses().size(); ++u)
    if (const std::string& name = call.uses()[u].name; !is_weight(name))
      bytes += written_.cost(name, strategy.uses[u]);
  return bytes;
}

Strategy SplitPlan::choose(size_t n, const OpCall& call) const {
  Strategy best = Strategy::replicate(call);
  const OpRule* const rule = find_rule(graph_.nodes[n]);
  if (!rule) return best;
  const Choice choice{ranks_,
                      [&](size_t use) {
                        const std::string& name = call.uses()[use].name;
                        if (is_weight(name)) return std::vector<Placement>();
                        std::vector<Placement> there = written_.placements(name);
                        // Whoever else takes the sum would add again.
                        if (consumers_.at(name) > 1)
                          std::erase_if(there, [](const auto& p) { return p.is_partial(); });
                        return there;
                      },
                      [&](size_t use) { return is_weight(call.uses()[use].name); }};
  std::vector<Strategy> strategies = rule->strategies(call, choice);
  strategies.push_back(best);
  int64_t least = std::numeric_limits<int64_t>::max();
  for (Strategy& strategy : strategies) {
    const int64_t bytes = cost(call, strategy);
    if (bytes >= least) continue;
    least = bytes;
    best = std::move(strategy);
  }
  return with_best_pieces(n, call, best);
}

Strategy SplitPlan::with_best_pieces(size_t n, const OpCall& call, const Strategy& strategy) const {
  // Where the cutting begins: one tensor is whole, and one result a part.
  const auto begins = [&](size_t u) {
    return is_weight(call.uses()[u].name) || strategy.uses[u].is_replicate();
  };
  bool all_begin = strategy.results.size() == 1 && strategy.results[0].is_shard();
  for (size_t u = 0; u < call.uses().size(); ++u) all_begin &= begins(u);
  if (!all_begin) return strategy;
  Strategy best = strategy;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t pieces = 1; pieces <= kMostPieces; ++pieces) {
    const Choice choice{ranks_, [](size_t) { return std::vector<Placement>(); },
                        [&](size_t use) { return is_weight(call.uses()[use].name); }, pieces};
    for (Strategy& other : find_rule(graph_.nodes[n])->strategies(call, choice)) {
      if (other.results[0] != Placement::shard(strategy.results[0].dim, pieces)) continue;
      const int64_t gathers = count_gathers(n, {{call.results()[0].name, other.results[0]}});
      if (gathers >= least) continue;
      least = gathers;
      best = std::move(other);
    }
  }
  best.is_gathered = least > 1;
  return best;
}

int64_t SplitPlan::count_gathers(size_t first, const Placements& begin) const {
  Placements parts = begin;
  int64_t gathers = 0;
  const size_t end = std::min(graph_.nodes.size(), first + 1 + kLookAhead);
  for (size_t n = first + 1; n < end; ++n) {
    const io::Node& node = graph_.nodes[n];
    bool takes_part = false;
    for (const io::NamedArgument& input : node.inputs)
      io::for_each_name(input.value,
                        [&](const std::string& name) { takes_part |= parts.contains(name); });
    if (!takes_part) continue;
    const auto call = OpCall::read(node, [this](const std::string& name) { return meta_of(name); });
    const OpRule* const rule = find_rule(node);
    bool goes_on = false;
    if (call && rule) {
      const auto placements = [&](size_t use) {
        const auto part = parts.find(call->uses()[use].name);
        return part == parts.end() ? std::vector<Placement>() : std::vector{part->second};
      };
      const Choice choice{ranks_, placements,
                          [&](size_t use) { return is_weight(call->uses()[use].name); }};
      for (const Strategy& strategy : rule->strategies(*call, choice)) {
        bool fits = true;
        for (size_t u = 0; u < call->uses().size(); ++u)
          if (const auto part = parts.find(call->uses()[u].name); part != parts.end())
            fits &= part->second == strategy.uses[u];
        if (!fits) continue;
        for (size_t r = 0; r < call->results().size(); ++r)
          if (strategy.results[r].is_shard())
            parts.insert_or_assign(call->results()[r].name, strategy.results[r]);
        goes_on = true;
        break;
      }
    }
    gathers += goes_on ? 0 : 1;
  }
  return gathers;
}

void SplitPlan::run_whole(const io::Node& node) {
  io::Node written = node;
  for (io::NamedArgument& input : written.inputs)
    input.value = renamed(input.value, [&](const std::string& name) {
      return need(name, Placement::replicate(),
                  str_cat(label(node), ", ", node.target(), ", takes it"));
    });
  for (const io::Argument& output : node.outputs)
    io::for_each_name(output, [&](const std::string& name) {
      const auto meta = graph_.tensor_values.find(name);
      if (meta != graph_.tensor_values.end())
        written_.define_as_is(name, meta->second, meta_of(name));
    });
  written_.add(std::move(written));
}

void SplitPlan::emit(const io::Node& node, const OpCall& call, const Strategy& strategy) {
  if (strategy.rows_of_others_are_zero) return emit_look_up(node, call, strategy);
  io::Node written = node;
  size_t next = 0;
  for (io::NamedArgument& input : written.inputs)
    input.value = renamed(input.value, [&](const std::string& name) {
      return need(name, strategy.uses[next++],
                  str_cat(label(node), ", ", node.target(), ", takes it as '", input.name, "'"));
    });
  for (const auto& [argument, value] : strategy.edits)
    for (io::NamedArgument& input : written.inputs)
      if (input.name == argument) input.value = value;
  if (is_reshape(node.op) && node.overload != "dtype") {
    // Parts, and what was gathered, may lie otherwise in memory than the whole.
    const OpCall::Result& result = call.results()[0];
    written.inputs.resize(1);
    written.inputs.push_back({"shape", local_sizes(strategy.results[0], result.sizes, ranks_)});
    written.op = "aten::reshape";
    written.overload = "";
  }
  size_t result = 0;
  for (io::Argument& output : written.outputs)
    output = renamed(output, [&](const std::string& name) {
      const Placement& placement = strategy.results[result++];
      written_.define(name, placement, metas_.at(name));
      return ShardedGraph::name_of(name, placement);
    });
  written_.add(std::move(written));
  if (!strategy.is_gathered) return;
  const std::string& name = call.results()[0].name;
  need(name, Placement::replicate(), "several of those that take it need it whole");
  written_.use_whole(name);
}

void SplitPlan::emit_look_up(const io::Node& node, const OpCall& call, const Strategy& strategy) {
  const auto because = [&](size_t use) {
    return str_cat(label(node), ", ", node.target(), ", takes it as '", call.uses()[use].argument,
                   "'");
  };
  const std::string table = need(call.uses()[0].name, strategy.uses[0], because(0));
  const std::string rows = need(call.uses()[1].name, strategy.uses[1], because(1));
  const OpCall::Result& result = call.results()[0];
  written_.define(result.name, Placement::partial(), metas_.at(result.name));
  look_up_rows(table, rows, call, ShardedGraph::name_of(result.name, Placement::partial()),
               &written_);
}

// Of a weight that is wanted in one way only, a rank has no more than that.
void SplitPlan::finish_inputs() {
  first_nodes_ = {};
  std::vector<io::Node> nodes = written_.take_nodes();
  for (const io::Argument& input : graph_.inputs) {
    inputs_.push_back(Placement::replicate());
    graph_inputs_.push_back(input);
    const auto* ref = std::get_if<io::TensorRef>(&input);
    if (!ref || !is_weight(ref->name)) continue;
    const std::set<Placement>& wanted = wanted_[ref->name];
    if (wanted.size() == 1 && wanted.begin()->is_shard()) {
      inputs_.back() = *wanted.begin();
      graph_inputs_.back() = io::TensorRef{ShardedGraph::name_of(ref->name, inputs_.back())};
      continue;
    }
    if (!wanted.contains(Placement::replicate()))
      written_.define(ref->name, Placement::replicate(), metas_.at(ref->name));
    for (const Placement& placement : wanted)
      if (!placement.is_replicate()) written_.make_from_whole(ref->name, placement);
  }
  first_nodes_ = written_.take_nodes();
  first_nodes_.insert(first_nodes_.end(), std::make_move_iterator(nodes.begin()),
                      std::make_move_iterator(nodes.end()));
}

io::Graph SplitPlan::take_graph() {
  io::Graph graph;
  graph.place = graph_.place;
  graph.inputs = std::move(graph_inputs_);
  graph.outputs = std::move(graph_outputs_);
  graph.nodes = std::move(first_nodes_);
  graph.tensor_values = written_.take_metas();
  graph.sym_values = graph_.sym_values;
  graph.is_single_tensor_return = graph_.is_single_tensor_return;
  return graph;
}

}  // namespace sb
