#include "switchboard/distributed/device_mesh.h"

#include <utility>

#include "switchboard/core/error.h"

namespace sb {

DeviceMesh::DeviceMesh(std::vector<Dim> dims, const GroupPtr& group) : dims_(std::move(dims)) {
  int64_t size = 1;
  for (size_t d = 0; d < dims_.size(); ++d) {
    SB_CHECK_VALUE(dims_[d].size >= 1, "DeviceMesh: expected sizes of at least 1, got ",
                   dims_[d].size, " of '", dims_[d].name, "'");
    for (size_t other = 0; other < d; ++other)
      SB_CHECK_VALUE(dims_[d].name != dims_[other].name, "DeviceMesh: '", dims_[d].name,
                     "' occurs twice");
    size *= dims_[d].size;
  }
  SB_CHECK_VALUE(size == group->size(), "DeviceMesh: the sizes make up ", size,
                 " ranks, and the group has ", group->size());
  int64_t stride = size;
  for (const Dim& dim : dims_) {
    stride /= dim.size;
    // Lines of ranks along this dimension; every rank makes them all, as new_group() wants.
    for (int64_t first = 0; first < size; ++first) {
      if (first / stride % dim.size != 0) continue;
      std::vector<int64_t> ranks;
      for (int64_t i = 0; i < dim.size; ++i)
        ranks.push_back(group->ranks()[static_cast<size_t>(first + i * stride)]);
      const GroupPtr line = new_group(std::move(ranks));
      if (line->rank() >= 0) groups_.push_back(line);
    }
  }
}

const GroupPtr& DeviceMesh::group(std::string_view dim) const {
  for (size_t d = 0; d < dims_.size(); ++d) {
    if (dims_[d].name != dim) continue;
    SB_CHECK(!groups_.empty(), "DeviceMesh: rank ", get_rank(), " is not in the mesh");
    return groups_[d];
  }
  SB_THROW(ValueError, "DeviceMesh: there is no dimension '", dim, "'");
}

}  // namespace sb
