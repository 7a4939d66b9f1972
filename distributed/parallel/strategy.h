// The ways in which ranks can share the work of one operator.

#ifndef SWITCHBOARD_DISTRIBUTED_PARALLEL_STRATEGY_H_
#define SWITCHBOARD_DISTRIBUTED_PARALLEL_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/distributed/parallel/op_call.h"
#include "switchboard/distributed/parallel/placement.h"

namespace sb {

// If the tensors that the operator takes lie so, each rank's call gives its part of the results.
struct Strategy {
  std::vector<Placement> uses;     // one for each of the call's uses
  std::vector<Placement> results;  // one for each of its results
  // Arguments with other values than the program's, as they count elements of parts.
  std::vector<std::pair<std::string, io::Argument>> edits = {};
  // A look-up in a table whose rows are sharded: rows of other ranks count as zeros.
  bool rows_of_others_are_zero = false;
  // The result is a part, and is gathered at once, for all who take it.
  bool is_gathered = false;

  // All whole, which is right for every operator.
  static Strategy replicate(const OpCall& call);
};

// What there is to choose from.
struct Choice {
  int64_t ranks;
  // The placements, other than Replicate, that a use has already.
  std::function<std::vector<Placement>(size_t use)> placements;
  // Whether a use can be cut without sending anything, as a weight can.
  std::function<bool(size_t use)> is_weight;
  // Into how many pieces a dimension is cut where the cutting begins: 1 unless something asks.
  int64_t pieces = 1;
};

// What the dimensions of an operator's tensors have to do with each other: those of one label are
// cut together.
struct Dims {
  static constexpr int kWhole = -1;  // a dimension that is not cut

  std::vector<std::vector<int>> uses;     // a label for each dimension
  std::vector<std::vector<int>> results;  // the same
  // The labels by which a weight may be cut where nothing is cut yet, the best first.
  std::vector<int> starts = {};
  // The labels over which the operator adds, and so none of its results': these are then summands.
  std::vector<int> summed = {};
  // Uses that are added to the sum, once.
  std::vector<size_t> added = {};
  // Uses in which the operator is linear, all of them together; summands give summands.
  std::vector<size_t> linear = {};
  // The argument that says the sizes of the first result.
  std::string size_argument = {};
};

// The strategies other than Replicate that the labels allow, with those first that are preferred
// where they cost the same.
std::vector<Strategy> strategies_of(const OpCall& call, const Dims& dims, const Choice& choice);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PARALLEL_STRATEGY_H_
