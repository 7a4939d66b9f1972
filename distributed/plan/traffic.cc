#include "switchboard/distributed/plan/traffic.h"

#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/call.h"
#include "switchboard/distributed/collectives.h"
#include "switchboard/distributed/group.h"
#include "switchboard/distributed/operators.h"
#include "switchboard/distributed/text_line.h"
#include "switchboard/distributed/world.h"

namespace sb {
namespace {

// What goes before data, and before a message.
constexpr int64_t kOpeningBytes = sizeof(Call::Opening);
constexpr int64_t kMessageHeaderBytes = sizeof(uint64_t) + sizeof(TextLine);

std::optional<CollectiveKind> kind_of(std::string_view op) {
  if (op == dtensor::shard_dim_alltoall.name()) return CollectiveKind::AllToAll;
  constexpr std::string_view kNamespace = "_c10d_functional::";
  if (!op.starts_with(kNamespace)) return std::nullopt;
  const std::string_view name = op.substr(kNamespace.size());
  if (name.starts_with("all_reduce")) return CollectiveKind::AllReduce;
  if (name.starts_with("all_gather")) return CollectiveKind::AllGather;
  if (name.starts_with("reduce_scatter")) return CollectiveKind::ReduceScatter;
  if (name.starts_with("all_to_all")) return CollectiveKind::AllToAll;
  if (name.starts_with("broadcast")) return CollectiveKind::Broadcast;
  if (name == "isend") return CollectiveKind::Message;
  SB_CHECK_NOT_IMPLEMENTED(name == "irecv" || name == "wait_tensor", "TrafficRecorder: ", op,
                           " is not looked into");
  return std::nullopt;  // who receives sends nothing
}

int64_t dim_of(const Group& group, const DeviceMesh& mesh, std::string_view op) {
  for (size_t d = 0; d < mesh.dims().size(); ++d)
    if (mesh.group(mesh.dims()[d].name)->ranks() == group.ranks()) return static_cast<int64_t>(d);
  if (group.ranks() == world().group()->ranks()) return -1;
  SB_THROW(RuntimeError, op,
           ": expected a group that is a dimension of the mesh or all ranks, got '", group.name(),
           "' of ", group.size(), " ranks");
}

PlannedCall call_of(CollectiveKind kind, const std::string& op, const FunctionSchema& schema,
                    const Stack& stack, const DeviceMesh& mesh) {
  PlannedCall call{kind, op, -1, 0, {}};
  const size_t first = stack.size() - schema.arguments.size();
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const std::string& name = schema.arguments[i].name;
    const IValue& value = stack[first + i];
    if (name == "group_name") {
      const GroupPtr group = find_group(value);
      SB_CHECK(group, op, ": expected a group of the mesh, which are '0', all ranks, and '",
               absl::StrJoin(mesh.dims(), "', '",
                             [](std::string* out, const auto& dim) { *out += dim.name; }),
               "'; got ", value.to_string());
      call.dim = dim_of(*group, mesh, op);
      call.group_size = group->size();
    } else if (name == "input_split_sizes") {
      for (const SymInt& rows : value.to_sym_int_list()) call.rows.push_back(rows.expect_int());
    } else if (name == "src") {
      call.src = value.to_int();
    } else if (name != "out") {
      value.for_each_tensor([&](const Tensor& t) {
        call.parts.push_back({t.numel(), static_cast<int64_t>(t.itemsize())});
      });
    }
  }
  // Each rank gets an equal part.
  if (kind == CollectiveKind::AllToAll && call.rows.empty())
    call.rows.assign(static_cast<size_t>(call.group_size), 1);
  return call;
}

int64_t data_sent(const PlannedCall& call, const PlannedCall::Part& part, int64_t place) {
  const int64_t n = call.group_size, bytes = part.bytes();
  switch (call.kind) {
    case CollectiveKind::AllReduce: {
      if (call.parts.size() == 1 && goes_with_opening(bytes)) return 0;
      if (bytes <= static_cast<int64_t>(kSmallAllReduceBytes)) return (n - 1) * bytes;
      // The others' parts to them, and this rank's, reduced, to all.
      const int64_t mine = (part.numel / n + (place < part.numel % n ? 1 : 0)) * part.itemsize;
      return bytes - mine + (n - 1) * mine;
    }
    case CollectiveKind::AllGather:
      return (n - 1) * bytes;
    case CollectiveKind::ReduceScatter:
      return bytes - bytes / n;
    case CollectiveKind::AllToAll: {
      const int64_t rows = std::accumulate(call.rows.begin(), call.rows.end(), int64_t{0});
      const int64_t kept = rows == 0 ? 0 : bytes / rows * call.rows.at(static_cast<size_t>(place));
      // Ranks first say how many rows go where, and come from there.
      return bytes - kept + (n - 1) * 2 * n * static_cast<int64_t>(sizeof(int64_t));
    }
    case CollectiveKind::Broadcast:
      return place == call.src ? (n - 1) * bytes : 0;
    case CollectiveKind::Message:
      return kMessageHeaderBytes + bytes;
  }
  return 0;
}

}  // namespace

int64_t PlannedCall::bytes() const {
  int64_t sum = 0;
  for (const Part& part : parts) sum += part.bytes();
  return sum;
}

int64_t bytes_sent(const PlannedCall& call, int64_t place) {
  int64_t sum = call.kind == CollectiveKind::Message ? 0 : (call.group_size - 1) * kOpeningBytes;
  for (const PlannedCall::Part& part : call.parts) sum += data_sent(call, part, place);
  return sum;
}

void TrafficRecorder::call(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const std::string name = op.name().to_string();
  const std::optional<CollectiveKind> kind = kind_of(name);
  if (!kind) return op.call_boxed(stack);
  PlannedCall call = call_of(*kind, name, op.schema(), *stack, mesh_);
  op.call_boxed(stack);
  calls_.push_back(std::move(call));
}

int64_t place_of(int64_t rank, int64_t dim, absl::Span<const DeviceMesh::Dim> dims) {
  if (dim < 0) return rank;
  for (size_t d = dims.size() - 1; d > static_cast<size_t>(dim); --d) rank /= dims[d].size;
  return rank % dims[static_cast<size_t>(dim)].size;
}

std::vector<RankKind> rank_kinds(absl::Span<const PlannedCall> calls,
                                 absl::Span<const DeviceMesh::Dim> dims) {
  int64_t size = 1;
  for (const DeviceMesh::Dim& dim : dims) size *= dim.size;
  std::vector<RankKind> kinds;
  std::map<std::vector<int64_t>, size_t> known;
  for (int64_t rank = 0; rank < size; ++rank) {
    std::vector<int64_t> sent(dims.size() + 1);
    for (const PlannedCall& call : calls)
      sent[call.dim < 0 ? dims.size() : static_cast<size_t>(call.dim)] +=
          bytes_sent(call, place_of(rank, call.dim, dims));
    const auto [found, fresh] = known.try_emplace(sent, kinds.size());
    if (fresh) kinds.push_back({{}, sent});
    kinds[found->second].ranks.push_back(rank);
  }
  return kinds;
}

}  // namespace sb
