#include "switchboard/transforms/functionalization/functionalize.h"

#include <memory>
#include <utility>

#include "switchboard/dispatch/default_fallback.h"
#include "switchboard/dispatch/make_kernel.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/transforms/functionalization/functional_mode.h"

namespace sb {
namespace {

// Of the innermost functionalised program of this thread, while it runs.
thread_local FunctionalInputs* current_inputs = nullptr;

// Sends every call of the thread to the Functionalize key, those without tensors included.
class FunctionalizeGuard {
 public:
  explicit FunctionalizeGuard(FunctionalInputs* inputs)
      : unexclude_(DispatchKey::Functionalize),
        include_(DispatchKey::Functionalize),
        previous_(std::exchange(current_inputs, inputs)) {}
  ~FunctionalizeGuard() { current_inputs = previous_; }
  FunctionalizeGuard(const FunctionalizeGuard&) = delete;
  FunctionalizeGuard& operator=(const FunctionalizeGuard&) = delete;

 private:
  UnexcludeKeysGuard unexclude_;
  IncludeKeysGuard include_;
  FunctionalInputs* previous_;
};

class KeyContext : public FunctionalizeContext {
 public:
  KeyContext() : FunctionalizeContext(nullptr, current_inputs) {}
  Callable::Function functionalize(Callable::Function f) const override {
    return [f = std::move(f)](std::vector<IValue> arguments) {
      BelowFunctionalization below(nullptr);
      const FunctionScope scope;
      FunctionalInputs inputs;
      FunctionalizeGuard guard(&inputs);
      return internal::call_on_values(f, std::move(arguments), &inputs, nullptr);
    };
  }
  void run_in_place(const std::function<void()>& call) const override { call(); }
};

// The kernel at the Functionalize key, of every operator.
void functionalize_kernel(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  if (internal::is_implicit_composite(op, keys)) {
    internal::call_composite(op, keys, stack);
    return;
  }
  KeyContext context;
  internal::functionalize_call(context, op, stack);
}

const internal::DefaultFallback functionalize_fallback(DispatchKey::Functionalize,
                                                       make_kernel(&functionalize_kernel));
const ExplainFallback explain_functionalize(DispatchKey::Functionalize, [](CallPath& path,
                                                                           const PathCall& c) {
  const internal::CallPin pin;
  if (internal::is_implicit_composite(c.op, c.keys)) {
    const DispatchKey dense = runtime_key(DispatchKey::Dense, c.keys.highest_backend());
    return path.enter(c.op, dense, c.arguments);
  }
  internal::explain_functionalized(path, KeyContext(), c);
});

}  // namespace

TensorFunction functionalize(TensorFunction f) {
  return [f = std::move(f)](const std::vector<Tensor>& inputs) {
    if (internal::RunningProgram::any()) return f(inputs);
    internal::check_no_transform("functionalize");
    FunctionalInputs functional_inputs;
    std::vector<Tensor> results;
    {
      const internal::RunningProgram running;
      FunctionalizeGuard guard(&functional_inputs);
      results = f(internal::wrap_inputs(&functional_inputs, inputs, nullptr));
    }
    return functional_inputs.finish(results);
  };
}

const FunctionalizeRoutes& functionalize_routes() {
  static const FunctionalizeRoutes* const routes = [] {
    auto* const made = new FunctionalizeRoutes;
    made->key = [] { return std::make_unique<KeyContext>(); };
    made->mode_type = internal::functional_mode_type();
    made->mode = internal::functional_mode_context;
    return made;
  }();
  return *routes;
}

}  // namespace sb
