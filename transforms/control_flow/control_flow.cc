#include "switchboard/transforms/control_flow/control_flow.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/modes/grad_hooks.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/outputs/output_plan.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb::control_flow {
namespace {

// Sizes may be symbols: the same expression is the same size, and nothing is asked of others.
bool same_number(const SymInt& a, const SymInt& b) {
  if (!a.is_symbolic() && !b.is_symbolic()) return a.expect_int() == b.expect_int();
  if (const auto known = statically_known(a == b)) return *known;
  return (a == b).guard_bool();
}

bool same_sizes(const Tensor& a, const Tensor& b) {
  if (a.dim() != b.dim()) return false;
  for (int64_t d = 0; d < a.dim(); ++d)
    if (!same_number(a.sym_size(d), b.sym_size(d))) return false;
  return true;
}

std::string strides_text(const Tensor& t) {
  return str_cat(
      t.describe(), " with strides [",
      absl::StrJoin(t.sym_strides(), ", ",
                    [](std::string* out, const SymInt& stride) { *out += stride.to_string(); }),
      "]");
}

// RuntimeError if a result is a view of an argument, or the argument itself.
void check_no_alias(std::string_view who, const std::vector<IValue>& arguments,
                    const std::vector<IValue>& results, size_t copied) {
  for (size_t r = 0; r < std::min(copied, results.size()); ++r) {
    results[r].for_each_tensor([&](const Tensor& result) {
      for (size_t a = 0; a < arguments.size(); ++a) {
        arguments[a].for_each_tensor([&](const Tensor& argument) {
          SB_CHECK(!result.is_alias_of(argument), who, ": result ", r,
                   " shares memory with argument ", a, ", ", argument.describe(),
                   "; under functionalization it must be a clone");
        });
      }
    });
  }
}

}  // namespace

bool same_strides(const Tensor& a, const Tensor& b) {
  if (!a.is_symbolic() && a.numel() == 0) return true;
  for (int64_t d = 0; d < a.dim(); ++d)
    if (a.sym_size(d).maybe_int() != 1 && !same_number(a.sym_stride(d), b.sym_stride(d)))
      return false;
  return true;
}

FunctionArgument::FunctionArgument(std::string_view op, std::string_view name, const IValue& value)
    : name_(str_cat(op, ": ", name)), function_(Callable::find(value)) {
  SB_CHECK_TYPE(function_, name_, ": expected a Callable, got ", value.tag_name());
}

std::vector<Tensor> FunctionArgument::operator()(const std::vector<Tensor>& arguments) const {
  std::vector<Tensor> tensors;
  for (IValue& result : (*function_)(control_flow::values_of(arguments))) {
    const size_t i = tensors.size();
    SB_CHECK_TYPE(result.is_Tensor(), name_, ": result ", i, ": expected a tensor, got ",
                  result.tag_name());
    tensors.push_back(std::move(result).to_tensor());
    SB_CHECK(tensors.back().defined(), name_, ": result ", i,
             ": expected a tensor, got an undefined one");
  }
  return tensors;
}

const std::vector<IValue>& arguments_of(std::string_view op, const std::vector<IValue>& stack,
                                        size_t expected) {
  SB_CHECK_TYPE(stack.size() == expected, op, ": expected ", expected, " arguments, got ",
                stack.size());
  return stack;
}

std::vector<Tensor> tensors_of(std::string_view op, std::string_view name, const IValue& value) {
  std::vector<Tensor> tensors;
  if (value.is_TensorList()) {
    tensors.assign(value.to_tensor_list().begin(), value.to_tensor_list().end());
  } else {
    SB_CHECK_TYPE(value.is_List(), op, ": ", name, ": expected a list of tensors, got ",
                  value.tag_name());
    for (const IValue& item : value.to_list()) {
      SB_CHECK_TYPE(item.is_Tensor(), op, ": ", name, ": item ", tensors.size(),
                    ": expected a tensor, got ", item.tag_name());
      tensors.push_back(item.to_tensor());
    }
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    SB_CHECK(tensors[i].defined(), op, ": ", name, ": item ", i,
             ": expected a tensor, got an undefined one");
  }
  return tensors;
}

