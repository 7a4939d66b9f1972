// Chooses how ranks share the work of each node, and writes the graph of one of them.

#ifndef SWITCHBOARD_DISTRIBUTED_PARALLEL_SPLIT_PLAN_H_
#define SWITCHBOARD_DISTRIBUTED_PARALLEL_SPLIT_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "switchboard/distributed/parallel/op_call.h"
#include "switchboard/distributed/parallel/sharded_graph.h"
#include "switchboard/distributed/parallel/strategy.h"
#include "switchboard/io/exported/program.h"

namespace sb {

// Node by node, in order. Of the strategies that the node's rule has, and Replicate, it takes the
// first of those that send the fewest bytes. What is computed from one weight alone, such as its
// transpose, is put off until somebody wants it, and then made of the part that he wants.
class SplitPlan {
 public:
  SplitPlan(const io::Program& program, const io::SymbolValues& symbols, int64_t rank,
            int64_t ranks);

  // The graph of the rank, once.
  io::Graph take_graph();
  // How each input of the program lies there.
  const std::vector<Placement>& inputs() const { return inputs_; }
  const std::vector<AddedCollective>& collectives() const { return written_.collectives(); }
  // All ways in which the value lies; none for one that nobody wanted.
  std::vector<Placement> placements(const std::string& value) const;
  // Of the whole; nullptr for what the run decides.
  const io::TensorMeta* meta_of(const std::string& value) const;
  const io::Graph& whole() const { return graph_; }

 private:
  using Placements = std::map<std::string, Placement>;

  void define_inputs(const io::Program& program);
  void run_node(size_t node);
  // A node whose tensors are all whole, as they are not known or nobody knows a rule.
  void run_whole(const io::Node& node);
  Strategy choose(size_t node, const OpCall& call) const;
  int64_t cost(const OpCall& call, const Strategy& strategy) const;
  // How many of the parts that come of this one have to be gathered in the nodes behind.
  int64_t count_gathers(size_t node, const Placements& parts) const;
  // The same strategy, cut into as many pieces as lets most of what follows go on with parts; where
  // several of the nodes behind would gather, it is done once.
  Strategy with_best_pieces(size_t node, const OpCall& call, const Strategy& strategy) const;
  void emit(const io::Node& node, const OpCall& call, const Strategy& strategy);
  void emit_look_up(const io::Node& node, const OpCall& call, const Strategy& strategy);
  void finish_inputs();

  bool is_weight(const std::string& value) const { return weights_.contains(value); }
  std::string need(const std::string& value, const Placement& placement,
                   const std::string& because);
  // Of a weight that a node makes of another: from the part of that, if there is one that gives it.
  void make_weight(const std::string& value, const io::Node& node, const Placement& placement);

  const io::Graph graph_;  // with numbers for sizes
  const int64_t ranks_;
  ShardedGraph written_;
  absl::flat_hash_map<std::string, io::TensorMeta> metas_;
  // Weights, and what is computed from one; the node that does, or nullptr.
  std::map<std::string, const io::Node*> weights_;
  absl::flat_hash_map<std::string, int64_t> consumers_;  // nodes that take a value
  std::map<std::string, std::set<Placement>> wanted_;    // of weights that are inputs
  std::vector<Placement> inputs_;
  std::vector<io::Argument> graph_inputs_, graph_outputs_;
  std::vector<io::Node> first_nodes_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PARALLEL_SPLIT_PLAN_H_
