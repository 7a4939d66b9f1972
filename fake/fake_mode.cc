#include "switchboard/fake/fake_mode.h"

#include <algorithm>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/core/symbols/symbolic_number.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/inspect/call_text.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/modes/explain_mode.h"
#include "switchboard/dispatch/modes/grad_hooks.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/fake/cached_call.h"
#include "switchboard/fake/call_arguments.h"
#include "switchboard/fake/draft_call.h"
#include "switchboard/fake/fake_errors.h"
#include "switchboard/fake/fallback_kernel.h"
#include "switchboard/fake/kernel_invocation.h"
#include "switchboard/fake/map_tensors.h"
#include "switchboard/fake/real_run.h"
#include "switchboard/fake/symbolic_sizes.h"
#include "switchboard/fake/trivial_rule.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/outputs/meta_rehearsal.h"

namespace sb::internal {

Device with_index(Device device) {
  if (device.has_index() || device.is_cpu() || device.is_meta()) return device;
  return Device(device.type, 0);
}

bool is_implicit_composite(const DispatchTable& table) {
  const Kernel& meta = table.slots[slot_of(DispatchKey::Meta)];
  const Kernel& nested = table.slots[slot_of(DispatchKey::NestedTensorCPU)];
  return meta.boxed == nested.boxed && meta.unboxed == nested.unboxed && meta.state == nested.state;
}

namespace {

FakeTensorOptions with_cache(FakeTensorOptions options) {
  if (!options.cache) options.cache = FakeDispatchCache::process_wide();
  return options;
}

uint64_t settings_number(const FakeTensorOptions& options) {
  uint64_t number = options.allow_fallback_kernels + 2 * options.allow_meta;
  if (options.shape_env) {
    const ShapeEnvSettings& env = options.shape_env->settings();
    number += 4 + 8 * env.allow_scalar_outputs + 16 * env.allow_dynamic_output_shape_ops +
              32 * env.assume_static_by_default + 64 * env.specialize_zero_one +
              128 * env.duck_shape + 256 * env.size_oblivious;
  }
  return number;
}

}  // namespace

FakeMode::FakeMode(FakeTensorOptions options)
    : options_(with_cache(std::move(options))),
      options_are_plain_(!options_.propagate_real_tensors && !options_.record_creation &&
                         options_.cache_use <= FakeCacheUse::Costly),
      cache_answers_(
          !options_.propagate_real_tensors && !options_.record_creation &&
          (options_.cache_use == FakeCacheUse::Costly || options_.cache_use == FakeCacheUse::All)),
      cache_settings_(settings_number(options_)),
      symbolic_calls_(options_.shape_env ? std::make_unique<RememberedCalls>(kMostSymbolicCalls)
                                         : nullptr) {}

IntrusivePtr<ModeData> FakeMode::data() {
  if (IntrusivePtr<ModeData> data = data_.lock()) return data;
  IntrusivePtr<ModeData> data = make_intrusive<FakeTensorData>(IntrusivePtr<FakeMode>::share(this));
  data_ = WeakIntrusivePtr<ModeData>(data);
  return data;
}

Tensor FakeMode::empty(SymIntArrayRef sizes, SymIntArrayRef strides, DType dtype, Device device) {
  const Tensor result = empty_with_symbols(sizes, strides, dtype);
  count_storage(result.storage().get(), &converter_.allocator());
  become_fake(result, with_index(device), data());
  return result;
}

void FakeMode::call(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const FakeOp& facts = fake_op(op);
  const FakeArguments arguments = look_at(arguments_on(op, stack));
  if (!arguments.is_special()) {
    if (goes_straight(facts, op.entry().resolved_table())) {
      if (arguments.device.disagrees()) throw_devices_disagree(op, arguments_on(op, *stack));
      return run_meta_or_fallback(op, facts, arguments.device.device(), stack);
    }
    if (cache_answers_ && give_remembered(*this, op, facts, stack)) return;
  }
  call_slowly(op, facts, arguments, stack);
}

namespace {

// An error of a kernel or rule, which may have named a part of the operator alone. In a catch
// block.
[[noreturn]] void rethrow_named(const Error& error, const OperatorHandle& op) {
  const std::string name = op.name().to_string();
  const std::string_view what = error.what();
  // What is of a kind of its own holds more than a message.
  const std::string_view kind = error.kind();
  const bool plain = kind == "RuntimeError" || kind == "NotImplementedError";
  if (!plain || what.find(name) != std::string_view::npos) throw;
  const bool says_fake = what.find("fake") != std::string_view::npos;
  rethrow_with_context(error, absl::StrCat(name, says_fake ? ": " : ": for fake tensors: "));
}

// Whether the operator has an ordered effect, and its only kernel for Meta is the one for real
// tensors.
bool has_effect_at_meta(const OperatorHandle& op) {
  return has_ordered_effect(op) &&
         op.entry().dispatcher().resolve(op.entry(), DispatchKey::Meta).source ==
             DispatchKey::CompositeExplicitAutograd;
}

}  // namespace

void FakeMode::rethrow(const Error& error) const {
  const std::string_view what = error.what();
  if (!shape_env() || what.find("only data tell") != std::string_view::npos) throw;
  const std::vector<SymbolInfo> symbols = shape_env()->symbols();
  const auto told = std::ranges::find_if(symbols, &SymbolInfo::unbacked);
  if (told == symbols.end()) throw;
  const std::string message =
      absl::StrCat(std::string(what), "; on fake tensors, where only data tell what ",
                   told->origin.reason.empty() ? told->name : told->origin.reason, " gives");
  if (typeid(error) == typeid(RuntimeError)) throw RuntimeError(message);
  if (typeid(error) == typeid(IndexError)) throw IndexError(message);
  throw;  // what is of another kind holds more than a message
}

void FakeMode::explain(CallPath& path, const PathCall& c) {
  const CallPin pin;
  const FakeOp& facts = fake_op(c.op);
  const auto given = arguments_on(c.op, c.arguments);
  const FakeArguments arguments = look_at(given);
  const DispatchTable& table = c.op.entry().resolved_table();
  if (!arguments.is_special() && goes_straight(facts, table)) {
    if (arguments.device.disagrees()) return path.fails("the arguments are on different devices");
    return path.enter(c.op, DispatchKey::Meta, c.arguments);
  }
  // Each of these may give the results, or leave it to the next.
  const std::string name = c.op.name().to_string();
  const auto decides = [&](const std::string& what) {
    path.passes(name, what);
    path.decides();
  };
  if (facts.is_lift && arguments.foreign) return decides("copy of a literal");
  if (arguments.extras || options_.propagate_real_tensors) decides("known data");
  if (is_remembered(*this, c.op, facts, arguments, given))
    return path.passes(name, "remembered result");
  const bool has_meta(table.slots[slot_of(DispatchKey::Meta)]);
  const bool composite = has_meta && is_implicit_composite(table);
  for (size_t i = 0; i < facts.rules.size(); ++i) {
    if (composite && !(i == 0 && facts.first_rule_is_own)) break;  // as run()
    decides(absl::StrCat("fake rule ", sb::to_string(facts.rules[i].where)));
  }
  if (!facts.is_builtin && has_effect_at_meta(c.op)) return;  // passed over
  if (composite) {
    const ModeGuard active(this);
    path.enter(c.op, DispatchKey::Meta, c.arguments);
  } else if (has_meta) {
    path.enter(c.op, DispatchKey::Meta, c.arguments);
  } else if (facts.returns_nothing && !facts.mutates) {
    return;  // there is nothing to do
  } else if (!facts.is_builtin && has_trivial_rule(c.op)) {
    path.passes(name, "results by its schema");
  } else if (options_.allow_fallback_kernels && may_fall_back(c.op)) {
    decides("fallback kernel");
  } else {
    path.passes(name, "fake mode");
    path.fails("no shape rule, and no fallback kernel");
  }
}

namespace {
const ExplainMode explain_fake(typeid(FakeMode),
                               [](CallPath& path, DispatchMode& mode, const PathCall& c) {
                                 static_cast<FakeMode&>(mode).explain(path, c);
                               });
}  // namespace

bool FakeMode::goes_straight(const FakeOp& facts, const DispatchTable& table) const {
  return facts.goes_straight && options_are_plain_ && table.slots[slot_of(DispatchKey::Meta)] &&
         !is_implicit_composite(table);
}

namespace {

// Whether the first tensor of a typed call has.
bool has_symbols(const TypedFrame& frame) {
  const ArgumentMask tensors = frame.description.tensors;
  return tensors != 0 && static_cast<const Tensor*>(frame.arguments[__builtin_ctzll(tensors)])
                             ->impl()
                             ->symbolic_shape();
}

}  // namespace

bool FakeMode::call_direct(OperatorEntry& entry, const TypedFrame& frame) {
  const OperatorHandle op(&entry);
  const FakeOp& facts = fake_op(op);
  const DispatchTable& table = entry.resolved_table();
  if (goes_straight(facts, table)) {
    const Kernel& meta = table.slots[slot_of(DispatchKey::Meta)];
    if (meta.unboxed && facts.device_argument < 0 && !facts.sets_metadata &&
        run_direct(op, meta, frame))
      return true;
    if (!has_symbols(frame)) return false;
  }
  return cache_answers_ && give_remembered(*this, op, facts, frame);
}

bool FakeMode::run_direct(const OperatorHandle& op, const Kernel& meta, const TypedFrame& frame) {
  DirectArguments tensors;
  if (!tensors.collect(frame)) return false;
  FakeArguments arguments(plain_data());
  for (const Tensor* const t : tensors.span()) arguments.add(*this, *t);
  if (!arguments.tensors || arguments.is_special() || arguments.device.disagrees()) return false;
  const Device device = *arguments.device.device();
  if (device.is_meta() && !options_.allow_meta) return false;
  try {
    DirectInvocation invocation(tensors.span());
    frame.enter(meta, DispatchKey::Meta);
    invocation.end();
    // The arguments keep this mode and its data.
    const IntrusivePtr<ModeData>& data = invocation.data();
    if (frame.description.returns_tensor) [[likely]] {
      adopt(op, invocation, *static_cast<const Tensor*>(frame.result), device, data);
    } else {
      for_each_result(frame,
                      [&, device](const Tensor& t) { adopt(op, invocation, t, device, data); });
    }
    return true;
  } catch (const NotImplementedError&) {  // not for these arguments: there may be another way
    return false;
  } catch (const RuntimeError&) {
    // A kernel for all devices may be no shape rule: run_meta_or_fallback() says so.
    if (op.entry().resolved_table().rules[slot_of(DispatchKey::Meta)] !=
        ResolutionRule::DefaultBackendKernel)
      throw;
    return false;
  }
}

namespace {

bool records_gradients(absl::Span<const IValue> arguments) {
  bool any = false;
  for_each_tensor(arguments, [&](const Tensor& t) {
    any = any || (t.defined() && grad_hooks->requires_grad(t));
  });
  return any && grad_hooks->is_grad_enabled();
}

}  // namespace

// A write to what only the data tell which tensor it is may be one to a tensor that is known here
// under another name. Its shape and its gradient would be lost, and its numbers are unknown then.
void FakeMode::check_written(const OperatorHandle& op, const FakeOp& facts, const Stack& stack) {
  const auto arguments = arguments_on(op, stack);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& declared = op.schema().arguments[i];
    if (!declared.is_write()) continue;
    arguments[i].for_each_tensor([&](const Tensor& t) {
      const FakeExtras* const extras = find_extras(t);
      if (!extras || extras->chosen_by.empty()) return;
      SB_CHECK_NOT_IMPLEMENTED(
          !facts.sets_metadata && !records_gradients(arguments), op.name().to_string(),
          ": in a fake mode: argument ", i, " '", declared.name,
          "': only the data tell which tensor ", extras->chosen_by, " gave, whose ",
          facts.sets_metadata ? "shape" : "gradient", " this would change; give it a clone");
      new_epoch();
    });
  }
}

