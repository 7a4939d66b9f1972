#include "switchboard/examples/digits_training/data_parallel.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/reduce_op.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/loss/nll.h"
#include "switchboard/ops/views/views.h"

namespace digits {

using sb::Tensor;

namespace {

constexpr int64_t kParts = 4;
constexpr int64_t kSumOfLosses = 2;  // the `reduction` of nll_loss

}  // namespace

Tensor data_parallel_step(Model& model, Optimizer& optimizer, const Tensor& images,
                          const Tensor& labels) {
  const int64_t ranks = sb::get_world_size(), n = images.size(0);
  SB_CHECK_VALUE(kParts % ranks == 0, "data_parallel_step: expected 1, 2 or 4 ranks, got ", ranks);
  const std::vector<Tensor> parameters = model.parameters();
  // Of each parameter, and of the loss: one for each part.
  std::vector<std::vector<Tensor>> sums(parameters.size() + 1);
  const int64_t share = kParts / ranks, first = sb::get_rank() * share;
  for (int64_t part = first; part < first + share; ++part) {
    const int64_t begin = part * n / kParts, rows = (part + 1) * n / kParts - begin;
    const Tensor loss =
        sb::nll_loss(model.log_probabilities(sb::narrow(images, 0, begin, rows), true),
                     sb::narrow(labels, 0, begin, rows), std::nullopt, kSumOfLosses);
    optimizer.zero_grad();
    sb::backward(loss);
    for (size_t i = 0; i < parameters.size(); ++i) sums[i].push_back(sb::grad_of(parameters[i]));
    sums.back().push_back(sb::detach(loss));
  }
  std::vector<Tensor> mine;
  for (std::vector<Tensor>& parts : sums)
    mine.push_back(sb::reduce_tree(sb::ReduceOp::Sum, std::move(parts)));
  std::vector<Tensor> all = sb::all_reduce_coalesced(mine, "sum");
  for (Tensor& t : all) t = sb::div_Scalar(t, n);
  for (size_t i = 0; i < parameters.size(); ++i) sb::set_grad(parameters[i], all[i]);
  optimizer.step();
  return all.back();
}

}  // namespace digits
