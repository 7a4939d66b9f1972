#include "switchboard/fake/register_fake.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/objects/library_handle.h"
#include "switchboard/fake/fake_errors.h"
#include "switchboard/fake/fake_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/fake/trivial_rule.h"

namespace sb {
namespace {

constinit thread_local const FakeContext* current = nullptr;

class CurrentContext {
 public:
  explicit CurrentContext(const FakeContext& context) : outer_(std::exchange(current, &context)) {
    ++depth_;
  }
  ~CurrentContext() {
    current = outer_;
    --depth_;
  }
  // How many rules run on this thread, one called by another.
  static int depth() { return depth_; }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const FakeContext* outer_;
  static constinit thread_local int depth_;
};
constinit thread_local int CurrentContext::depth_ = 0;

// No rule needs so many others, but one that calls its own operator.
constexpr int kDeepest = 100;

// Runs a rule on the fake tensors themselves, with their mode active: what it makes is fake, and
// its devices are those of the arguments. `rule` gives the results.
template <class F>
void run_held(internal::FakeMode& mode, std::string op, const F& rule) {
  const FakeContext context(std::move(op), mode.shape_env());
  const CurrentContext as_current(context);
  SB_CHECK(CurrentContext::depth() <= kDeepest, context.op(), ": fake rules call each other ",
           kDeepest, " deep; a rule must not call its own operator");
  const ModeGuard active(&mode);
  for (const IValue& result : rule()) {
    result.for_each_tensor([&](const Tensor& t) {
      SB_CHECK(!t.defined() || mode.owns(t), context.op(),
               ": expected fake tensors from its fake rule, got ", t.describe(),
               ", which is not one of the mode");
    });
  }
}

// The rule is the kernel at Meta.
bool run_fake_rule(FakeCall& call) {
  run_held(call.mode(), call.name(), [&] {
    call.op().redispatch_boxed(DispatchKey::Meta, call.stack());
    return absl::MakeConstSpan(*call.stack()).last(call.op().schema().returns.size());
  });
  return true;
}

// A fake rule as the kernel at Meta, held to what a rule may do: it leaves the shapes of arguments
// that the schema does not write to, and of meta tensors it makes meta tensors.
class HeldRule final : public KernelState {
 public:
  static KernelFunction hold(const KernelFunction& rule) {
    const auto held = make_intrusive<HeldRule>(rule);
    KernelFunction function;
    function.entries = {nullptr, &call, held.get()};
    function.state = held;
    function.signature = rule.signature;
    return function;
  }
  explicit HeldRule(const KernelFunction& rule) : rule_(rule) {}

 private:
  // An argument, which gets its shape back when the rule has run.
  struct Shape {
    Shape(size_t i, const Tensor& t) : index(i), tensor(t), before(t.impl()->shallow_copy()) {}
    Shape(Shape&&) = default;
    ~Shape() {
      if (!tensor.defined() || is_kept()) return;
      tensor.impl()->set_sym_sizes_and_strides(before.sym_sizes(), before.sym_strides(),
                                               before.sym_storage_offset());
    }
    // A symbol that became a number, or another one, as the rule asked for it, is what it was.
    bool is_kept() const {
      const auto same = [](const SymInt& a, const SymInt& b) { return known(a == b); };
      return tensor.dtype() == before.dtype() &&
             std::ranges::equal(tensor.sym_sizes(), before.sym_sizes(), same) &&
             std::ranges::equal(tensor.sym_strides(), before.sym_strides(), same);
    }
    static std::string text_of(const Tensor& t) {
      const auto number = [](std::string* out, const SymInt& n) { *out += n.to_string(); };
      return str_cat(t.describe(), " with strides [", absl::StrJoin(t.sym_strides(), ", ", number),
                     "]");
    }

    size_t index;
    Tensor tensor, before;
  };

  static void call(const Kernel& kernel, const OperatorHandle& op, DispatchKeySet keys,
                   Stack* stack) {
    const KernelFunction& rule = static_cast<const HeldRule*>(kernel.state)->rule_;
    const FunctionSchema& schema = op.schema();
    std::vector<Shape> shapes;
    bool any_meta = false;
    const auto arguments = absl::MakeConstSpan(*stack).last(schema.arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i) {
      arguments[i].for_each_tensor([&](const Tensor& t) {
        if (!t.defined()) return;
        any_meta = any_meta || (t.is_meta() && !is_fake(t));
        if (!schema.arguments[i].is_write()) shapes.emplace_back(i, t);
      });
    }
    rule.entries.boxed(rule.entries, op, keys, stack);
    for (const Shape& shape : shapes) {
      SB_CHECK(shape.is_kept(), op.name().to_string(),
               ": the fake rule has changed the shape of an argument, ", shape.index, " '",
               schema.arguments[shape.index].name, "', ", Shape::text_of(shape.before), " to ",
               Shape::text_of(shape.tensor),
               ", which the schema does not say: ", schema.to_string());
    }
    if (!any_meta) return;
    for (const IValue& result : absl::MakeConstSpan(*stack).last(schema.returns.size())) {
      result.for_each_tensor([&](const Tensor& t) {
        SB_CHECK(!t.defined() || t.is_meta(), op.name().to_string(),
                 ": expected meta tensors from its fake rule for arguments on the meta device, "
                 "got ",
                 t.describe(), ", whose elements nobody computed");
      });
    }
  }

