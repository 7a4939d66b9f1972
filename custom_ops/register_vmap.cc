#include "switchboard/custom_ops/register_vmap.h"

#include <memory>
#include <string>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/objects/library_handle.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/vmap/batched_call.h"
#include "switchboard/transforms/vmap/batched_tensor.h"

namespace sb {
namespace {

class VmapKernel {
 public:
  explicit VmapKernel(VmapRule rule) : rule_(std::move(rule)) {}

  void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const {
    batching::Level* const level = &batching::level_of_call(op, keys, *stack);
    const IntrusivePtr<batching::Level> kept = IntrusivePtr<batching::Level>::share(level);
    const size_t first = stack->size() - op.entry().num_arguments();
    std::vector<BatchDims> in_dims;
    std::vector<IValue> arguments;
    for (size_t i = first; i < stack->size(); ++i) {
      std::vector<BatchDims::Dim> dims;
      arguments.push_back(map_tensors((*stack)[i], [&](const Tensor& t) {
        const batching::BatchedTensorImpl* const impl = batching::batched_impl(t, *level);
        dims.push_back(impl ? BatchDims::Dim(0) : std::nullopt);
        return impl ? impl->value() : t;
      }));
      in_dims.emplace_back(std::move(dims));
    }
    VmapResults results = rule_({level->size(), level->randomness()}, in_dims, arguments);
    stack->resize(first);
    put_results(op, level, std::move(results), stack);
  }

 private:
  static void put_results(const OperatorHandle& op, batching::Level* level, VmapResults results,
                          Stack* stack) {
    const size_t expected = op.entry().num_returns();
    const std::string who = str_cat(op.name().to_string(), ": its rule for vmap");
    SB_CHECK(results.outputs.size() == expected && results.out_dims.size() == expected, who,
             ": expected ", expected, " outputs and as many out_dims, got ", results.outputs.size(),
             " and ", results.out_dims.size());
    for (size_t r = 0; r < expected; ++r) {
      const std::vector<BatchDims::Dim>& dims = results.out_dims[r].all();
      size_t i = 0;
      stack->push_back(map_tensors(results.outputs[r], [&](const Tensor& t) {
        SB_CHECK(i < dims.size(), who, ": output ", r, " has more tensors than out_dims");
        const BatchDims::Dim dim = dims[i++];
        if (!dim) return t;
        const bool fits = *dim >= -t.dim() && *dim < t.dim() && t.size(*dim) == level->size();
        SB_CHECK(fits, who, ": output ", r, ": expected a batch of ", level->size(),
                 " in dimension ", *dim, ", got ", t.describe());
        return batching::make_batched(*dim == 0 ? t : movedim_int(t, *dim, 0), level);
      }));
    }
  }

  VmapRule rule_;
};

}  // namespace

void register_vmap(const OpIdentifier& op, VmapRule rule, Library& lib, SourceLocation where) {
  const std::string name = op.name().to_string();
  const OperatorHandle handle = lib.dispatcher().find_op_or_throw(name);
  SB_CHECK_VALUE(rule, name, ": register_vmap: expected a rule, got an empty function");
  for (const Argument& argument : handle.schema().arguments) {
    SB_CHECK_NOT_IMPLEMENTED(!argument.kwarg_only || !argument.type.has_tensor(), name,
                             ": register_vmap: argument '", argument.name,
                             "' is a tensor by keyword only, which has no rule");
  }
  lib.impl(name, DispatchKey::FuncTorchBatched, VmapKernel(std::move(rule)), where);
}

RegistrationHandle register_vmap(const OpIdentifier& op, VmapRule rule, SourceLocation where) {
  auto lib = std::make_unique<Library>(Library::Kind::Fragment, std::string(op.name().ns()),
                                       std::nullopt, where);
  register_vmap(op, std::move(rule), *lib, where);
  return internal::library_handle(std::move(lib));
}

}  // namespace sb
