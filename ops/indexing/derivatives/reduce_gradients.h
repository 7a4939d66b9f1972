// The gradients of reductions into places that indices choose: what scatter_reduce and index_reduce
// share.

#ifndef SWITCHBOARD_OPS_INDEXING_DERIVATIVES_REDUCE_GRADIENTS_H_
#define SWITCHBOARD_OPS_INDEXING_DERIVATIVES_REDUCE_GRADIENTS_H_

#include <array>
#include <functional>
#include <string_view>

#include "switchboard/core/scalar.h"
#include "switchboard/core/tensor.h"

namespace sb {

// How the elements of `source` meet those of a table of self's shape.
struct IndexedPlaces {
  // For each element of source, the table's at its place.
  std::function<Tensor(const Tensor& table)> read;
  // The table with each place increased, or multiplied, by its elements of `source`.
  std::function<Tensor(const Tensor& table, const Tensor& source)> add;
  std::function<Tensor(const Tensor& table, const Tensor& source)> multiply;
  // The table with a number where source has an element.
  std::function<Tensor(const Tensor& table, const Scalar& value)> fill;
};

// A call, and the gradient of its result. `reduce` is "sum", "prod", "mean", "amax" or "amin".
struct IndexedReduction {
  const Tensor& grad;
  const Tensor& self;
  const Tensor& source;
  const Tensor& result;
  std::string_view reduce;
  bool include_self;
};

// The gradients of self and of source; those that `needs` does not ask for may be undefined. Where
// several elements are the largest, they share the gradient evenly, as in PyTorch.
std::array<Tensor, 2> reduction_gradients(const IndexedReduction& call, const IndexedPlaces& places,
                                          const std::array<bool, 2>& needs);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_DERIVATIVES_REDUCE_GRADIENTS_H_
