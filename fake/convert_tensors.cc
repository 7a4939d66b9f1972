// How real tensors come into a fake mode.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "switchboard/core/error.h"
#include "switchboard/core/symbols/symbolic_number.h"
#include "switchboard/fake/call_arguments.h"
#include "switchboard/fake/fake_mode.h"
#include "switchboard/fake/map_tensors.h"
#include "switchboard/fake/symbolic_sizes.h"
#include "switchboard/ops/copying/copy.h"

namespace sb::internal {
namespace {

void keep_requires_grad(const Tensor& real, const Tensor& fake) {
  const IntrusivePtr<AutogradMeta>& meta = real.impl()->autograd_meta();
  if (meta && !fake.impl()->autograd_meta()) meta->mark_copy(fake);
}

// The number that a named input is, which is at hand as its sizes are.
void know_number(ShapeEnv& env, const Tensor& real, const Tensor& fake, const std::string& source,
                 uint64_t epoch) {
  if (source.empty() || real.dim() != 0 || real.dtype() != DType::Int64 ||
      !real.device().is_cpu() || real.impl()->is_inference())
    return;
  const SymInt number = env.create_number(*real.data<int64_t>(), source + ".item()");
  extras_of(fake).item.set(fake, epoch, IValue(number));
}

}  // namespace

Tensor FakeMode::from_tensor(const Tensor& real, const FromTensorOptions& how) {
  SB_CHECK(real.defined(), "FakeTensorMode.from_tensor: expected a tensor, got an undefined one");
  SB_CHECK_NOT_IMPLEMENTED(!real.key_set().has(DispatchKey::FuncTorchBatched),
                           "FakeTensorMode.from_tensor: inside of vmap, got ", real.describe(),
                           ", which stands for a batch; make the fake tensor outside");
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
  SB_CHECK_VALUE(how.sizes.empty() || (options_.shape_env && !is_static && how.dims.empty()),
                 "FakeTensorMode.from_tensor: sizes: expected a mode with a ShapeEnv, and neither "
                 "dims nor static shapes");
  SB_CHECK_VALUE(how.sizes.empty() || how.sizes.size() == static_cast<size_t>(real.dim()),
                 "FakeTensorMode.from_tensor: sizes: expected one for each dimension of ",
                 real.describe(), ", got ", how.sizes.size());
  const Tensor known = converter_.find(real, target);
  if (known.defined()) return known;
  const Tensor fake = converter_.convert(real, target, data());
  if (options_.shape_env && !is_static) {
    try {
      make_symbolic(*options_.shape_env, fake, how);
      know_number(*options_.shape_env, real, fake, how.source, epoch_);
    } catch (...) {
      converter_.forget(real, target);
      throw;
    }
  }
  keep_requires_grad(real, fake);
  // The run writes to what it knows, and must not to the caller's.
  if (options_.propagate_real_tensors) extras_of(fake).real = converter_.copy_of(real, target);
  if (options_.record_creation) {
    record_creation(fake, Creation::of_call(absl::StrCat("from_tensor(", real.describe(), ")")));
  }
  return fake;
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

}  // namespace sb::internal