void FakeMode::call_slowly(const OperatorHandle& op, const FakeOp& facts, FakeArguments arguments,
                           Stack* stack) {
  // The stack may hold the last tensor that keeps this mode alive, and the kernel may drop it.
  const IntrusivePtr<ModeData> keep = data();
  const size_t base = stack->size() - op.entry().num_arguments();
  const std::optional<Creation> creation =
      options_.record_creation ? std::optional(Creation::of_call(render_call(op, *stack)))
                               : std::nullopt;
  const SymReason reason(op.name().name);

  if (facts.is_lift && lift(stack)) return;
  if (arguments.foreign) {
    convert_arguments(op, facts, stack);
    arguments = look_at(arguments_on(op, stack));
  }
  if (arguments.extras) {
    if (compute_constants(op, facts, arguments, stack)) return;
    if (facts.mutates) check_written(op, facts, *stack);
    if (facts.mutates) forget_written_constants(op, *stack);
  }
  const RealRun real =
      options_.propagate_real_tensors ? RealRun(*this, op, facts, *stack) : RealRun();
  const auto fake_call = [&] {
    run_cached(*this, op, facts, arguments, stack, [&] { run(op, facts, stack); });
  };
  if (options_.draft) {
    run_in_draft(*this, op, real, stack, fake_call);
  } else {
    fake_call();
    real.give(absl::MakeConstSpan(*stack).subspan(base));
  }
  if (creation) {
    for_each_tensor(absl::MakeConstSpan(*stack).subspan(base), [&](const Tensor& t) {
      if (owns(t)) record_creation(t, *creation);
    });
  }
}

