// Derivatives of collectives: collectives again, which every rank calls in its backward pass.
//
// The loss is the sum of the ranks' losses, as in PyTorch: the gradient of an input is what it does
// to the losses of all ranks.

#include "switchboard/autograd/derivatives.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/call.h"
#include "switchboard/distributed/operators.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// A product, a minimum, a maximum and bits have none that a collective could tell.
void check_linear(std::string_view op, std::string_view reduce_op) {
  SB_CHECK(reduce_op == "sum" || reduce_op == "avg", op,
           ": only the reductions sum and avg have a gradient, got '", reduce_op, "'");
}

// Gradients of a list of results: zeros where one was not used, since the other ranks wait for all.
// A result has `times` the rows of its input, and then a part of these.
std::vector<Tensor> dense_gradients(absl::Span<const Tensor> grads,
                                    absl::Span<const InputMetadata> inputs, int64_t times,
                                    int64_t parts) {
  std::vector<Tensor> all;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (grads[i].defined()) {
      all.push_back(contiguous(grads[i]));
      continue;
    }
    std::vector<SymInt> sizes(inputs[i].sizes.begin(), inputs[i].sizes.end());
    if (sizes.empty() && times > 1) sizes.emplace_back(1);
    if (!sizes.empty()) sizes[0] = sizes[0] * times / parts;
    all.push_back(zeros(sizes, inputs[i].dtype, std::nullopt, inputs[i].device));
  }
  return all;
}

Tensor all_reduce_gradient(std::string_view op, const Tensor& grad, std::string_view reduce_op,
                           const IValue& group_name) {
  check_linear(op, reduce_op);
  return c10d_functional::wait_tensor(
      c10d_functional::all_reduce(contiguous(grad), reduce_op, group_name));
}

// Of a number, which became a vector, a number.
Tensor all_gather_gradient(const Tensor& grad, const InputMetadata& input, int64_t group_size,
                           const IValue& group_name) {
  const Tensor part = c10d_functional::wait_tensor(
      c10d_functional::reduce_scatter_tensor(contiguous(grad), "sum", group_size, group_name));
  return input.dim() == 0 ? squeeze_dim(part, 0) : part;
}

Tensor reduce_scatter_gradient(const Tensor& grad, std::string_view reduce_op, int64_t group_size,
                               const IValue& group_name) {
  check_linear(c10d_functional::reduce_scatter_tensor.name(), reduce_op);
  const Tensor all = c10d_functional::wait_tensor(
      c10d_functional::all_gather_into_tensor(contiguous(grad), group_size, group_name));
  return reduce_op == "avg" ? div_Scalar(all, group_size) : all;
}

// The source gets what all ranks did with its elements; the other ranks' went nowhere.
Tensor broadcast_gradient(const Tensor& grad, int64_t src, const IValue& group_name) {
  const Tensor sum = c10d_functional::wait_tensor(
      c10d_functional::all_reduce(contiguous(grad), "sum", group_name));
  const GroupPtr group = find_group(group_name);
  return group && group->rank() != src ? zeros_like(sum) : sum;
}

std::vector<Tensor> all_reduce_gradients(absl::Span<const Tensor> grads,
                                         absl::Span<const InputMetadata> inputs,
                                         std::string_view reduce_op, const IValue& group_name) {
  check_linear(c10d_functional::all_reduce_coalesced.name(), reduce_op);
  return c10d_functional::all_reduce_coalesced(dense_gradients(grads, inputs, 1, 1), reduce_op,
                                               group_name);
}

std::vector<Tensor> all_gather_gradients(absl::Span<const Tensor> grads,
                                         absl::Span<const InputMetadata> inputs, int64_t group_size,
                                         const IValue& group_name) {
  std::vector<Tensor> parts = c10d_functional::reduce_scatter_tensor_coalesced(
      dense_gradients(grads, inputs, group_size, 1), "sum", group_size, group_name);
  for (size_t i = 0; i < parts.size(); ++i)
    if (inputs[i].dim() == 0) parts[i] = squeeze_dim(parts[i], 0);
  return parts;
}

