// What the ranks of a program would send, from one run of it on fake tensors.
//
//   World world(fake_engine(0, 1024));
//   const WorldGuard guard(&world);
//   const DeviceMesh mesh({{"data", 64}, {"tensor", 16}});
//   TrafficRecorder recorder(mesh);
//   { const ModeGuard mode(&recorder); program(); }
//   for (const RankKind& kind : rank_kinds(recorder.calls(), mesh.dims())) ...

#ifndef SWITCHBOARD_DISTRIBUTED_PLAN_TRAFFIC_H_
#define SWITCHBOARD_DISTRIBUTED_PLAN_TRAFFIC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/distributed/device_mesh.h"

namespace sb {

enum class CollectiveKind : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Broadcast,
  Message
};

// One call of a collective, with what its cost depends on.
struct PlannedCall {
  // A tensor that goes in.
  struct Part {
    int64_t numel;
    int64_t itemsize;
    int64_t bytes() const { return numel * itemsize; }
  };

  CollectiveKind kind;
  std::string op;  // "_c10d_functional::all_reduce"
  int64_t dim;     // the mesh's dimension that its group is; -1 for all ranks
  int64_t group_size;
  std::vector<Part> parts;
  std::vector<int64_t> rows = {};  // of an AllToAll: rows that go to each rank
  int64_t src = 0;                 // of a Broadcast

  int64_t bytes() const;  // of all parts
};

// Bytes that a rank sends to others in the call, where it has this place in the group: to the byte
// what the collectives here give their engine (collectives.h), ranks' comparison included.
int64_t bytes_sent(const PlannedCall& call, int64_t place);

// Writes down the collectives that it sees, and lets all calls go on.
class TrafficRecorder final : public DispatchMode {
 public:
  // The mesh must outlive it.
  explicit TrafficRecorder(const DeviceMesh& mesh) : mesh_(mesh) {}

  std::string name() const override { return "TrafficRecorder"; }
  bool only_watches() const override { return true; }
  // Throws RuntimeError for a group that is neither a dimension of the mesh nor all ranks, and
  // NotImplementedError for batches of messages.
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override;

  const std::vector<PlannedCall>& calls() const { return calls_; }

 private:
  const DeviceMesh& mesh_;
  std::vector<PlannedCall> calls_;
};

// Ranks that send as much as each other over each dimension.
struct RankKind {
  std::vector<int64_t> ranks;  // ascending
  std::vector<int64_t> sent;   // bytes by dimension; the last is of groups of all ranks
};

// All ranks of a mesh of all ranks which make these calls, grouped; those of the lowest ranks
// first.
std::vector<RankKind> rank_kinds(absl::Span<const PlannedCall> calls,
                                 absl::Span<const DeviceMesh::Dim> dims);

// The rank's place in a dimension of a mesh of all ranks, or in all ranks for -1.
int64_t place_of(int64_t rank, int64_t dim, absl::Span<const DeviceMesh::Dim> dims);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PLAN_TRAFFIC_H_