namespace {

// A call with an ordered effect has none on fake tensors: true where it is passed over.
bool pass_over_effect(const OperatorHandle& op, Stack* stack) {
  if (!has_effect_at_meta(op)) return false;
  SB_CHECK_KIND(UnsupportedOperatorError, op.schema().returns.empty(), op.name().to_string(),
                ": the operator has an effect, which must not come about for fake tensors, and no "
                "fake rule that gives its results without it; register_fake() one: ",
                op.schema().to_string());
  stack->resize(stack->size() - op.entry().num_arguments());
  return true;
}

}  // namespace

bool FakeMode::runs_parts(const OperatorHandle& op, const FakeOp& facts) {
  const DispatchTable& table = op.entry().resolved_table();
  return table.slots[slot_of(DispatchKey::Meta)] && is_implicit_composite(table) &&
         !facts.first_rule_is_own;
}

void FakeMode::run(const OperatorHandle& op, const FakeOp& facts, Stack* stack) {
  const DispatchTable& table = op.entry().resolved_table();
  const Kernel& meta = table.slots[slot_of(DispatchKey::Meta)];
  const bool composite = meta && is_implicit_composite(table);
  FakeCall call(*this, op, stack);
  for (size_t i = 0; i < facts.rules.size(); ++i) {
    // What holds for a kind of operators holds for those that this one is composed of.
    if (composite && !(i == 0 && facts.first_rule_is_own)) break;
    try {
      if ((*facts.rules[i].run)(call)) return;
    } catch (const Error& error) {
      rethrow(error);
    }
  }
  if (!facts.is_builtin && pass_over_effect(op, stack)) return;
  if (composite) {
    ModeGuard active(this);
    op.redispatch_boxed(DispatchKey::Meta, stack);
    return;
  }
  if (meta) {
    run_meta_or_fallback(op, facts, common_device(op, *stack), stack);
  } else if (facts.returns_nothing && !facts.mutates) {
    // There is nothing that it could have done.
    stack->resize(stack->size() - op.entry().num_arguments());
  } else if (facts.is_builtin || !run_trivial_rule(op, stack)) {
    internal::run_fallback_kernel(*this, op, facts, stack);
  }
}

