// Tensor parallelism: each rank runs a program with its part of the weights.
//
//   const TensorSplit split(archive, sizes, get_rank(), get_world_size());
//   const GraphRunner runner(split.archive().program);
//   outputs = runner.run(split.part(inputs), device);  // on each rank all of them

#ifndef SWITCHBOARD_DISTRIBUTED_PARALLEL_TENSOR_SPLIT_H_
#define SWITCHBOARD_DISTRIBUTED_PARALLEL_TENSOR_SPLIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/distributed/parallel/placement.h"
#include "switchboard/distributed/parallel/sharded_graph.h"
#include "switchboard/io/exported/model_archive.h"
#include "switchboard/io/exported/symbol_rules.h"

namespace sb {

// Where a value of the program lies, in the order of the program; a weight may lie in several ways.
struct PlacedValue {
  std::string value;
  std::string op;       // "aten::addmm"; "weight" or "input" for what the program takes
  io::TensorMeta meta;  // of the whole
  std::vector<Placement> placements;  // the first is that of the operator's call
};

// A program of one rank, made of one that knows no ranks: an exported program like any other, whose
// nodes are the operators on this rank's parts and the collectives between them. It is made before
// the run, by rules of operators alone (op_rules.h): a matrix product cuts the weight that it
// takes, what follows goes on with parts as long as its rule says how, and is gathered where none
// does.
class TensorSplit {
 public:
  // `sizes` are numbers for the program's symbols. Ranks are those of the group "0". Throws
  // NotImplementedError, naming the node, for a program that writes to tensors, draws random
  // numbers, has collectives of its own, or depends on how tensors lie in memory (as_strided).
  TensorSplit(const io::ModelArchive& archive, const io::SymbolNumbers& sizes, int64_t rank,
              int64_t ranks);

  // The program of this rank, with the weights that it needs; data is there where it was.
  const io::ModelArchive& archive() const { return archive_; }
  // What the program of this rank takes, of what the program takes.
  std::vector<IValue> part(std::vector<IValue> inputs) const;

  const std::vector<PlacedValue>& values() const { return values_; }
  const std::vector<AddedCollective>& collectives() const { return collectives_; }

 private:
  io::ModelArchive archive_;
  const int64_t rank_, ranks_;
  std::vector<Placement> inputs_;  // of each of the program's
  std::vector<PlacedValue> values_;
  std::vector<AddedCollective> collectives_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PARALLEL_TENSOR_SPLIT_H_
