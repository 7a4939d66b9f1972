#include "switchboard/transforms/functionalization/functional_mode.h"

#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/modes/explain_mode.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/reclaim.h"

namespace sb {
namespace internal {

class FunctionalModeImpl;

namespace {

// What the tensors of a mode share. It keeps the mode alive.
class FunctionalModeData : public FunctionalOwner {
 public:
  explicit FunctionalModeData(IntrusivePtr<FunctionalModeImpl> mode);
  ~FunctionalModeData() override;
  DispatchMode& mode() const override;

 protected:
  void release_resources() override;

 private:
  IntrusivePtr<FunctionalModeImpl> mode_;
};

class ModeContext : public FunctionalizeContext {
 public:
  ModeContext(IntrusivePtr<FunctionalOwner> owner, FunctionalInputs* inputs)
      : FunctionalizeContext(std::move(owner), inputs) {}
  Callable::Function functionalize(Callable::Function f) const override;
  void run_in_place(const std::function<void()>& call) const override {
    const ModeGuard active(&owner()->mode());
    call();
  }
};

// A mode that lets a call pass would get it again, for ever, because of a tensor of its own.
void check_plain(const OperatorHandle& op, const IntrusivePtr<FunctionalOwner>& owner,
                 const Stack& stack) {
  const size_t num_arguments = op.entry().num_arguments();
  for (size_t i = 0; i < num_arguments; ++i) {
    stack[stack.size() - num_arguments + i].for_each_tensor([&](const Tensor& t) {
      const FunctionalTensorImpl* const impl = t.defined() ? functional_impl(t) : nullptr;
      SB_CHECK(!impl || impl->owner() != owner, op.name().to_string(), ": argument ", i, " '",
               op.schema().arguments[i].name,
               "': expected a plain tensor in a call below FunctionalMode, got a functional one of "
               "that mode, ",
               t.describe());
    });
  }
}

}  // namespace

class FunctionalModeImpl : public DispatchMode, public IntrusiveTarget {
 public:
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override {
    // The stack may hold the last tensor that keeps this mode alive.
    const IntrusivePtr<FunctionalModeImpl> self = IntrusivePtr<FunctionalModeImpl>::share(this);
    const IntrusivePtr<FunctionalOwner> owner = data();
    if (owner->bypassed()) {
      check_plain(op, owner, *stack);
      op.call_boxed(stack);
    } else if (is_implicit_composite(op, keys)) {
      ModeGuard active(this);
      call_composite(op, keys, stack);
    } else {
      ModeContext context(owner, inputs_);
      functionalize_call(context, op, stack);
    }
  }
  std::string name() const override { return "FunctionalMode"; }
  std::optional<ModeKey> mode_key() const override { return ModeKey::Functional; }

  IntrusivePtr<FunctionalOwner> data() {
    if (IntrusivePtr<FunctionalOwner> data = data_.lock()) return data;
    IntrusivePtr<FunctionalOwner> data =
        make_intrusive<FunctionalModeData>(IntrusivePtr<FunctionalModeImpl>::share(this));
    data_ = WeakIntrusivePtr<FunctionalOwner>(data);
    return data;
  }

  FunctionalInputs* inputs() const { return inputs_; }
  // Where the plain tensors that programs use are looked up; returns where it was before.
  FunctionalInputs* exchange_inputs(FunctionalInputs* inputs) {
    return std::exchange(inputs_, inputs);
  }

  class UsedInputs {
   public:
    UsedInputs(FunctionalModeImpl* mode, FunctionalInputs* inputs)
        : mode_(mode), previous_(mode->exchange_inputs(inputs)) {}
    ~UsedInputs() { mode_->exchange_inputs(previous_); }
    UsedInputs(const UsedInputs&) = delete;
    UsedInputs& operator=(const UsedInputs&) = delete;

   private:
    FunctionalModeImpl* mode_;
    FunctionalInputs* previous_;
  };

