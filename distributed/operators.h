// The collective operators, by PyTorch's names and schemas. Programs call the functions of
// functional_collectives.h, which know the line of the call.
//
// `group_name` is a name or a Group. Functional forms take tensors of any strides and give
// contiguous ones; in-place and out= forms need contiguous memory to write to. Every operator
// throws what Call throws; RuntimeError, naming rank, operator and shapes, for tensors that do not
// fit it; and DistError where ranks part. On tensors without data nothing is sent, and the group
// need not be known.

#ifndef SWITCHBOARD_DISTRIBUTED_OPERATORS_H_
#define SWITCHBOARD_DISTRIBUTED_OPERATORS_H_

#include <string_view>

#include "switchboard/dispatch/typed_op.h"
#include "switchboard/ops/define/forms.h"

namespace sb {

// An in-place form whose argument is not called self.
template <class Tag>
consteval DerivedSchema<InplaceForm, Tag> inplace_form(const Op<Tag>&, std::string_view schema) {
  DerivedSchema<InplaceForm, Tag> form;
  form.append(schema);
  return form;
}

namespace c10d_functional {

SB_OP(all_reduce,
      "_c10d_functional::all_reduce(Tensor input, str reduce_op, Any group_name) -> Tensor");
SB_OP(all_reduce_, inplace_form(all_reduce,
                                "_c10d_functional::all_reduce_(Tensor(a!) input, str reduce_op, "
                                "Any group_name) -> Tensor(a!)"));
SB_OP(all_reduce_coalesced,
      "_c10d_functional::all_reduce_coalesced(Tensor[] inputs, str reduce_op, Any group_name) -> "
      "Tensor[]");
SB_OP(all_reduce_coalesced_,
      "_c10d_functional::all_reduce_coalesced_(Tensor[](a!) inputs, str reduce_op, Any group_name) "
      "-> Tensor[](a!)");

// Along dimension 0, in the order of ranks; a number becomes a vector.
SB_OP(all_gather_into_tensor,
      "_c10d_functional::all_gather_into_tensor(Tensor input, int group_size, Any group_name) -> "
      "Tensor");
SB_OP(all_gather_into_tensor_out,
      out_form(all_gather_into_tensor,
               "_c10d_functional::all_gather_into_tensor_out(Tensor input, int group_size, Any "
               "group_name, *, Tensor(a!) out) -> Tensor(a!)"));
SB_OP(all_gather_into_tensor_coalesced,
      "_c10d_functional::all_gather_into_tensor_coalesced(Tensor[] inputs, int group_size, Any "
      "group_name) -> Tensor[]");

// The reduction, of which each rank gets its part of dimension 0.
SB_OP(reduce_scatter_tensor,
      "_c10d_functional::reduce_scatter_tensor(Tensor input, str reduce_op, int group_size, Any "
      "group_name) -> Tensor");
SB_OP(reduce_scatter_tensor_out,
      out_form(reduce_scatter_tensor,
               "_c10d_functional::reduce_scatter_tensor_out(Tensor input, str reduce_op, int "
               "group_size, Any group_name, *, Tensor(a!) out) -> Tensor(a!)"));
SB_OP(reduce_scatter_tensor_coalesced,
      "_c10d_functional::reduce_scatter_tensor_coalesced(Tensor[] inputs, str reduce_op, int "
      "group_size, Any group_name) -> Tensor[]");

// Rows of dimension 0 to each rank, and from each.
SB_OP(all_to_all_single,
      "_c10d_functional::all_to_all_single(Tensor input, SymInt[] output_split_sizes, SymInt[] "
      "input_split_sizes, Any group_name) -> Tensor");

// What the rank `src` of the group has.
SB_OP(broadcast, "_c10d_functional::broadcast(Tensor input, int src, Any group_name) -> Tensor");
SB_OP(broadcast_, inplace_form(broadcast,
                               "_c10d_functional::broadcast_(Tensor(a!) input, int src, Any "
                               "group_name) -> Tensor(a!)"));

// The tensor itself, without a wait: whoever first reads its elements waits for them.
SB_OP(wait_tensor, "_c10d_functional::wait_tensor(Tensor tensor) -> Tensor");

// From rank to rank of the group. isend gives a tensor without elements, irecv the tensor that it
// writes to; both have no gradient, and refuse a tensor that requires one.
SB_OP(isend, "_c10d_functional::isend(Tensor tensor, int dst, int tag, str group_name) -> Tensor");
SB_OP(irecv, "_c10d_functional::irecv(Tensor tensor, int src, int tag, str group_name) -> Tensor");
// "isend" and "irecv" in any order; no rank waits for one that sends only later. Without a
// handle: a list of strings has no C++ type.
inline constexpr std::string_view kBatchP2pOps =
    "_c10d_functional::batch_p2p_ops(str[] op_list, int[] peer_list, int[] tag_list, Tensor[] "
    "tensors, str group_name) -> Tensor[]";

}  // namespace c10d_functional

namespace c10d_functional_autograd {

SB_OP(all_gather_into_tensor,
      "_c10d_functional_autograd::all_gather_into_tensor(Tensor input, int group_size, Any "
      "group_name) -> Tensor");
SB_OP(reduce_scatter_tensor,
      "_c10d_functional_autograd::reduce_scatter_tensor(Tensor input, str reduce_op, int "
      "group_size, Any group_name) -> Tensor");
SB_OP(all_to_all_single,
      "_c10d_functional_autograd::all_to_all_single(Tensor input, SymInt[] output_split_sizes, "
      "SymInt[] input_split_sizes, Any group_name) -> Tensor");

}  // namespace c10d_functional_autograd

namespace dtensor {

// Of a tensor that is sharded along `shard_dim` afterwards and along `gather_dim` before: each rank
// gives a part of `shard_dim` to each, and joins what it gets along `gather_dim`.
SB_OP(shard_dim_alltoall,
      "_dtensor::shard_dim_alltoall(Tensor input, int gather_dim, int shard_dim, Any group_name) "
      "-> Tensor");

}  // namespace dtensor
}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_OPERATORS_H_