  KernelFunction rule_;
};

// What stands at Meta for an operator that is to have a rule.
struct MissingRule {
  void operator()(const OperatorHandle& op, DispatchKeySet, Stack* stack) const {
    const FunctionSchema& schema = op.schema();
    if (internal::run_trivial_rule(op, stack)) return;
    SB_CHECK_KIND(UnsupportedOperatorError, schema.returns.empty(), op.name().to_string(),
                  ": no fake rule, and the operator's kernels do not run on tensors without data; "
                  "register_fake() one: ",
                  schema.to_string());
    stack->resize(stack->size() - schema.arguments.size());
  }
};

// Has fake mode run the kernel at Meta of an operator as a rule, as long as a handle lives. All
// rules of an operator share that.
RegistrationHandle run_rules_of(const OperatorName& op, SourceLocation where) {
  static std::mutex& mutex = *new std::mutex;
  static auto& running = *new std::map<std::string, std::weak_ptr<RegistrationHandle>>;
  const std::string name = op.to_string();
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<RegistrationHandle> shared = running[name].lock();
  if (!shared) {
    shared = std::make_shared<RegistrationHandle>(register_fake_rule(name, run_fake_rule, where));
    running[name] = shared;
  }
  return RegistrationHandle([shared]() mutable {
    const std::lock_guard<std::mutex> last(mutex);
    shared = nullptr;
  });
}

// Refuses a rule for an operator whose calls on tensors without data are served already.
void check_nothing_at_meta(const OperatorName& op, Dispatcher& dispatcher, SourceLocation where) {
  const std::optional<OperatorHandle> found = dispatcher.find_op(op);
  if (!found) return;
  const BoxedEntry missing = make_kernel(MissingRule()).entries.boxed;
  dispatcher.inspect([&] {
    for (const DispatchKey key : {DispatchKey::Meta, DispatchKey::CompositeImplicitAutograd}) {
      const auto kernels = found->entry().kernels_at(key);
      SB_CHECK(kernels.empty() || kernels.back().function.entries.boxed == missing,
               "register_fake: ", op.to_string(), ": expected no fake rule and no kernel at ",
               to_string(key), ", got one at ", to_string(kernels.back().where),
               "\nand another at: ", to_string(where));
    }
  });
}

}  // namespace

SymInt FakeContext::new_dynamic_size(int64_t min, std::optional<int64_t> max) const {
  SB_CHECK_VALUE(min >= 0 && (!max || *max >= min), op_,
                 ": new_dynamic_size: expected a size of 0 or more, and a maximum not below the "
                 "minimum, got ",
                 min, " to ", max ? std::to_string(*max) : "any");
  ShapeEnv* const env = shape_env();
  SB_CHECK_KIND(DynamicOutputShapeError, env && env->settings().allow_dynamic_output_shape_ops, op_,
                ": new_dynamic_size: the result's shape depends on the data, which fake tensors do "
                "not have; a mode with a ShapeEnv gives it a symbolic size");
  const SymInt size = env->create_unbacked_symint();
  constrain_range_for_size(size, min, max.value_or(std::numeric_limits<int64_t>::max() - 1));
  return size;
}

RegistrationHandle register_fake(HigherOrderOperator& op, FakeHigherOrderRule rule,
                                 SourceLocation where) {
  SB_CHECK_VALUE(rule, "register_fake: ", op.name(), ": expected a rule, got an empty function");
  return op.impl_mode<internal::FakeMode>(
      [name = std::string(op.name()), rule = std::move(rule)](internal::FakeMode& mode,
                                                              DispatchKeySet, Stack* stack) {
        const Stack arguments = std::move(*stack);  // they keep the mode alive
        stack->clear();
        run_held(mode, name, [&] {
          *stack = rule(arguments);
          return absl::MakeConstSpan(*stack);
        });
      },
      where);
}

const FakeContext& fake_context() {
  SB_CHECK(current,
           "fake_context: expected to be called by a fake rule that runs for fake tensors; none "
           "runs on this thread (for tensors on the meta device there is no context)");
  return *current;
}

namespace internal {

RegistrationHandle register_fake_kernel(const OperatorName& op, const KernelFunction& rule,
                                        Dispatcher& dispatcher, bool allow_override,
                                        SourceLocation where) {
  if (!allow_override) check_nothing_at_meta(op, dispatcher, where);
  // Both are undone if the kernel is refused.
  RegistrationHandle running = run_rules_of(op, where);
  auto lib = std::make_unique<Library>(dispatcher, Library::Kind::Fragment, std::string(op.ns()),
                                       std::nullopt, where);
  // Not over an implicit composite, which impl() refuses.
  lib->impl(op.to_string(), DispatchKey::Meta, HeldRule::hold(rule), where);
  lib->own(std::move(running));
  return library_handle(std::move(lib));
}

void expect_fake_rule(const OperatorName& op, Library& lib, SourceLocation where) {
  lib.impl(op.to_string(), DispatchKey::Meta, MissingRule(), where);
}

}  // namespace internal
}  // namespace sb
