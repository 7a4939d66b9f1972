// Operators that draw random numbers.

#include <mutex>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/generator.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/transforms/vmap/rules.h"

namespace sb::batching {
namespace {

// The generator that the call draws from. NotImplementedError where only a device knows it.
Generator generator_of(const BatchedCall& call) {
  const auto check = [&](Device device) {
    SB_CHECK_NOT_IMPLEMENTED(device.is_cpu() || device.is_meta(), call.who(),
                             ": the same random numbers for all examples on ", to_string(device),
                             " need a generator in the call");
  };
  for (const IValue& argument : call.arguments())
    if (argument.is_Generator()) return argument.to_generator();
  for (const IValue& argument : call.arguments())
    if (argument.is_Device()) check(argument.to_device());
  call.for_each_tensor([&](const Tensor& t) { check(t.device()); });
  return default_cpu_generator();
}

// Puts the generator back, for each example, to where it was before the first.
class SameNumbers {
 public:
  explicit SameNumbers(Generator generator) : generator_(std::move(generator)) {
    const std::lock_guard<std::mutex> lock(generator_->mutex);
    state_ = generator_->state();
  }
  void begin() const {
    const std::lock_guard<std::mutex> lock(generator_->mutex);
    generator_->set_state(state_);
  }

 private:
  Generator generator_;
  std::vector<uint8_t> state_;
};

// Whether each element gets a number of its own, from nothing but its place.
bool fills_elements(const BatchedCall& call) {
  size_t tensors = 0;
  call.for_each_tensor([&](const Tensor&) { ++tensors; });
  const bool in_place = call.op().entry().has_tag(Tag::inplace);
  return tensors == 1 && (in_place || call.op().name().name.ends_with("_like"));
}

}  // namespace

std::vector<IValue> random_call(const BatchedCall& call) {
  const Level& level = call.level();
  SB_CHECK(level.randomness() != Randomness::Error, call.who(),
           ": it draws random numbers, and randomness is 'error'; say whether all examples draw "
           "the 'same' or 'different' ones, or draw outside of vmap");
  const bool any = has_batched(level, call.op(), call.arguments());
  if (level.randomness() == Randomness::Same) {
    const Generator generator = generator_of(call);
    call.level().note_draw(generator);
    if (!any) return call.call_below(call.arguments());
    check_written_are_batched(call);
    const SameNumbers same(generator);
    return loop_over_examples(call, [&](int64_t) { same.begin(); });
  }
  check_written_are_batched(call);
  if (any && fills_elements(call)) {
    std::vector<IValue> arguments;
    for (const IValue& argument : call.arguments())
      arguments.push_back(
          map_tensors(argument, [&](const Tensor& t) { return call.value_of(t).value_or(t); }));
    return call.batched_results(call.call_below(std::move(arguments)));
  }
  return loop_over_examples(call);
}

}  // namespace sb::batching
