// A group whose ranks stand in a grid with named dimensions.

#ifndef SWITCHBOARD_DISTRIBUTED_DEVICE_MESH_H_
#define SWITCHBOARD_DISTRIBUTED_DEVICE_MESH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/distributed/group.h"
#include "switchboard/distributed/world.h"

namespace sb {

// As `torch.distributed.device_mesh.DeviceMesh`: DeviceMesh({{"data", 2}, {"tensor", 4}}) has rank
// 4 * d + t of the group at (d, t). Every rank makes the same meshes.
class DeviceMesh {
 public:
  struct Dim {
    std::string name;
    int64_t size;
  };

  // Of this thread's world, and all its ranks or those of `group`, in order. Throws ValueError
  // where the sizes do not make up the number of ranks, one is less than 1, or a name occurs twice.
  explicit DeviceMesh(std::vector<Dim> dims, const GroupPtr& group = world().group());

  const std::vector<Dim>& dims() const { return dims_; }
  // The ranks that differ from this one in that dimension only. Throws ValueError for a dimension
  // that there is not, RuntimeError on a rank that is not in the mesh.
  const GroupPtr& group(std::string_view dim) const;
  // This rank's place in that dimension. The same errors.
  int64_t coordinate(std::string_view dim) const { return group(dim)->rank(); }

 private:
  std::vector<Dim> dims_;
  std::vector<GroupPtr> groups_;  // by dimension; empty on a rank that is not in the mesh
};

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_DEVICE_MESH_H_
