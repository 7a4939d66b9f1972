// Running an operator on tensors without data first, to learn what it would refuse and what it
// would make of its arguments' shapes.

#ifndef SWITCHBOARD_OPS_OUTPUTS_META_REHEARSAL_H_
#define SWITCHBOARD_OPS_OUTPUTS_META_REHEARSAL_H_

#include <optional>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb {

// Whether what serves meta tensors is a kernel for all devices, and no shape rule: it may read
// memory.
bool meta_runs_kernel_for_all_devices(const OperatorHandle& op);

// Runs the operator's kernel at Meta, which it has, on meta tensors, below all layers and modes:
// the arguments on the stack become the results. false where these depend on data. Throws what the
// kernel throws.
bool run_at_meta(const OperatorHandle& op, Stack* stack);

// Holds a meta tensor for every tensor of a call, sharing storages as these do, on which the
// operator has run.
class MetaRehearsal {
 public:
  // Runs the operator's kernel at Meta, below all layers and modes. Throws what it throws: the
  // errors that mutating operators have and their functional forms have not. nullopt where nothing
  // can be learned: no kernel at Meta, one that reads memory, or a result that depends on data.
  static std::optional<MetaRehearsal> run(const OperatorHandle& op,
                                          absl::Span<const IValue> arguments);

  // The meta tensor of an argument, as the operator left it.
  const Tensor& after(const Tensor& argument) const { return tensors_.at(argument.impl()); }
  // Returns whether the operator gave the argument another storage.
  bool changed_storage(const Tensor& argument) const {
    return after(argument).storage() != storages_.at(argument.storage().get());
  }
  // The storage of an argument, whose stand-in this argument now has; nullptr for one that the
  // operator made.
  const StorageImpl* storage_of(const Tensor& argument) const;

 private:
  MetaRehearsal() = default;
  Tensor stand_in(const Tensor& tensor);
  Storage stand_in_storage(const Storage& storage);

  absl::flat_hash_map<const TensorImpl*, Tensor> tensors_;
  absl::flat_hash_map<const StorageImpl*, Storage> storages_;
};

}  // namespace sb

#endif  // SWITCHBOARD_OPS_OUTPUTS_META_REHEARSAL_H_
