// Operators along dimensions that they are told: reductions, sorts, running sums, gathers, joins.
//
// Such an operator does the same at every place of the other dimensions, so that a batch is one
// more of them. Whether the shapes come out right is looked at first, on tensors without data.

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/vmap/batched_tensor.h"
#include "switchboard/transforms/vmap/rules.h"
#include "switchboard/transforms/vmap/shapes.h"
#include "switchboard/transforms/vmap/shifted.h"

namespace sb::batching {
namespace {

// Those whose results depend on what is beside the dimension that they are told, or that lay all
// elements anew.
bool mixes_other_dims(const OperatorHandle& op) {
  constexpr std::string_view kNames[] = {"aten::renorm", "aten::_weight_norm", "aten::resize"};
  return std::ranges::any_of(
      kNames, [&](std::string_view name) { return op.name().name.starts_with(name); });
}

// None and an empty list of dimensions are all of them where an operator reduces.
bool is_all_dims(const IValue& dims) {
  return dims.is_None() || (dims.is_IntList() && dims.to_int_list().empty());
}

bool counts_from_end(const IValue& dims) {
  if (dims.is_Int()) return dims.to_int() < 0;
  return dims.is_IntList() &&
         std::ranges::any_of(dims.to_int_list(), [](int64_t d) { return d < 0; });
}

bool is_list_of_sizes(const Argument& argument, const IValue& value) {
  return (value.is_IntList() || value.is_SymIntList()) &&
         (argument.name.ends_with("size") || argument.name.ends_with("sizes"));
}

// The number of dimensions of the batched tensors, where all have as many.
std::optional<int64_t> common_rank(const BatchedCall& call) {
  std::optional<int64_t> rank;
  bool agree = true;
  call.for_each_tensor([&](const Tensor& t) {
    if (!call.is_batched(t)) return;
    agree &= rank.value_or(t.dim()) == t.dim();
    rank = t.dim();
  });
  return agree ? rank : std::nullopt;
}

// How the tensors of a call are shown to the operator.
struct Shown {
  int64_t batch;
  std::function<Tensor(const Tensor&)> batched;
  // A tensor that is not batched, expanded to a batch.
  std::function<Tensor(const Tensor&)> expanded;
  // A batched one of one dimension for each example.
  std::function<Tensor(const Tensor&)> flat;
};

Shown as_values(const BatchedCall& call) {
  const int64_t batch = call.level().size();
  return {batch, [&call](const Tensor& t) { return *call.value_of(t); },
          [&call](const Tensor& t) { return all_examples(t, call.level()); },
          [&call, batch](const Tensor& t) {
            return reshape(*call.value_of(t), {batch, t.sym_numel()});
          }};
}

// The same without data, and with a batch of a size that no other dimension has.
Shown as_shapes() {
  const auto with_batch = [](const Tensor& t) { return meta_batch(t, kUnlikelySize); };
  return {kUnlikelySize, with_batch, with_batch, [](const Tensor& t) {
            return meta_of({kUnlikelySize, t.sym_numel()}, t.dtype());
          }};
}

// A call whose dimensions are told.
class DimsCall {
 public:
  DimsCall(const BatchedCall& call, int64_t rank) : call_(call), rank_(rank) {}

  // The arguments, shown like that, with dimensions behind the batch; nullopt where these are not
  // told. `expands`: tensors of as many dimensions as the batched ones get a batch.
  std::optional<std::vector<IValue>> arguments(const Shown& shown, bool expands) const {
    const std::vector<Argument>& schema = call_.op().schema().arguments;
    std::vector<IValue> arguments;
    std::optional<size_t> numbers_elements;
    for (size_t i = 0; i < schema.size(); ++i) {
      const IValue& argument = call_.argument(i);
      if (is_list_of_sizes(schema[i], argument)) {
        arguments.push_back(with_first(shown.batch, argument));
      } else if (!names_dims(schema[i])) {
        arguments.push_back(map_tensors(argument, [&](const Tensor& t) {
          if (call_.is_batched(t)) return shown.batched(t);
          return expands && t.dim() == rank_ ? shown.expanded(t) : t;
        }));
      } else if (!is_all_dims(argument)) {
        // Without other dimensions, the last one would be the batch.
        if (rank_ == 0 && counts_from_end(argument)) return std::nullopt;
        arguments.push_back(behind_batch(argument));
      } else if (!call_.op().entry().has_tag(Tag::reduction) || rank_ == 0) {
        return std::nullopt;
      } else if (schema[i].type.is_list()) {
        arguments.push_back(dims_of_example());
      } else {
        // argmax and its like number the elements one behind the other.
        arguments.push_back(1);
        numbers_elements = i;
      }
    }
    if (numbers_elements) {
      if (!call_.argument(0).is_Tensor()) return std::nullopt;
      arguments[0] = shown.flat(call_.argument(0).to_tensor());
    }
    return arguments;
  }