std::vector<Tensor> reduce_scatter_gradients(absl::Span<const Tensor> grads,
                                             absl::Span<const InputMetadata> inputs,
                                             std::string_view reduce_op, int64_t group_size,
                                             const IValue& group_name) {
  check_linear(c10d_functional::reduce_scatter_tensor_coalesced.name(), reduce_op);
  std::vector<Tensor> all = c10d_functional::all_gather_into_tensor_coalesced(
      dense_gradients(grads, inputs, 1, group_size), group_size, group_name);
  if (reduce_op == "avg")
    for (Tensor& t : all) t = div_Scalar(t, group_size);
  return all;
}

// Messages have no gradient: a rank that receives one would have to send it back, at a time that
// nothing tells. So that none is lost, they take no tensor that requires one.
void refuse_gradients(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const size_t n = op.entry().num_arguments();
  for (size_t i = stack->size() - n; i < stack->size(); ++i)
    (*stack)[i].for_each_tensor([&](const Tensor& t) {
      SB_CHECK_NOT_IMPLEMENTED(!is_grad_enabled() || !internal::needs_grad(t),
                               op.name().to_string(), ": has no gradient, and ", t.describe(),
                               " requires one; detach it");
    });
  op.redispatch_boxed(internal::keys_below_recording(keys), stack);
}

}  // namespace

SB_LIBRARY_IMPL(_c10d_functional, Autograd, m) {
  using namespace c10d_functional;  // NOLINT
  derive(m, all_reduce,
         SB_GRAD(input, (grad, reduce_op, group_name),
                 all_reduce_gradient(all_reduce.name(), grad, reduce_op, group_name)));
  derive(m, all_gather_into_tensor,
         SB_GRAD(input, (grad, input_meta, group_size, group_name),
                 all_gather_gradient(grad, input_meta, group_size, group_name)));
  derive(m, reduce_scatter_tensor,
         SB_GRAD(input, (grad, reduce_op, group_size, group_name),
                 reduce_scatter_gradient(grad, reduce_op, group_size, group_name)));
  derive(m, all_to_all_single,
         SB_GRAD(input, (grad, output_split_sizes, input_split_sizes, group_name),
                 wait_tensor(all_to_all_single(contiguous(grad), input_split_sizes,
                                               output_split_sizes, group_name))));
  derive(m, all_reduce_coalesced,
         SB_GRAD(inputs, (grads, inputs_meta, reduce_op, group_name),
                 all_reduce_gradients(grads, inputs_meta, reduce_op, group_name)));
  derive(m, all_gather_into_tensor_coalesced,
         SB_GRAD(inputs, (grads, inputs_meta, group_size, group_name),
                 all_gather_gradients(grads, inputs_meta, group_size, group_name)));
  derive(m, reduce_scatter_tensor_coalesced,
         SB_GRAD(inputs, (grads, inputs_meta, reduce_op, group_size, group_name),
                 reduce_scatter_gradients(grads, inputs_meta, reduce_op, group_size, group_name)));
  derive(m, broadcast,
         SB_GRAD(input, (grad, src, group_name), broadcast_gradient(grad, src, group_name)));
  for (const std::string_view op :
       {isend.name(), irecv.name(), kBatchP2pOps.substr(0, kBatchP2pOps.find('('))})
    m.impl(op, DispatchKey::Autograd, refuse_gradients);
}

SB_LIBRARY_IMPL(_dtensor, Autograd, m) {
  derive(m, dtensor::shard_dim_alltoall,
         SB_GRAD(input, (grad, gather_dim, shard_dim, group_name),
                 dtensor::shard_dim_alltoall(contiguous(grad), shard_dim, gather_dim, group_name)));
}

}  // namespace sb
