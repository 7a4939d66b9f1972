// Constants in a fake mode: calls of which every tensor is known are computed.

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/fake/call_arguments.h"
#include "switchboard/fake/fake_mode.h"
#include "switchboard/fake/map_tensors.h"

namespace sb::internal {

bool FakeMode::compute_constants(const OperatorHandle& op, const FakeOp& facts,
                                 const FakeArguments& arguments, Stack* stack) {
  if (facts.is_seeded || facts.sets_metadata || arguments.symbolic || has_ordered_effect(op))
    return false;
  const auto given = arguments_on(op, *stack);
  if (goes_elsewhere(facts, given)) return false;
  Stack real(given.begin(), given.end());
  std::vector<std::pair<Tensor, Tensor>> fake_of;  // by the constant
  bool all = true;
  for (IValue& value : real) {
    map_tensors(value, [&](const Tensor& fake) {
      const Tensor constant = fake.defined() ? constant_of(fake) : Tensor();
      all = all && (constant.defined() || !fake.defined());
      fake_of.emplace_back(constant, fake);
      return constant;
    });
  }
  if (!all) return false;
  {
    const NoModesGuard no_modes;
    op.call_boxed(&real);
  }
  // The results are known only if all are small.
  bool small = true;
  for_each_tensor(real, [&](const Tensor& t) { small = small && may_be_constant(t); });
  if (!small) {
    for_each_tensor(real, [&](const Tensor& t) {
      if (t.defined() && t.storage()) converter_.forget_constants(t.storage());
    });
    return false;
  }
  for (IValue& value : real) {
    map_tensors(value, [&](const Tensor& result) {
      for (const auto& [constant, fake] : fake_of)
        if (constant.is_same(result)) return fake;
      const Tensor fake = converter_.convert(result, with_index(result.device()), data());
      converter_.make_constant(fake, result);
      return fake;
    });
  }
  stack->resize(stack->size() - op.entry().num_arguments());
  std::ranges::move(real, std::back_inserter(*stack));
  return true;
}

void FakeMode::forget_written_constants(const OperatorHandle& op, const Stack& stack) {
  const auto arguments = arguments_on(op, stack);
  const FunctionSchema& schema = op.schema();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!schema.arguments[i].is_write()) continue;
    arguments[i].for_each_tensor([&](const Tensor& t) {
      if (const Tensor constant = constant_of(t); constant.defined())
        converter_.forget_constants(constant.storage());
    });
  }
}

}  // namespace sb::internal
