#include "switchboard/fake/fake_mode.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/core/symbols/symbolic_number.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/inspect/call_text.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/modes/explain_mode.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/fake/cached_call.h"
#include "switchboard/fake/fake_errors.h"
#include "switchboard/fake/fallback_kernel.h"
#include "switchboard/fake/kernel_invocation.h"
#include "switchboard/fake/map_tensors.h"
#include "switchboard/fake/real_run.h"
#include "switchboard/fake/symbolic_sizes.h"
#include "switchboard/fake/trivial_rule.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/outputs/meta_rehearsal.h"

namespace sb {
namespace internal {
namespace {

absl::Span<IValue> arguments_on(const OperatorHandle& op, Stack* stack) {
  return absl::MakeSpan(*stack).last(op.entry().num_arguments());
}
absl::Span<const IValue> arguments_on(const OperatorHandle& op, const Stack& stack) {
  return absl::MakeConstSpan(stack).last(op.entry().num_arguments());
}

// "aten::add.Tensor(float32[2] on cuda:0, other=float32[2])": the call as errors show it.
std::string render_call(const OperatorHandle& op, const Stack& stack) {
  const auto arguments = arguments_on(op, stack);
  const FunctionSchema& schema = op.schema();
  return absl::StrCat(op.name().to_string(), "(",
                      arguments_text(
                          schema,
                          [&](size_t i) {
                            const std::optional<IValue>& value = schema.arguments[i].default_value;
                            return value && is_same_constant(*value, arguments[i]);
                          },
                          [&](size_t i) {
                            return value_text(arguments[i],
                                              [](const Tensor& t) { return t.describe(); });
                          }),
                      ")");
}

}  // namespace

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
              128 * env.duck_shape;
  }
  return number;
}

void keep_requires_grad(const Tensor& real, const Tensor& fake) {
  const IntrusivePtr<AutogradMeta>& meta = real.impl()->autograd_meta();
  if (meta && !fake.impl()->autograd_meta()) meta->mark_copy(fake);
}

}  // namespace

FakeMode::FakeMode(FakeTensorOptions options)
    : options_(with_cache(std::move(options))),
      options_are_plain_(!options_.propagate_real_tensors && !options_.record_creation &&
                         options_.cache_use <= FakeCacheUse::Costly),
      cache_settings_(settings_number(options_)) {}

IntrusivePtr<ModeData> FakeMode::data() {
  if (IntrusivePtr<ModeData> data = data_.lock()) return data;
  IntrusivePtr<ModeData> data = make_intrusive<FakeTensorData>(IntrusivePtr<FakeMode>::share(this));
  data_ = WeakIntrusivePtr<ModeData>(data);
  return data;
}

Tensor FakeMode::from_tensor(const Tensor& real, const FromTensorOptions& how) {
  SB_CHECK(real.defined(), "FakeTensorMode.from_tensor: expected a tensor, got an undefined one");
  if (owns(real)) return real;
  SB_CHECK(!real.impl()->mode_data(),
           "FakeTensorMode.from_tensor: expected a real tensor or a fake one of this mode, got ",
           real.describe(), " of another mode, ", real.impl()->mode_data()->mode().name());
  const Device target = with_index(how.device.value_or(real.device()));
  SB_CHECK_VALUE(options_.allow_meta || !target.is_meta(),
                 "FakeTensorMode.from_tensor: expected another device than meta for ",
                 real.describe(), " (FakeTensorOptions::allow_meta allows it)");
  const bool is_static = how.static_shapes.value_or(options_.static_shapes);
  SB_CHECK_VALUE(!how.static_shapes.value_or(false) || how.dims.empty(),
                 "FakeTensorMode.from_tensor: dims: expected none for static shapes, got ",
                 how.dims.size());
  SB_CHECK_VALUE(how.dims.empty() || how.dims.size() == static_cast<size_t>(real.dim()),
                 "FakeTensorMode.from_tensor: dims: expected one for each dimension of ",
                 real.describe(), ", got ", how.dims.size());
  const Tensor known = converter_.find(real, target);
  if (known.defined()) return known;
  const Tensor fake = converter_.convert(real, target, data());
  if (options_.shape_env && !is_static) {
    try {
      make_symbolic(*options_.shape_env, fake, how);
    } catch (...) {
      converter_.forget(real, target);
      throw;
    }
  }
  keep_requires_grad(real, fake);
  if (options_.propagate_real_tensors) extras_of(fake).real = real;
  if (options_.record_creation) {
    record_creation(fake, Creation::of_call(absl::StrCat("from_tensor(", real.describe(), ")")));
  }
  return fake;
}

