// The rules for classes of operators, and those for all others.

#ifndef SWITCHBOARD_TRANSFORMS_VMAP_RULES_H_
#define SWITCHBOARD_TRANSFORMS_VMAP_RULES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "switchboard/transforms/vmap/batched_call.h"

namespace sb::batching {

// Calls the operator for each example, on views of the values, and stacks what it gives. Right for
// every operator but those that give views; as slow as a loop. `before` is told of each example.
std::vector<IValue> loop_over_examples(
    const BatchedCall& call, absl::FunctionRef<void(int64_t)> before = [](int64_t) {});

// Of an operator that draws random numbers: by the level's randomness.
std::vector<IValue> random_call(const BatchedCall& call);

// Views, by where their elements lie. RuntimeError for a view that depends on data.
std::optional<std::vector<IValue>> view_rule(const BatchedCall& call);
// Operators of each element alone: tensors of fewer dimensions get some behind the batch.
std::optional<std::vector<IValue>> pointwise_rule(const BatchedCall& call);
// Operators along dimensions that arguments name: these count from behind the batch.
std::optional<std::vector<IValue>> dims_rule(const BatchedCall& call);
// Products of vectors and matrices, by matmul.
std::optional<std::vector<IValue>> product_rule(const BatchedCall& call);

// Operators that have a batch of their own in front.
std::optional<std::vector<IValue>> leading_rule(const BatchedCall& call);
// Elements by indices: x[i, j].
std::optional<std::vector<IValue>> index_rule(const BatchedCall& call);

inline constexpr BatchingRule kClassRules[] = {view_rule,    pointwise_rule, dims_rule,
                                               product_rule, leading_rule,   index_rule};

}  // namespace sb::batching

#endif  // SWITCHBOARD_TRANSFORMS_VMAP_RULES_H_