std::vector<IValue> values_of(const std::vector<Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

bool truth_of(std::string_view who, const Tensor& tensor) {
  try {
    return item(tensor).to<bool>();
  } catch (const Error& error) {
    rethrow_with_context(error, str_cat(who, ": "));
  }
}

void check_slices(std::string_view op, const std::vector<Tensor>& xs) {
  SB_CHECK(!xs.empty(), op, ": xs: expected at least one tensor, got none");
  for (size_t i = 0; i < xs.size(); ++i) {
    SB_CHECK(xs[i].dim() > 0, op, ": xs: item ", i, ": expected a first dimension, got ",
             xs[i].describe());
    SB_CHECK(xs[i].sym_size(0).maybe_int() != 0, op, ": xs: item ", i,
             ": expected a first dimension that is not 0, got ", xs[i].describe());
    SB_CHECK(same_number(xs[i].sym_size(0), xs[0].sym_size(0)), op, ": xs: item ", i,
             ": expected a first dimension of ", xs[0].sym_size(0).to_string(),
             ", as that of item 0, got ", xs[i].describe());
  }
}

void check_same_metadata(std::string_view who, const std::vector<Tensor>& got, std::string_view of,
                         const std::vector<Tensor>& expected, Strides strides) {
  SB_CHECK(got.size() == expected.size(), who, ": expected ", expected.size(),
           " results, as many as ", of, ", got ", got.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const Tensor &a = expected[i], &b = got[i];
    SB_CHECK(a.dtype() == b.dtype() && same_sizes(a, b) && a.device() == b.device(), who,
             ": result ", i, ": expected ", a.describe(), ", as of ", of, ", got ", b.describe());
    SB_CHECK(strides == Strides::Ignored || same_strides(a, b), who, ": result ", i, ": expected ",
             strides_text(a), ", as of ", of, ", got ", strides_text(b),
             "; a graph, and fake tensors, have fixed strides");
  }
}

namespace {

// Refuses tensors that require gradients in the functions of a call that is not derived.
class GradientWatch final : public DispatchMode {
 public:
  explicit GradientWatch(std::string who) : who_(std::move(who)) {}
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    for (const IValue& value : absl::MakeConstSpan(*stack).last(op.entry().num_arguments()))
      check(value, str_cat("captured by a function that calls ", op.name().to_string()));
    op.call_boxed(stack);
  }
  std::string name() const override { return "GradientWatch"; }
  bool only_watches() const override { return true; }
  void watch_higher_order(std::string_view op, Stack* stack,
                          absl::FunctionRef<void()> go_on) override {
    for (const IValue& value : *stack)
      check(value, str_cat("captured by a function that calls ", op));
    go_on();
  }
  void check(const IValue& value, std::string_view where) const {
    const auto records = [](const Tensor& t) {
      return internal::grad_hooks->is_grad_enabled() && internal::grad_hooks->requires_grad(t);
    };
    value.for_each_tensor([&](const Tensor& t) {
      SB_CHECK_NOT_IMPLEMENTED(!records(t), who_, ": ", t.describe(), ", ", where,
                               ", requires a gradient, which is not computed there; detach() it, "
                               "call it under no_grad, or take the mode away");
    });
  }

 private:
  std::string who_;
};

// Whether what the call does is what the functions do, one call after the other.
bool runs_plainly(DispatchKeySet keys, const Stack& stack) {
  if (!keys.has(DispatchKey::Python)) return true;
  bool owned = false;
  for (const IValue& value : stack)
    value.for_each_tensor([&](const Tensor& t) { owned = owned || t.impl()->mode_data(); });
  return !owned && all_modes_only_watch();
}

}  // namespace

OperatorBase::Rule autograd_rule(const HigherOrderOperator& op) {
  return [&op](DispatchKeySet keys, Stack* stack) {
    const DispatchKeySet below =
        (keys - kAutogradFunctionalities) & DispatchKeySet::below(DispatchKey::ADInplaceOrView);
    // Values carry gradients below functionalisation.
    const DispatchMode* const mode = current_mode();
    const bool functional =
        keys.has(DispatchKey::Functionalize) || (mode && mode->mode_key() == ModeKey::Functional);
    if (functional || runs_plainly(keys, *stack)) return op.redispatch_boxed(below, stack);
    const BelowAutogradGuard guard;
    const auto watch = std::make_shared<GradientWatch>(
        str_cat(op.name(), ": under ", mode ? mode->name() : "the mode of its arguments"));
    for (IValue& value : *stack) {
      watch->check(value, "an argument");
      value = Callable::map(value, [&](const IntrusivePtr<Callable>& f) {
        return [f, watch](std::vector<IValue> arguments) {
          const ModeGuard active(watch.get());
          return (*f)(std::move(arguments));
        };
      });
    }
    op.redispatch_boxed(below, stack);
  };
}

