// The graph of one rank, as it is written: nodes, and the values of the whole program as they lie
// on the ranks.

#ifndef SWITCHBOARD_DISTRIBUTED_PARALLEL_SHARDED_GRAPH_H_
#define SWITCHBOARD_DISTRIBUTED_PARALLEL_SHARDED_GRAPH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "switchboard/distributed/parallel/placement.h"
#include "switchboard/io/exported/program.h"

namespace sb {

// A collective that the program does not have, and why it is there.
struct AddedCollective {
  std::string op;     // "_c10d_functional::all_reduce"
  std::string value;  // of the program, that it is about
  Placement from, to;
  io::TensorMeta sent;  // what goes in, on each rank
  std::string because;  // "addmm_1, aten::addmm, takes it as 'mat1'"
};

// Of a tensor with the strides that a contiguous one of these sizes has.
io::TensorMeta contiguous_meta(DType dtype, std::vector<int64_t> sizes);

// A value has a name for each way in which it lies: its own where it is whole, "x.shard1" for a
// part of dimension 1, "x.partial" for a summand.
class ShardedGraph {
 public:
  ShardedGraph(int64_t rank, int64_t ranks) : rank_(rank), ranks_(ranks) {}

  static std::string name_of(const std::string& value, const Placement& placement);

  // A value that is there from now on: an input of the graph, or a node's output. `meta` is that of
  // the whole.
  void define(const std::string& value, const Placement& placement, const io::TensorMeta& meta);
  // The same of a whole value with the metadata that the program has of it; `meta` is nullptr where
  // the run decides its sizes.
  void define_as_is(const std::string& value, const io::ValueMeta& recorded,
                    const io::TensorMeta* meta);
  bool knows(const std::string& value) const { return values_.contains(value); }
  bool has(const std::string& value, const Placement& placement) const;
  // In the order in which they came.
  std::vector<Placement> all_placements(const std::string& value) const;
  // Those other than Replicate that the value has; none after use_whole().
  std::vector<Placement> placements(const std::string& value) const;

  // The value as it is to lie, from what there is: a name for the arguments of nodes. Adds the
  // nodes that bring it there, once; collectives are written down with `because`.
  std::string need(const std::string& value, const Placement& placement,
                   const std::string& because);
  // Of a value that is there as a whole: nobody is to go on with its parts.
  void use_whole(const std::string& value) { values_.at(value).only_whole = true; }
  // As need(), without defining it.
  void make_from_whole(const std::string& value, const Placement& placement);
  // What need() would have to send, in bytes of a rank; 0 where the value is cut or there.
  int64_t cost(const std::string& value, const Placement& placement) const;

  void add(io::Node node) { nodes_.push_back(std::move(node)); }
  // A call of an operator whose first argument is a tensor, and what it gives.
  std::string call(std::string_view op, std::string_view overload, const std::string& result,
                   std::vector<io::NamedArgument> arguments, const io::TensorMeta& meta);
  // A name that nothing has, which begins so.
  std::string fresh(std::string_view stem);

  int64_t rank() const { return rank_; }
  int64_t ranks() const { return ranks_; }
  const std::vector<AddedCollective>& collectives() const { return collectives_; }

  // All nodes and metadata, which are then gone from here.
  std::vector<io::Node> take_nodes() { return std::exchange(nodes_, {}); }
  absl::flat_hash_map<std::string, io::ValueMeta> take_metas() { return std::move(metas_); }

 private:
  struct Value {
    io::TensorMeta meta;
    std::vector<Placement> there;
    bool only_whole = false;
  };

  void set_meta(const std::string& name, const io::TensorMeta& meta);
  // Each gives the name of what it made.
  std::string gather(const std::string& value, const Placement& from, const std::string& because);
  std::string reduce(const std::string& value, const std::string& because);
  std::string cut(const std::string& value, const Placement& to);
  std::string reshape(const std::string& from, const std::string& result,
                      std::vector<int64_t> sizes, DType dtype);
  std::string wait(const std::string& from, const std::string& result, const io::TensorMeta& meta);

  const int64_t rank_, ranks_;
  std::map<std::string, Value> values_;
  std::vector<io::Node> nodes_;
  absl::flat_hash_map<std::string, io::ValueMeta> metas_;
  std::vector<AddedCollective> collectives_;
  int64_t next_ = 0;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PARALLEL_SHARDED_GRAPH_H_