void FakeMode::run_meta_or_fallback(const OperatorHandle& op, const FakeOp& facts,
                                    std::optional<Device> device, Stack* stack) {
  const size_t size = stack->size();
  // The rule gets another device than the call.
  const size_t device_at =
      size - op.entry().num_arguments() + static_cast<size_t>(facts.device_argument);
  const IValue given = facts.device_argument < 0 ? IValue() : (*stack)[device_at];
  std::string said;
  try {
    run_meta_kernel(op, facts, device, stack);
    return;
  } catch (const ModeDeclined&) {
    throw;
  } catch (const DataDependentOutputError& error) {  // zeros would answer, and wrongly
    rethrow_named(error, op);
  } catch (const DynamicOutputShapeError& error) {
    rethrow_named(error, op);
  } catch (const NotImplementedError& error) {
    // Otherwise the rule's own words are what matters; or the arguments are gone.
    if (!internal::may_fall_back(op) || stack->size() != size) rethrow_named(error, op);
    said = error.what();
  } catch (const RuntimeError& error) {
    // It may have read memory, in words that do not name the operator.
    if (!meta_runs_kernel_for_all_devices(op) || internal::may_fall_back(op) ||
        std::string_view(error.what()).starts_with(op.name().name))
      rethrow_named(error, op);
    rethrow_with_context(error, absl::StrCat(op.name().to_string(),
                                             ": its kernel for all devices refuses tensors without "
                                             "data; register one at Meta, or a fake rule by "
                                             "register_fake: "));
  }
  if (facts.device_argument >= 0) (*stack)[device_at] = given;
  internal::run_fallback_kernel(*this, op, facts, stack, said);
}

