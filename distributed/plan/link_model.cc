#include "switchboard/distributed/plan/link_model.h"

#include <bit>
#include <cstdint>

namespace sb {

double ring_seconds(const PlannedCall& call, const Link& link) {
  const double n = static_cast<double>(call.group_size), a = link.latency;
  const double all = static_cast<double>(call.bytes()) / link.bytes_per_second;
  switch (call.kind) {
    case CollectiveKind::AllReduce:
    case CollectiveKind::Broadcast:
      return 2 * (n - 1) * (a + all / n);
    case CollectiveKind::AllGather:
      return (n - 1) * (a + all);
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllToAll:
      return (n - 1) * (a + all / n);
    case CollectiveKind::Message:
      return a + all;
  }
  return 0;
}

double tree_seconds(const PlannedCall& call, const Link& link) {
  const double n = static_cast<double>(call.group_size), a = link.latency;
  const double h = std::bit_width(static_cast<uint64_t>(call.group_size) - 1);
  const double all = static_cast<double>(call.bytes()) / link.bytes_per_second;
  switch (call.kind) {
    case CollectiveKind::AllReduce:
      return 2 * h * (a + all);
    case CollectiveKind::AllGather:
      return h * a + (n - 1) * all;
    case CollectiveKind::ReduceScatter:
      return h * a + (n - 1) * all / n;
    case CollectiveKind::AllToAll:
      return h * (a + all / 2);
    case CollectiveKind::Broadcast:
      return h * (a + all);
    case CollectiveKind::Message:
      return a + all;
  }
  return 0;
}

}  // namespace sb
