#include "switchboard/distributed/parallel/placement.h"

#include <cstddef>

#include "switchboard/core/str_cat.h"

namespace sb {

std::string Placement::to_string() const {
  if (is_replicate()) return "Replicate";
  if (is_partial()) return "Partial";
  return pieces == 1 ? str_cat("Shard(", dim, ")") : str_cat("Shard(", dim, ", ", pieces, ")");
}

bool divides(const Placement& placement, absl::Span<const int64_t> sizes, int64_t ranks) {
  if (!placement.is_shard()) return true;
  if (placement.dim < 0 || static_cast<size_t>(placement.dim) >= sizes.size()) return false;
  const int64_t size = sizes[static_cast<size_t>(placement.dim)];
  return size > 0 && size % (ranks * placement.pieces) == 0;
}

std::vector<int64_t> local_sizes(const Placement& placement, absl::Span<const int64_t> sizes,
                                 int64_t ranks) {
  std::vector<int64_t> local(sizes.begin(), sizes.end());
  if (placement.is_shard()) local[static_cast<size_t>(placement.dim)] /= ranks;
  return local;
}

}  // namespace sb