void FakeMode::run_meta_kernel(const OperatorHandle& op, const FakeOp& facts,
                               std::optional<Device> common, Stack* stack) {
  const size_t base = stack->size() - op.entry().num_arguments();
  IValue* const arguments = stack->data() + base;
  Device device = common.value_or(Device(DeviceType::CPU));
  if (facts.device_argument >= 0) {
    IValue& argument = arguments[facts.device_argument];
    if (argument.is_Device()) device = with_index(argument.to_device());
    argument = IValue(Device(DeviceType::Meta));
  }
  SB_CHECK_VALUE(options_.allow_meta || !device.is_meta(), op.name().to_string(),
                 ": argument device: expected another device than meta "
                 "(FakeTensorOptions::allow_meta allows it)");

  const IntrusivePtr<ModeData> data = data_of(absl::MakeConstSpan(arguments, stack->size() - base));
  KernelInvocation invocation(facts.sets_metadata);
  for (size_t i = base; i < stack->size(); ++i) invocation.unfake((*stack)[i]);
  op.redispatch_boxed(DispatchKey::Meta, stack);
  invocation.end();
  for (size_t i = base; i < stack->size(); ++i) {
    (*stack)[i].for_each_tensor(
        [&](const Tensor& result) { adopt(op, invocation, result, device, data); });
  }
}

template <class Invocation>
void FakeMode::adopt(const OperatorHandle& op, const Invocation& invocation, const Tensor& result,
                     Device device, const IntrusivePtr<ModeData>& data) {
  if (result.impl()->mode_data() || !result.defined()) return;  // an argument
  SB_CHECK(result.is_meta(), op.name().to_string(),
           ": the kernel at Meta gave a tensor that is neither meta nor fake, ", result.describe());
  if (!invocation.is_storage_of_argument(result.storage())) {
    count_storage(result.storage().get(), &converter_.allocator());
  }
  become_fake(result, device, data);
}

// Keeps this alive, too.
IntrusivePtr<ModeData> FakeMode::data_of(absl::Span<const IValue> arguments) {
  // The first argument most often has it, and copying it is cheaper than asking the weak reference.
  if (!arguments.empty() && arguments[0].is_Tensor()) {
    const IntrusivePtr<ModeData>& data = arguments[0].unchecked_tensor().impl()->mode_data();
    if (data && !static_cast<const FakeTensorData*>(data.get())->extras()) return data;
  }
  return data();
}

void FakeMode::record_creation(const Tensor& fake, const Creation& creation) {
  FakeExtras& extras = extras_of(fake);
  if (!extras.creation) extras.creation = std::make_unique<Creation>(creation);
}

}  // namespace sb::internal
