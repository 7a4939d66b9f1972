#include "switchboard/fake/merge_branches.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/match.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/fake/call_function.h"
#include "switchboard/fake/fake_storage.h"
#include "switchboard/fake/fake_tensor_data.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/control_flow.h"

namespace sb::internal {
namespace {

using control_flow::Agree;

// "higher_order::cond: true_fn", of which the others say "as of true_fn".
std::string whole_name(std::string_view op, const BranchResults& branch) {
  return absl::StrContains(branch.name, "::") ? branch.name : str_cat(op, ": ", branch.name);
}

// Nothing is asked: sizes that may differ are a new one.
bool is_same_size(const SymInt& a, const SymInt& b) {
  return statically_known(a == b).value_or(false);
}

// A size of each branch.
SymInt merged_size(ShapeEnv& env, std::string_view op, const std::vector<SymInt>& sizes) {
  const auto is_first = [&](const SymInt& size) { return is_same_size(size, sizes[0]); };
  if (std::ranges::all_of(sizes, is_first)) return sizes[0];
  const SymReason reason(op);
  const SymInt symbol = env.create_unbacked_symint();
  symbolic::ValueRange all = env.range_of(sizes[0]);
  for (const SymInt& size : sizes) {
    const symbolic::ValueRange range = env.range_of(size);
    all = {std::min(all.low, range.low), std::max(all.high, range.high)};
  }
  constrain_range_for_size(symbol, std::max<int64_t>(all.low, 0), all.high);
  return symbol;
}

// The dimensions as they lie in memory, slowest first.
std::vector<int64_t> layout_of(const Tensor& t) {
  std::vector<int64_t> order(static_cast<size_t>(t.dim()));
  std::iota(order.begin(), order.end(), 0);
  if (t.is_contiguous()) return order;
  const SymIntArrayRef strides = t.sym_strides();
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    return (strides[static_cast<size_t>(a)] > strides[static_cast<size_t>(b)]).guard_bool();
  });
  return order;
}

// RuntimeError where results begin at different places of their memory: only data tell which.
void check_same_offset(const BranchResults& branch, size_t i, const BranchResults& first) {
  const Tensor &a = first.tensors[i], &b = branch.tensors[i];
  const SymBool same = a.sym_storage_offset() == b.sym_storage_offset();
  SB_CHECK(statically_known(same).value_or(true), branch.name, ": result ", i,
           ": expected the storage offset ", a.sym_storage_offset().to_string(), ", as of ",
           first.name, ", got ", b.sym_storage_offset().to_string(),
           "; fake tensors have a fixed one: give a clone");
}

// Of tensors of one rank, `first` among them.
Tensor merged(ShapeEnv& env, std::string_view op, const std::vector<BranchResults>& branches,
              size_t i) {
  const Tensor& first = branches[0].tensors[i];
  for (const BranchResults& branch : branches)
    SB_CHECK(branch.tensors[i].dim() == first.dim(), whole_name(op, branch), ": result ", i,
             ": expected ", first.describe(), ", as of ", branches[0].name,
             ", or other sizes, got ", branch.tensors[i].describe());
  std::vector<SymInt> sizes;
  bool same = true;
  for (int64_t d = 0; d < first.dim(); ++d) {
    std::vector<SymInt> of_branches;
    for (const BranchResults& branch : branches)
      of_branches.push_back(branch.tensors[i].sym_size(d));
    sizes.push_back(merged_size(env, op, of_branches));
    same = same && is_same_size(sizes.back(), of_branches[0]);
  }
  if (same) {
    for (const BranchResults& branch : branches)
      control_flow::check_same_strides(whole_name(op, branch), i, branch.tensors[i],
                                       branches[0].name, first);
    return first;
  }
  const std::vector<int64_t> layout = layout_of(first);
  for (const BranchResults& branch : branches) {
    const Tensor& t = branch.tensors[i];
    SB_CHECK(permute(t, layout).is_contiguous(), whole_name(op, branch), ": result ", i,
             ": expected dimensions in memory in the order of ", branches[0].name,
             ", without gaps, as sizes differ and fake tensors lie in one way; got ", t.describe(),
             " with strides ", shape_text(t.sym_strides()));
  }
  return empty_permuted(sizes, layout, first.dtype(), std::nullopt, first.device());
}

}  // namespace

BranchResults run_branch(FakeMode& mode, std::string name,
                         const control_flow::FunctionArgument& function,
                         const std::vector<Tensor>& operands) {
  const FreshStorages made;
  BranchResults branch{std::move(name), call_in(mode, function, operands), {}};
  for (const Tensor& t : branch.tensors) branch.fresh.push_back(made.has(t.storage().get()));
  return branch;
}

std::vector<Tensor> merge_branches(FakeMode& mode, std::string_view op,
                                   const std::vector<BranchResults>& branches) {
  const BranchResults& first = branches.front();
  const ModeGuard active(&mode);
  const auto check = [&](const BranchResults& branch, Agree agree) {
    check_same_metadata(branch.name, branch.tensors, first.name, first.tensors, agree);
  };
  for (const BranchResults& branch : branches)
    check(branch, mode.shape_env() ? Agree::GraphDTypes : Agree::GraphStrides);
  for (const BranchResults& branch : branches)
    for (size_t i = 0; i < first.tensors.size(); ++i) check_same_offset(branch, i, first);
  std::vector<Tensor> results = first.tensors;
  for (size_t i = 0; i < results.size(); ++i) {
    if (mode.shape_env()) results[i] = merged(*mode.shape_env(), op, branches, i);
    // What is known of one branch's data need not hold for the other's.
    if (const Tensor known = constant_of(results[i]); known.defined())
      mode.converter().forget_constants(known.storage());
    // Which tensor it is, and whether it is a view, only the data tell: autograd is told nothing.
    const auto is_it = [&](const BranchResults& branch) {
      return branch.tensors[i].is_same(first.tensors[i]);
    };
    if (std::ranges::all_of(branches, is_it)) continue;
    results[i] = Tensor(results[i].impl()->shallow_copy());
    // Made by its branch, and no other result too.
    const auto is_own = [&](const BranchResults& branch) {
      return branch.fresh[i] && std::ranges::count_if(branch.tensors, [&](const Tensor& other) {
                                  return other.is_alias_of(branch.tensors[i]);
                                }) == 1;
    };
    if (!std::ranges::all_of(branches, is_own)) extras_of(results[i]).chosen_by = op;
  }
  return results;
}

}  // namespace sb::internal
