// Collectives as functions: what programs call. As `torch.distributed._functional_collectives`.
//
//   const Tensor sum = all_reduce(x, "sum");
//   const Tensor columns = all_gather_tensor(x, /*gather_dim=*/1, mesh.group("tensor"));
//
// Each is an operator of operators.h, with gradients, and the line of the call: where ranks part,
// the error names it. All ranks of the group call the same, in the same order; the group is that of
// all ranks unless one is given.

#ifndef SWITCHBOARD_DISTRIBUTED_FUNCTIONAL_COLLECTIVES_H_
#define SWITCHBOARD_DISTRIBUTED_FUNCTIONAL_COLLECTIVES_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/core/source_location.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/schema/cpp_types.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/distributed/group.h"

namespace sb {

// A group, by itself or by its name; that of all ranks where nothing is said.
class GroupRef {
 public:
  GroupRef() : value_("0") {}
  GroupRef(std::string_view name) : value_(name) {}  // NOLINT: all of these are groups
  GroupRef(const char* name) : value_(name) {}       // NOLINT
  GroupRef(const GroupPtr& group)                    // NOLINT
      : value_(IntrusivePtr<OpaqueObject>(group)) {}

  const IValue& value() const { return value_; }

 private:
  IValue value_;
};

// The reduction of all ranks' tensors: sum, avg, product, min, max, band, bor, bxor.
Tensor all_reduce(const Tensor& self, std::string_view reduce_op, const GroupRef& group = {},
                  SourceLocation where = SourceLocation::current());
std::vector<Tensor> all_reduce_coalesced(TensorList self, std::string_view reduce_op,
                                         const GroupRef& group = {},
                                         SourceLocation where = SourceLocation::current());
// The same into the tensor itself.
void all_reduce_(const Tensor& self, std::string_view reduce_op, const GroupRef& group = {},
                 SourceLocation where = SourceLocation::current());
// All ranks' tensors joined along a dimension, in the order of ranks.
Tensor all_gather_tensor(const Tensor& self, int64_t gather_dim, const GroupRef& group = {},
                         SourceLocation where = SourceLocation::current());
// The reduction of all ranks' tensors, of which each gets its part of a dimension that the number
// of ranks divides.
Tensor reduce_scatter_tensor(const Tensor& self, std::string_view reduce_op, int64_t scatter_dim,
                             const GroupRef& group = {},
                             SourceLocation where = SourceLocation::current());
// Rows of dimension 0 to each rank, and from each; without sizes as many to each.
Tensor all_to_all_single(const Tensor& self, OptionalIntArrayRef output_split_sizes = {},
                         OptionalIntArrayRef input_split_sizes = {}, const GroupRef& group = {},
                         SourceLocation where = SourceLocation::current());
// What the rank `src` of the group has.
Tensor broadcast(const Tensor& self, int64_t src, const GroupRef& group = {},
                 SourceLocation where = SourceLocation::current());
void broadcast_(const Tensor& self, int64_t src, const GroupRef& group = {},
                SourceLocation where = SourceLocation::current());
// To and from one rank of the group. send() does not wait for its receiver; receive() fills the
// tensor. Both come after this rank's earlier collectives, for which they wait.
void send(const Tensor& tensor, int64_t dst, int64_t tag = 0, std::string_view group = "0",
          SourceLocation where = SourceLocation::current());
void receive(const Tensor& tensor, int64_t src, int64_t tag = 0, std::string_view group = "0",
             SourceLocation where = SourceLocation::current());
// Returns when all ranks of the group have called it.
void barrier(const GroupRef& group = {}, SourceLocation where = SourceLocation::current());

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_FUNCTIONAL_COLLECTIVES_H_