Tensor FakeMode::empty(SymIntArrayRef sizes, SymIntArrayRef strides, DType dtype, Device device) {
  const Tensor result = empty_with_symbols(sizes, strides, dtype);
  count_storage(result.storage().get(), &converter_.allocator());
  become_fake(result, with_index(device), data());
  return result;
}

void FakeMode::call(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const FakeOp& facts = fake_op(op);
  const FakeArguments arguments = FakeArguments::of(*this, arguments_on(op, stack));
  if (arguments.is_special() || !goes_straight(facts, op.entry().resolved_table())) {
    call_slowly(op, facts, arguments, stack);
    return;
  }
  if (arguments.device.disagrees()) throw_devices_disagree(op, arguments_on(op, *stack));
  run_meta_or_fallback(op, facts, arguments.device.device(), stack);
}

namespace {

// Whether the operator has an ordered effect, and its only kernel for Meta is the one for real
// tensors.
bool has_effect_at_meta(const OperatorHandle& op) {
  return has_ordered_effect(op) &&
         op.entry().dispatcher().resolve(op.entry(), DispatchKey::Meta).source ==
             DispatchKey::CompositeExplicitAutograd;
}

}  // namespace

void FakeMode::explain(CallPath& path, const PathCall& c) {
  const CallPin pin;
  const FakeOp& facts = fake_op(c.op);
  const auto given = arguments_on(c.op, c.arguments);
  const FakeArguments arguments = FakeArguments::of(*this, given);
  const DispatchTable& table = c.op.entry().resolved_table();
  if (!arguments.is_special() && goes_straight(facts, table)) {
    if (arguments.device.disagrees()) return path.fails("the arguments are on different devices");
    return path.enter(c.op, DispatchKey::Meta, c.arguments);
  }
  // Each of these may give the results, or leave it to the next.
  const auto decides = [&](const char* what) {
    path.passes(c.op.name().to_string(), what);
    path.decides();
  };
  if (facts.is_lift && arguments.foreign) return decides("copy of a literal");
  if (arguments.extras || options_.propagate_real_tensors) decides("known data");
  if (is_remembered(*this, c.op, facts, arguments, given))
    return path.passes(c.op.name().to_string(), "remembered result");
  const bool has_meta(table.slots[slot_of(DispatchKey::Meta)]);
  const bool composite = has_meta && is_implicit_composite(table);
  if (composite ? facts.first_rule_is_own : !facts.rules.empty()) decides("fake rule");
  if (!facts.is_builtin && has_effect_at_meta(c.op)) return;  // passed over
  if (composite) {
    const ModeGuard active(this);
    path.enter(c.op, DispatchKey::Meta, c.arguments);
  } else if (has_meta) {
    path.enter(c.op, DispatchKey::Meta, c.arguments);
  } else if (!facts.returns_nothing || facts.mutates) {
    decides("fallback kernel");
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

const Kernel* FakeMode::enter_direct(const OperatorHandle& op,
                                     absl::Span<const Tensor* const> tensors) {
  const FakeOp& facts = fake_op(op);
  const DispatchTable& table = op.entry().resolved_table();
  const Kernel& meta = table.slots[slot_of(DispatchKey::Meta)];
  if (!goes_straight(facts, table) || !meta.unboxed || facts.device_argument >= 0 ||
      facts.sets_metadata || direct_) {
    return nullptr;
  }
  FakeArguments arguments;
  for (const Tensor* const t : tensors) arguments.add(*this, *t);
  const std::optional<Device> device = arguments.device.device();
  if (!device || arguments.is_special() || arguments.device.disagrees() ||
      (device->is_meta() && !options_.allow_meta)) {
    return nullptr;
  }
  // As in data_of().
  const IntrusivePtr<ModeData>& first = tensors[0]->impl()->mode_data();
  direct_.emplace(op, *device, first ? first : data());  // nothing throws from here on
  for (const Tensor* const t : tensors) direct_->invocation.unfake(*t);
  return &meta;
}

void FakeMode::adopt_direct(const Tensor& result) {
  direct_->invocation.end();
  adopt(direct_->op, direct_->invocation, result, direct_->device, direct_->data);
}

void FakeMode::leave_direct() noexcept {
  const IntrusivePtr<ModeData> keep = std::move(direct_->data);
  direct_.reset();
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
    arguments = FakeArguments::of(*this, arguments_on(op, stack));
  }
  if (arguments.extras) {
    if (compute_constants(op, facts, arguments, stack)) return;
    if (facts.mutates) forget_written_constants(op, *stack);
  }
  const RealRun real = options_.propagate_real_tensors ? RealRun(op, facts, stack) : RealRun();
  run_cached(*this, op, facts, arguments, stack, [&] { run(op, facts, stack); });
  real.give(absl::MakeConstSpan(*stack).subspan(base));
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

void FakeMode::run(const OperatorHandle& op, const FakeOp& facts, Stack* stack) {
  const DispatchTable& table = op.entry().resolved_table();
  const Kernel& meta = table.slots[slot_of(DispatchKey::Meta)];
  const bool composite = meta && is_implicit_composite(table);
  FakeCall call(*this, op, stack);
  for (size_t i = 0; i < facts.rules.size(); ++i) {
    // What holds for a kind of operators holds for those that this one is composed of.
    if (composite && !(i == 0 && facts.first_rule_is_own)) break;
    if ((*facts.rules[i])(call)) return;
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
  } catch (const DataDependentOutputError&) {  // zeros would answer, and wrongly
    throw;
  } catch (const DynamicOutputShapeError&) {
    throw;
  } catch (const NotImplementedError& error) {
    // Otherwise the rule's own words are what matters; or the arguments are gone.
    if (!internal::may_fall_back(op) || stack->size() != size) throw;
    said = error.what();
  } catch (const RuntimeError& error) {
    // It may have read memory, in words that do not name the operator.
    if (!meta_runs_kernel_for_all_devices(op) || internal::may_fall_back(op) ||
        std::string_view(error.what()).starts_with(op.name().name))
      throw;
    rethrow_with_context(error, absl::StrCat(op.name().to_string(),
                                             ": its kernel for all devices refuses tensors without "
                                             "data; register one at Meta, or a rule by "
                                             "register_fake_rule: "));
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

void FakeMode::adopt(const OperatorHandle& op, const KernelInvocation& invocation,
                     const Tensor& result, Device device, const IntrusivePtr<ModeData>& data) {
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

bool FakeMode::lift(Stack* stack) {
  const Tensor real = stack->back().to_tensor();
  if (!real.defined() || real.impl()->mode_data()) return false;
  // A copy, as the program may write to what it made of its literal.
  const auto copy = [](const Tensor& t) {
    const NoModesGuard no_modes;
    return clone(t);
  };
  const Tensor own = may_be_constant(real) ? copy(real) : real;
  const Tensor fake = converter_.convert(own, with_index(real.device()), data());
  if (may_be_constant(real)) converter_.make_constant(fake, own);
  if (options_.propagate_real_tensors) extras_of(fake).real = own;
  stack->back() = IValue(fake);
  return true;
}

Tensor FakeMode::convert_argument(const OperatorHandle& op, const FakeOp& facts, size_t index,
                                  const Tensor& tensor, const Stack& stack) {
  if (!tensor.defined() || owns(tensor)) return tensor;
  const auto where = [&] {
    return absl::StrCat(op.name().to_string(), ": argument ", index, " '",
                        op.schema().arguments[index].name, "': ");
  };
  if (const IntrusivePtr<ModeData>& other = tensor.impl()->mode_data()) {
    // Its mode may know what to do.
    if (!dynamic_cast<const FakeTensorData*>(other.get())) throw ModeDeclined();
    SB_THROW(RuntimeError, where(), "expected a fake tensor of this mode, got one of another, in ",
             render_call(op, stack));
  }
  if (symbolic_number_of(tensor)) {
    return converter_.convert(tensor, Device(DeviceType::CPU), data());
  }
  SB_CHECK(!tensor.is_meta() || options_.allow_meta, where(),
           "expected a fake tensor, got a meta one, ", tensor.describe(), ", in ",
           render_call(op, stack));
  const bool is_number = tensor.impl()->is_wrapped_number();
  if (!is_number) {
    SB_CHECK(!facts.sets_metadata, where(),
             "expected a fake tensor, as the operator changes its "
             "arguments' shape or storage, got a real one, ",
             tensor.describe(), ", in ", render_call(op, stack));
    SB_CHECK(options_.allow_non_fake_inputs, where(), "expected a fake tensor, got a real one, ",
             tensor.describe(), ", in ", render_call(op, stack),
             "; convert it with FakeTensorMode::from_tensor, or allow_non_fake_inputs");
  }
  const Tensor fake = converter_.convert(tensor, with_index(tensor.device()), data());
  keep_requires_grad(tensor, fake);
  if (is_number) converter_.make_constant(fake, tensor);
  return fake;
}

void FakeMode::convert_arguments(const OperatorHandle& op, const FakeOp& facts, Stack* stack) {
  // Apart until all are converted: the call stays as it was where one is refused.
  const auto given = arguments_on(op, *stack);
  Stack converted(given.begin(), given.end());
  for (size_t i = 0; i < converted.size(); ++i) {
    map_tensors(converted[i],
                [&](const Tensor& t) { return convert_argument(op, facts, i, t, *stack); });
  }
  std::ranges::move(converted, arguments_on(op, stack).begin());
}

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

void FakeMode::record_creation(const Tensor& fake, const Creation& creation) {
  FakeExtras& extras = extras_of(fake);
  if (!extras.creation) extras.creation = std::make_unique<Creation>(creation);
}

}  // namespace internal

FakeTensorMode::FakeTensorMode(FakeTensorOptions options)
    : impl_(make_intrusive<internal::FakeMode>(std::move(options))) {}

FakeTensorMode::FakeTensorMode(const FakeTensorMode& other) = default;
FakeTensorMode& FakeTensorMode::operator=(const FakeTensorMode& other) = default;
FakeTensorMode::~FakeTensorMode() = default;

Tensor FakeTensorMode::from_tensor(const Tensor& real, std::optional<Device> device) {
  return impl_->from_tensor(real, {.device = device});
}
Tensor FakeTensorMode::from_tensor(const Tensor& real, const FromTensorOptions& how) {
  return impl_->from_tensor(real, how);
}
std::vector<Tensor> FakeTensorMode::from_tensors(absl::Span<const Tensor> real,
                                                 std::optional<Device> device) {
  std::vector<Tensor> fake;
  for (const Tensor& t : real) fake.push_back(from_tensor(t, device));
  return fake;
}
Tensor FakeTensorMode::from_meta(const Tensor& meta, Device device) {
  SB_CHECK_VALUE(meta.defined() && meta.is_meta(),
                 "FakeTensorMode.from_meta: expected a meta tensor, got ", meta.describe());
  return impl_->from_tensor(meta, {.device = device, .static_shapes = true});
}

DispatchMode* FakeTensorMode::mode() const { return impl_.get(); }
const FakeTensorOptions& FakeTensorMode::options() const { return impl_->options(); }
ShapeEnv* FakeTensorMode::shape_env() const { return impl_->shape_env(); }
AllocationStats& FakeTensorMode::memory() const { return impl_->memory(); }
void FakeTensorMode::new_epoch() const { impl_->new_epoch(); }

bool is_fake(const Tensor& tensor) { return internal::find_fake_data(tensor) != nullptr; }

DispatchMode* maybe_get_fake_mode(const Tensor& tensor) {
  internal::FakeTensorData* const data = internal::find_fake_data(tensor);
  return data ? &data->mode() : nullptr;
}

Tensor constant_of(const Tensor& fake) {
  const internal::FakeExtras* const extras = internal::find_extras(fake);
  if (!extras || !extras->constant_storage || !extras->constant_storage->valid) return Tensor();
  return extras->constant;
}

Tensor real_of(const Tensor& fake) {
  const internal::FakeExtras* const extras = internal::find_extras(fake);
  return extras ? extras->real : Tensor();
}

const Creation* creation_of(const Tensor& fake) {
  const internal::FakeExtras* const extras = internal::find_extras(fake);
  return extras ? extras->creation.get() : nullptr;
}

}  // namespace sb
