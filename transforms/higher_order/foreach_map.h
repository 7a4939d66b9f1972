// A function of lists of tensors, one call for all of them.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_FOREACH_MAP_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_FOREACH_MAP_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"
#include "switchboard/transforms/higher_order/base_hop.h"

namespace sb {

// `higher_order::foreach_map(subgraph, operands)`: a Callable and the tensors of all lists, one
// list after the other.
const higher_order::BaseHop& foreach_map_hop();

// f(lists[0][i], lists[1][i], ...) for each i, one tensor each. As `foreach_map`: a graph keeps all
// of it as one call, to be fused. As many as the shortest list has. f takes its tensors one by one,
// or as one list, and gives one tensor.
template <class F>
std::vector<Tensor> foreach_map(F f, const std::vector<std::vector<Tensor>>& lists) {
  SB_CHECK_VALUE(!lists.empty(), "higher_order::foreach_map: expected at least one list, got none");
  size_t count = lists[0].size();
  for (const std::vector<Tensor>& list : lists) count = std::min(count, list.size());
  std::vector<Tensor> operands;
  for (const std::vector<Tensor>& list : lists)
    operands.insert(operands.end(), list.begin(),
                    list.begin() + static_cast<std::ptrdiff_t>(count));
  const control_flow::FunctionArgument one("higher_order::foreach_map", "f",
                                           tensor_callable("higher_order::foreach_map: f", f));
  const auto all = [one, count, num_lists = lists.size()](const std::vector<Tensor>& in) {
    std::vector<Tensor> results;
    for (size_t i = 0; i < count; ++i) {
      std::vector<Tensor> slice;
      for (size_t n = 0; n < num_lists; ++n) slice.push_back(in.at(n * count + i));
      std::vector<Tensor> given = one(slice);
      SB_CHECK(given.size() == 1, one.name(), ": expected one tensor, got ", given.size());
      results.push_back(std::move(given[0]));
    }
    return results;
  };
  return foreach_map_hop()(tensor_callable("higher_order::foreach_map: subgraph", all),
                           std::move(operands));
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_FOREACH_MAP_H_
