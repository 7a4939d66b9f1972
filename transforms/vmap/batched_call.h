// What happens to a call that has batched tensors.

#ifndef SWITCHBOARD_TRANSFORMS_VMAP_BATCHED_CALL_H_
#define SWITCHBOARD_TRANSFORMS_VMAP_BATCHED_CALL_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/transforms/vmap/level.h"

namespace sb::batching {

// Whether the operator draws random numbers, by its tag nondeterministic_seeded.
bool draws_randomly(const OperatorHandle& op);
// Whether an argument on the end of the stack is, or has in it, a tensor of the level.
bool has_batched(const Level& level, const OperatorHandle& op, const Stack& stack);

// Handles a call on the level, which the thread has taken away: replaces the arguments by the
// results. In this order:
//
// 1. the operator's own rule for vmap: a kernel at FuncTorchBatched (register_vmap);
// 2. one that is made of others, by its CompositeImplicitAutograd kernel, or by
// Tag::derived_through:
//    that kernel runs with the level, and each call that it makes comes here again;
// 3. the first of the rules for whole classes of operators that takes the call;
// 4. the loop over the examples, which is right for every operator.
//
// Throws RuntimeError, naming the operator, for what is different from one example to the next and
// cannot be: a write to a tensor that is not batched, a size, a number, random numbers where they
// are refused; and what the operator throws.
void call_batched(Level* level, const OperatorHandle& op, DispatchKeySet keys, Stack* stack);

// For kernels at FuncTorchBatched: the level that the call on the end of the stack is for, the
// innermost of its tensors'. RuntimeError, naming the operator, for a tensor of a level that is
// over; the error of a call without a kernel where no tensor is batched.
Level& level_of_call(const OperatorHandle& op, DispatchKeySet keys, const Stack& stack);

// A call, for rules.
class BatchedCall {
 public:
  BatchedCall(Level* level, const OperatorHandle& op, const Stack& stack);

  Level& level() const { return *level_; }
  const OperatorHandle& op() const { return op_; }
  // "aten::add_.Tensor: vmap level 1": how errors begin.
  std::string who() const;
  // As the program gave them, by the schema's order.
  const std::vector<IValue>& arguments() const { return arguments_; }
  const IValue& argument(size_t i) const { return arguments_[i]; }

  bool is_batched(const Tensor& tensor) const { return value_of(tensor).has_value(); }
  // Of a batched tensor, all examples; nullopt for any other.
  std::optional<Tensor> value_of(const Tensor& tensor) const;
  // Calls f for every tensor that is defined among the arguments.
  void for_each_tensor(absl::FunctionRef<void(const Tensor&)> f) const;

  // Calls the operator on values, below the level.
  std::vector<IValue> call_below(std::vector<IValue> arguments) const;
  // The results of a call by those of one on values: tensors of the level; what the schema says is
  // written to and given back is the argument itself.
  std::vector<IValue> batched_results(const std::vector<IValue>& values) const;

 private:
  // The argument that result `i` is, by the schema; nullopt if it is none.
  std::optional<size_t> returned_argument(size_t i) const;

  Level* level_;
  const OperatorHandle& op_;
  std::vector<IValue> arguments_;
};

// Throws RuntimeError, naming the argument, where a tensor is written to that is not batched: it
// has room for one example only.
void check_written_are_batched(const BatchedCall& call);

// A rule for a class of operators: the results, or nullopt, with nothing done, where the call is
// none of its own.
using BatchingRule = std::optional<std::vector<IValue>> (*)(const BatchedCall& call);

}  // namespace sb::batching

#endif  // SWITCHBOARD_TRANSFORMS_VMAP_BATCHED_CALL_H_
