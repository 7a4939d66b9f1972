#include "switchboard/transforms/vmap/vmap.h"

#include <algorithm>

#include "switchboard/core/error.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/vmap/batched_tensor.h"
#include "switchboard/transforms/vmap/level.h"

namespace sb::batching {
namespace {

using Dims = std::vector<std::optional<int64_t>>;

// in_dims, each counted from the front.
Dims input_dims(const std::vector<Tensor>& inputs, const VmapOptions& options) {
  Dims dims = options.in_dims.empty() ? Dims(inputs.size(), 0) : options.in_dims;
  SB_CHECK_VALUE(dims.size() == inputs.size(), "vmap: in_dims: expected ", inputs.size(),
                 ", one for each input, got ", dims.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!dims[i]) continue;
    SB_CHECK_VALUE(inputs[i].defined(), "vmap: input ", i,
                   ": expected a tensor, as it has an in_dim, got an undefined one");
    const int64_t rank = inputs[i].dim();
    SB_CHECK_VALUE(*dims[i] >= -rank && *dims[i] < rank, "vmap: in_dims: input ", i, " is ",
                   inputs[i].describe(), ", whose dimensions are from ", -rank, " to ", rank - 1,
                   "; got ", *dims[i]);
    if (*dims[i] < 0) *dims[i] += rank;
  }
  SB_CHECK_VALUE(
      std::ranges::any_of(dims, [](const auto& dim) { return dim.has_value(); }),
      "vmap: in_dims: no input has one, so that nothing says how many examples there are");
  return dims;
}

int64_t number_of_examples(const std::vector<Tensor>& inputs, const Dims& dims) {
  std::optional<int64_t> size;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!dims[i]) continue;
    const int64_t here = inputs[i].size(*dims[i]);
    SB_CHECK_VALUE(size.value_or(here) == here, "vmap: input ", i, ": expected ", *size,
                   " examples, as in the inputs before it, got ", here);
    size = here;
  }
  return *size;
}

Dims output_dims(size_t results, const VmapOptions& options) {
  const Dims& given = options.out_dims;
  if (given.empty()) return Dims(results, 0);
  if (given.size() == 1) return Dims(results, given[0]);
  SB_CHECK_VALUE(given.size() == results, "vmap: out_dims: expected ", results,
                 ", one for each result, got ", given.size());
  return given;
}

Tensor move_batch(const Tensor& t, int64_t from, int64_t to) {
  return from == to ? t : movedim_int(t, from, to);
}

// The examples of an input, as a tensor of its own: what the function marks is not the input.
Tensor batch_of(const Tensor& input, int64_t dim) {
  return dim == 0 ? alias(input) : movedim_int(input, dim, 0);
}

// A result of the function, below the level.
Tensor result_of(const Tensor& result, size_t i, std::optional<int64_t> dim, const Level& level) {
  if (!dim) {
    SB_CHECK_VALUE(!batched_impl(result, level), "vmap: result ", i, ", ", result.describe(),
                   ", is not the same for all examples; its out_dim must be a number");
    return result;
  }
  const int64_t rank = result.dim() + 1;
  SB_CHECK_INDEX(*dim >= -rank && *dim < rank, "vmap: out_dims: result ", i, " has ", rank,
                 " dimensions with that of the examples, from ", -rank, " to ", rank - 1, "; got ",
                 *dim);
  return move_batch(all_examples(result, level), 0, *dim < 0 ? *dim + rank : *dim);
}

std::vector<Tensor> run(const control_flow::FunctionArgument& f, const std::vector<Tensor>& inputs,
                        const Dims& in_dims, int64_t size, const VmapOptions& options,
                        bool more_follow = false) {
  const RunningLevel running(size, options.randomness);
  std::vector<Tensor> given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool batched = in_dims[i].has_value();
    given.push_back(batched ? make_batched(batch_of(inputs[i], *in_dims[i]), &*running)
                            : inputs[i]);
  }
  std::vector<Tensor> results;
  {
    const FunctionTransformGuard guard(&*running);
    results = f(given);
  }
  if (more_follow) (*running).rewind_draws();
  const Dims out_dims = output_dims(results.size(), options);
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = result_of(results[i], i, out_dims[i], *running);
  return results;
}

}  // namespace

std::vector<Tensor> call_vmap(const IValue& function, const std::vector<Tensor>& inputs,
                              const VmapOptions& options) {
  const control_flow::FunctionArgument f("vmap", "f", function);
  const Dims dims = input_dims(inputs, options);
  const int64_t size = number_of_examples(inputs, dims);
  if (!options.chunk_size) return run(f, inputs, dims, size, options);
  const int64_t chunk = *options.chunk_size;
  SB_CHECK_VALUE(chunk > 0, "vmap: chunk_size: expected a positive number, got ", chunk);
  std::vector<std::vector<Tensor>> columns;  // for each result, its chunks
  for (int64_t start = 0; start < std::max<int64_t>(size, 1); start += chunk) {
    const int64_t length = std::min(chunk, size - start);
    std::vector<Tensor> part = inputs;
    for (size_t i = 0; i < part.size(); ++i)
      if (dims[i]) part[i] = narrow(part[i], *dims[i], start, length);
    const std::vector<Tensor> results = run(f, part, dims, length, options, start + chunk < size);
    columns.resize(results.size());
    for (size_t i = 0; i < results.size(); ++i) columns[i].push_back(results[i]);
  }
  const Dims out_dims = output_dims(columns.size(), options);
  std::vector<Tensor> joined;
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool one = !out_dims[i] || columns[i].size() == 1;
    joined.push_back(one ? columns[i][0] : cat(columns[i], *out_dims[i]));
  }
  return joined;
}

}  // namespace sb::batching