  // The results; nullopt where such a call would give other shapes.
  std::optional<std::vector<IValue>> run(const std::vector<IValue>& example, bool expands) const {
    const Shown shapes = as_shapes();
    const auto rehearsed = arguments(shapes, expands);
    if (!rehearsed) return std::nullopt;
    const auto results = try_on_meta(call_.op(), meta_arguments(*rehearsed));
    if (!results || !has_batch_in_front(*results, example, shapes.batch)) return std::nullopt;
    return call_.batched_results(call_.call_below(*arguments(as_values(call_), expands)));
  }

 private:
  IValue dims_of_example() const {
    std::vector<int64_t> dims;
    for (int64_t d = 1; d <= rank_; ++d) dims.push_back(d);
    return dims;
  }

  const BatchedCall& call_;
  const int64_t rank_;
};

// The operator of that name that reduces along dimensions which it is told, in the place of one
// that reduces all: sum.dim_IntList for sum. nullopt where there is none.
std::optional<OperatorHandle> along_dims(const OperatorHandle& op) {
  for (const char* overload : {"dim", "dims", "dim_IntList", "dim_int", "ScalarOpt_dim"}) {
    const std::optional<OperatorHandle> found =
        op.entry().dispatcher().find_op(OperatorName{op.name().name, overload});
    if (found && found->schema().returns.size() == op.schema().returns.size()) return found;
  }
  return std::nullopt;
}

// Of an operator that reduces all of one tensor.
std::optional<std::vector<IValue>> reduce_all(const BatchedCall& call) {
  const OperatorHandle& op = call.op();
  if (!op.entry().has_tag(Tag::reduction) || op.schema().arguments.empty()) return std::nullopt;
  const IValue& self = call.argument(0);
  if (!self.is_Tensor() || !call.is_batched(self.to_tensor())) return std::nullopt;
  const std::optional<OperatorHandle> reduce = along_dims(op);
  if (!reduce) return std::nullopt;
  Stack stack;
  size_t taken = 0;
  for (const Argument& argument : reduce->schema().arguments) {
    const std::optional<size_t> same = op.schema().find_argument(argument.name);
    taken += same ? 1 : 0;
    if (stack.empty())
      stack.push_back(as_values(call).flat(self.to_tensor()));
    else if (same)
      stack.push_back(call.argument(*same));
    else if (names_dims(argument))
      stack.push_back(argument.type.is_list() ? IValue(std::vector<int64_t>{1}) : IValue(1));
    else if (argument.default_value)
      stack.push_back(*argument.default_value);
    else
      return std::nullopt;
  }
  if (taken != op.schema().arguments.size()) return std::nullopt;
  reduce->call_boxed(&stack);
  return call.batched_results(stack);
}

}  // namespace

std::optional<std::vector<IValue>> dims_rule(const BatchedCall& call) {
  const OperatorEntry& entry = call.op().entry();
  if (entry.has_tag(Tag::out) || mixes_other_dims(call.op())) return std::nullopt;
  const std::vector<Argument>& schema = call.op().schema().arguments;
  bool speaks_of_dims = false;
  for (size_t i = 0; i < schema.size(); ++i)
    speaks_of_dims |= names_dims(schema[i]) || is_list_of_sizes(schema[i], call.argument(i));
  if (!speaks_of_dims) return reduce_all(call);
  const std::optional<int64_t> rank = common_rank(call);
  if (!rank) return std::nullopt;
  const auto example = try_on_meta(call.op(), meta_arguments(call.arguments()));
  if (!example) return std::nullopt;
  const DimsCall along(call, *rank);
  for (bool expands : {true, false})
    if (auto results = along.run(*example, expands)) return results;
  return std::nullopt;
}

}  // namespace sb::batching
