// How a value lies on the ranks of a group.

#ifndef SWITCHBOARD_DISTRIBUTED_PARALLEL_PLACEMENT_H_
#define SWITCHBOARD_DISTRIBUTED_PARALLEL_PLACEMENT_H_

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace sb {

// As the placements of `torch.distributed.tensor`, over one dimension of ranks:
//
//   Replicate      every rank has the whole value
//   Shard(d)       dimension d is cut into a part for each rank, in the order of ranks
//   Shard(d, p)    dimension d is cut into p pieces first, and each of them into a part for each
//                  rank: a rank has p parts, one behind the other. So lies what was two dimensions,
//                  of which the inner one was sharded (in PyTorch _StridedShard).
//   Partial        every rank has a summand of the value
struct Placement {
  enum class Kind : uint8_t { Replicate, Shard, Partial };
  Kind kind = Kind::Replicate;
  int64_t dim = 0;     // of Shard
  int64_t pieces = 1;  // of Shard

  static Placement replicate() { return {}; }
  static Placement shard(int64_t dim, int64_t pieces = 1) { return {Kind::Shard, dim, pieces}; }
  static Placement partial() { return {Kind::Partial, 0, 1}; }

  bool is_replicate() const { return kind == Kind::Replicate; }
  bool is_shard() const { return kind == Kind::Shard; }
  bool is_partial() const { return kind == Kind::Partial; }

  std::string to_string() const;  // "Shard(1)"
  auto operator<=>(const Placement&) const = default;
};

// Whether `ranks` get equal parts, none of them empty, of a value of these sizes.
bool divides(const Placement& placement, absl::Span<const int64_t> sizes, int64_t ranks);
// The sizes of a rank's part of a value, which divides() admits.
std::vector<int64_t> local_sizes(const Placement& placement, absl::Span<const int64_t> sizes,
                                 int64_t ranks);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PARALLEL_PLACEMENT_H_
