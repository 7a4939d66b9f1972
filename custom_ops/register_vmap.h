// What an operator does inside of vmap: with all examples at once.
//
//   register_vmap("mylib::twice", [](const VmapInfo& info, const std::vector<BatchDims>& in_dims,
//                                    const std::vector<IValue>& args) -> VmapResults {
//     return {twice(args), in_dims[0]};
//   });

#ifndef SWITCHBOARD_CUSTOM_OPS_REGISTER_VMAP_H_
#define SWITCHBOARD_CUSTOM_OPS_REGISTER_VMAP_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/dispatch/registration_handle.h"
#include "switchboard/transforms/vmap/randomness.h"

namespace sb {

// The dimensions along which the examples of one argument or result lie: one for each tensor in it.
// nullopt for a tensor that is the same for all examples. An argument without tensors has none.
class BatchDims {
 public:
  using Dim = std::optional<int64_t>;

  BatchDims() = default;
  BatchDims(Dim dim) : dims_{dim} {}                            // NOLINT: of a tensor
  BatchDims(int64_t dim) : dims_{dim} {}                        // NOLINT
  BatchDims(int dim) : dims_{dim} {}                            // NOLINT
  BatchDims(std::nullopt_t) : dims_{std::nullopt} {}            // NOLINT
  BatchDims(std::vector<Dim> dims) : dims_(std::move(dims)) {}  // NOLINT: of a list

  const std::vector<Dim>& all() const { return dims_; }
  // Of a tensor.
  Dim dim() const { return dims_.empty() ? Dim() : dims_[0]; }
  bool operator==(const BatchDims&) const = default;

 private:
  std::vector<Dim> dims_;
};

// As `VmapInfo`.
struct VmapInfo {
  int64_t batch_size;
  Randomness randomness;
};

// The results, as the schema has them, and where the examples of each lie.
struct VmapResults {
  std::vector<IValue> outputs;
  std::vector<BatchDims> out_dims;
};

// Gets one value and one BatchDims for each argument, by the schema's order; tensors have all
// examples.
using VmapRule = std::function<VmapResults(
    const VmapInfo& info, const std::vector<BatchDims>& in_dims, const std::vector<IValue>& args)>;

// A kernel at FuncTorchBatched: inside of vmap, a call that has a batched tensor of the innermost
// level is a call of `rule` below that level. What it calls is recorded for gradients. Without a
// rule an operator runs once for each example. The newest counts. As `torch.library.register_vmap`,
// but that batches are moved to dimension 0 of what the rule gets.
//
// Throws NotImplementedError for an operator that takes tensors by keyword only, and what
// lookup_op() throws. A call throws RuntimeError where the rule gives other than one output and one
// out_dims for each result, or where a result has no batch of the right size there.
RegistrationHandle register_vmap(const OpIdentifier& op, VmapRule rule,
                                 SourceLocation where = SourceLocation::current());
void register_vmap(const OpIdentifier& op, VmapRule rule, Library& lib,
                   SourceLocation where = SourceLocation::current());

}  // namespace sb

#endif  // SWITCHBOARD_CUSTOM_OPS_REGISTER_VMAP_H_
