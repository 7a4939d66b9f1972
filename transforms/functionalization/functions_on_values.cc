// Functions that run on functional tensors: programs, and those that operators take.

#include <algorithm>
#include <string_view>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/modes/grad_hooks.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/transforms/functionalization/functionalization.h"
#include "switchboard/transforms/functionalization/view_chain.h"

namespace sb::internal {
namespace {

// The function that runs, for errors.
thread_local std::string_view function_name;
class FunctionName {
 public:
  explicit FunctionName(std::string_view name) : outer_(std::exchange(function_name, name)) {}
  ~FunctionName() { function_name = outer_; }
  FunctionName(const FunctionName&) = delete;
  FunctionName& operator=(const FunctionName&) = delete;

 private:
  std::string_view outer_;
};

thread_local int running_programs = 0;

}  // namespace

RunningProgram::RunningProgram() {
  if (running_programs++ == 0) records_.emplace();
}
RunningProgram::~RunningProgram() { --running_programs; }
bool RunningProgram::any() { return running_programs != 0; }

void check_captured_gradient(const Tensor& tensor, const Tensor& value) {
  const GradHooks& hooks = *grad_hooks;
  SB_CHECK_NOT_IMPLEMENTED(
      !hooks.is_grad_enabled() || !hooks.requires_grad(tensor) || hooks.requires_grad(value),
      function_name, ": under functionalization: it has captured ", tensor.describe(),
      ", which requires a gradient of a leaf that the program has made, which is not computed "
      "there; run backward outside of the program");
}

std::string_view running_function() { return function_name; }

bool is_captured(const FunctionalTensorImpl& tensor, const IntrusivePtr<FunctionalOwner>& owner) {
  // Functions that a mode's rules call run by modes of their own, below that mode.
  if (tensor.owner()) return tensor.owner() != owner && tensor.owner()->bypassed();
  const uint64_t scope = FunctionScope::current();
  return !owner && scope != 0 && tensor.functional_storage()->scope() != scope;
}

std::vector<Tensor> wrap_inputs(FunctionalInputs* functional_inputs, TensorList inputs,
                                const IntrusivePtr<FunctionalOwner>& owner) {
  std::vector<Tensor> functional;
  for (const Tensor& input : inputs) {
    const FunctionalTensorImpl* const impl = functional_impl(input);
    const bool stays = !input.defined() || (impl && impl->owner() == owner);
    functional.push_back(stays ? input : functional_inputs->wrap(input));
  }
  return functional;
}

namespace {

void note_effects(const std::vector<Tensor>& given, const std::vector<IValue>& results,
                  FunctionEffects* effects) {
  effects->written.assign(given.size(), Tensor());
  for (size_t i = 0; i < given.size(); ++i)
    if (was_mutated(given[i])) effects->written[i] = from_functional_tensor(given[i]);
  for (size_t r = 0; r < results.size(); ++r) {
    results[r].for_each_tensor([&](const Tensor& t) {
      const FunctionalTensorImpl* const impl = functional_impl(t);
      if (!impl) return;
      auto of = std::ranges::find_if(given, [&](const Tensor& g) { return t.is_same(g); });
      const bool same = of != given.end();
      if (!same) {
        of = std::ranges::find_if(given, [&](const Tensor& g) {
          return impl->functional_storage() == functional_impl(g)->functional_storage();
        });
      }
      if (of == given.end()) return;
      effects->shared.push_back(
          {r, static_cast<size_t>(of - given.begin()), same, FunctionEffects::Layout(t)});
    });
  }
  const auto memory_of = [&](size_t r) -> const StorageImpl* {
    if (!results[r].is_Tensor() || !functional_impl(results[r].unchecked_tensor())) return nullptr;
    return results[r].unchecked_tensor().storage().get();
  };
  for (size_t r = 0; r < results.size(); ++r)
    for (size_t s = 0; s < r; ++s)
      if (memory_of(r) && memory_of(r) == memory_of(s)) effects->twins.emplace_back(s, r);
}

}  // namespace

std::vector<IValue> call_on_values(const Callable::Function& f, std::vector<IValue> arguments,
                                   FunctionalInputs* functional_inputs,
                                   const IntrusivePtr<FunctionalOwner>& owner) {
  const RunningProgram running;
  FunctionEffects* const effects = FunctionEffects::current;
  const FunctionName name(effects ? std::string_view(effects->who)
                                  : "functionalization: a function");
  std::vector<Tensor> given;
  for (IValue& argument : arguments) {
    argument = map_tensors(argument, [&](const Tensor& t) {
      given.push_back(functional_inputs->wrap(t));
      if (t.defined() && !is_whole_storage(t))
        functional_impl(given.back())->functional_storage()->note_gaps();
      return given.back();
    });
  }
  std::vector<IValue> results = [&] {
    const FunctionEffects::None none;
    return f(std::move(arguments));
  }();
  if (effects) note_effects(given, results, effects);
  SB_CHECK_NOT_IMPLEMENTED(!functional_inputs->mutated(effects ? given : std::vector<Tensor>()),
                           effects ? str_cat(effects->who, ": under functionalization: it writes")
                                   : "functionalization: a function that an operator takes writes",
                           effects ? " to a tensor that it did not make"
                                   : " to its arguments, or to a tensor that it did not make");
  for (size_t r = 0; r < results.size(); ++r) {
    results[r] = map_tensors(results[r], [&](const Tensor& t) {
      const FunctionalTensorImpl* const impl = functional_impl(t);
      if (impl && is_captured(*impl, owner)) {
        SB_CHECK(
            effects,
            "functionalization: a result of a function that an operator takes shares memory with "
            "a tensor that it has captured, ",
            t.describe(), "; it must be a clone");
        effects->captured.push_back({r, t});
        const Tensor value = impl->captured_value();
        check_captured_gradient(t, value);
        BelowFunctionalization below(owner);
        return sb::clone(value);
      }
      return impl && impl->owner() == owner ? from_functional_tensor(t) : t;
    });
  }
  return results;
}

thread_local FunctionEffects* FunctionEffects::current = nullptr;

}  // namespace sb::internal