namespace {

// Whether nothing replaces or records what is called on the values of a call's arguments.
bool is_plain_below(const FunctionalizeApi& api, const Stack& arguments) {
  bool plain = true;
  for (const IValue& argument : arguments) {
    if (Callable::find(argument)) continue;
    api.unwrap(argument).for_each_tensor(
        [&](const Tensor& t) { plain = plain && !t.impl()->mode_data(); });
  }
  api.redispatch([&] { plain = plain && (!current_mode() || all_modes_only_watch()); });
  return plain;
}

// NotImplementedError where a tensor requires a gradient of a leaf that the functionalised program
// has made, which its value knows nothing of.
void check_gradients_pass(const HigherOrderOperator& op, const IValue& argument,
                          const IValue& value) {
  if (!internal::grad_hooks->is_grad_enabled()) return;
  std::vector<bool> passes;
  value.for_each_tensor(
      [&](const Tensor& t) { passes.push_back(internal::grad_hooks->requires_grad(t)); });
  size_t i = 0;
  argument.for_each_tensor([&](const Tensor& t) {
    SB_CHECK_NOT_IMPLEMENTED(passes[i++] || !internal::grad_hooks->requires_grad(t), op.name(),
                             ": under functionalization, with a mode below: ", t.describe(),
                             " requires a gradient of a leaf that the program has made, which is "
                             "not computed there; run "
                             "backward outside of the program");
  });
}

}  // namespace

FunctionalizeApiRule functionalized(const HigherOrderOperator& op,
                                    std::vector<std::string> function_names,
                                    std::function<size_t(const std::vector<IValue>&)> copied) {
  return [&op, names = std::move(function_names), copied = std::move(copied)](
             const FunctionalizeApi& api, DispatchKeySet, Stack* stack) {
    if (is_plain_below(api, *stack)) {
      dynamic_cast<const FunctionalizeContext&>(api).run_in_place(
          [&] { op.redispatch_boxed(DispatchKeySet(DispatchKey::CPU), stack); });
      return;
    }
    const size_t first_copied = copied ? copied(*stack) : std::numeric_limits<size_t>::max();
    std::vector<IValue> values;
    size_t num_functions = 0;
    for (const IValue& argument : *stack) {
      const IntrusivePtr<Callable> function = Callable::find(argument);
      if (!function) {
        values.push_back(api.unwrap(argument));
        continue;
      }
      const std::string who =
          str_cat(op.name(), ": ",
                  num_functions < names.size() ? names[num_functions] : std::string("function"));
      ++num_functions;
      values.push_back(
          Callable::make([who, first_copied, f = api.functionalize(function->function())](
                             std::vector<IValue> arguments) {
            std::vector<IValue> results;
            try {
              results = f(arguments);
            } catch (const Error& error) {
              if (std::string_view(error.what()).starts_with("functionalization: "))
                rethrow_with_context(error, str_cat(who, ": "));
              throw;
            }
            check_no_alias(who, arguments, results, first_copied);
            return results;
          }));
    }
    for (size_t i = 0; i < stack->size(); ++i)
      if (!Callable::find((*stack)[i])) check_gradients_pass(op, (*stack)[i], values[i]);
    api.redispatch([&] { op.call_boxed(&values); });
    stack->clear();
    for (const IValue& result : values) {
      stack->push_back(api.wrap(result));
      stack->back().for_each_tensor([&](const Tensor& t) {
        if (!internal::grad_hooks->requires_grad(t)) return;
        internal::grad_hooks->stop_gradient(
            t, str_cat(op.name(),
                       ": under functionalization: backward, run inside of the program, "
                       "does not pass it; run backward outside"));
      });
    }
  };
}

}  // namespace sb::control_flow