  // Runs f on functional tensors of the inputs, with the mode active.
  std::vector<Tensor> run(const TensorFunction& f, const std::vector<Tensor>& inputs,
                          FunctionalInputs* functional_inputs) {
    const RunningProgram running;
    const UsedInputs used(this, functional_inputs);
    const std::vector<Tensor> given = wrap_inputs(functional_inputs, inputs, data());
    ModeGuard active(this);
    return f(given);
  }

 private:
  WeakIntrusivePtr<FunctionalOwner> data_;
  FunctionalInputs* inputs_ = nullptr;
};

namespace {

const ExplainMode explain_functional_mode(typeid(FunctionalModeImpl), [](CallPath& path,
                                                                         DispatchMode& mode,
                                                                         const PathCall& c) {
  auto& functional = static_cast<FunctionalModeImpl&>(mode);
  const IntrusivePtr<FunctionalOwner> owner = functional.data();
  const CallPin pin;
  if (owner->bypassed()) return path.call(c.op, c.arguments);
  if (is_implicit_composite(c.op, c.keys)) {
    const ModeGuard active(&mode);
    return path.enter(c.op, runtime_key(DispatchKey::Dense, c.keys.highest_backend()), c.arguments);
  }
  explain_functionalized(path, ModeContext(owner, functional.inputs()), c);
});

FunctionalModeData::FunctionalModeData(IntrusivePtr<FunctionalModeImpl> mode)
    : mode_(std::move(mode)) {}
FunctionalModeData::~FunctionalModeData() = default;
DispatchMode& FunctionalModeData::mode() const { return *mode_; }
void FunctionalModeData::release_resources() { mode_ = nullptr; }

Callable::Function ModeContext::functionalize(Callable::Function f) const {
  return [f = std::move(f), owner = owner()](std::vector<IValue> arguments) {
    // By a mode of its own: this one's calls are now made for values.
    BelowFunctionalization below(owner);
    const auto mode = make_intrusive<FunctionalModeImpl>();
    FunctionalInputs inputs(mode->data());
    const FunctionalModeImpl::UsedInputs used(mode.get(), &inputs);
    ModeGuard active(mode.get());
    return call_on_values(f, std::move(arguments), &inputs, mode->data());
  };
}

}  // namespace

std::type_index functional_mode_type() { return typeid(FunctionalModeImpl); }

std::unique_ptr<FunctionalizeApi> functional_mode_context(DispatchMode& mode) {
  auto& functional = static_cast<FunctionalModeImpl&>(mode);
  return std::make_unique<ModeContext>(functional.data(), functional.inputs());
}

}  // namespace internal

// The mode with what is used by hand. Its tensors keep the former alive, not the latter.
struct FunctionalMode::State {
  IntrusivePtr<internal::FunctionalModeImpl> mode = make_intrusive<internal::FunctionalModeImpl>();
  FunctionalInputs inputs{mode->data()};

  State() { mode->exchange_inputs(&inputs); }
  ~State() { mode->exchange_inputs(nullptr); }
};

FunctionalMode::FunctionalMode() : state_(std::make_shared<State>()) {}

TensorFunction FunctionalMode::functionalize(TensorFunction f) const {
  return [f = std::move(f), state = state_](const std::vector<Tensor>& inputs) {
    if (internal::RunningProgram::any()) return f(inputs);
    internal::check_no_transform("FunctionalMode");
    FunctionalInputs functional_inputs(state->mode->data());
    const std::vector<Tensor> results = state->mode->run(f, inputs, &functional_inputs);
    return functional_inputs.finish(results);
  };
}

Tensor FunctionalMode::to_functional(const Tensor& plain) const {
  return state_->inputs.wrap(plain);
}

std::vector<Tensor> FunctionalMode::finish(const std::vector<Tensor>& results) const {
  return state_->inputs.finish(results);
}

DispatchMode* FunctionalMode::mode() const { return state_->mode.get(); }

}  // namespace sb
