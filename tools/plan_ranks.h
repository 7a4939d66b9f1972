// The part of `sb plan` that is about ranks which are not here.

#ifndef SWITCHBOARD_TOOLS_PLAN_RANKS_H_
#define SWITCHBOARD_TOOLS_PLAN_RANKS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/device.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/distributed/device_mesh.h"
#include "switchboard/distributed/plan/link_model.h"
#include "switchboard/io/exported/symbol_rules.h"
#include "switchboard/tools/command_line.h"
#include "switchboard/tools/plan/plan.h"

namespace sb::tools {

// What --ranks, --mesh, --link, --latency, --flops and --device-memory say.
struct RanksOptions {
  std::vector<DeviceMesh::Dim> mesh;
  std::optional<Link> link;
  std::optional<double> flops_per_second;
  std::optional<double> device_memory;  // bytes

  // Nothing where neither --ranks nor --mesh is given. Without a mesh all ranks are its dimension
  // "all". Throws ValueError, naming the flag, for what cannot be read, for a mesh that does not
  // make up the ranks, and for the other flags without ranks.
  static std::optional<RanksOptions> parse(const CommandLine& line);

  int64_t ranks() const;  // at most 1,000,000
};

// Plans the program at these sizes (of those that it leaves open), once, below a mode, on the
// device that the plan is for.
using PlanAt = std::function<plan::Plan(const io::SymbolNumbers& sizes, DispatchMode& mode)>;

// What is planned for one rank, which all others are like: they run the same program on inputs of
// the same sizes.
struct RanksPlan {
  plan::Plan plan;
  std::string text;
};

// Runs the program as rank 0, whose groups are "0" of all ranks, and the dimensions of the mesh by
// their names. Throws what the program throws.
RanksPlan plan_ranks(const RanksOptions& options, const PlanAt& plan_at, Device device,
                     const io::SymbolRules& rules, const io::SymbolNumbers& sizes);

// "50GB/s" in units such as {"GB/s", 1e9}. Throws ValueError that names the flag and lists the
// units.
struct Unit {
  std::string_view name;
  double factor;
};
absl::Span<const Unit> byte_units();  // B, kB, ..., GiB
double parse_quantity(std::string_view flag, std::string_view text, absl::Span<const Unit> units);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_PLAN_RANKS_H_
