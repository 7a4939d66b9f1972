#include "switchboard/transforms/control_flow/control_flow.h"

#include <algorithm>
#include <functional>
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
  std::vector<IValue> results;
  try {
    results = (*function_)(control_flow::values_of(arguments));
  } catch (const std::bad_function_call&) {
    SB_THROW(ValueError, name_, ": expected a function, got an empty one, or one that calls such");
  }
  for (IValue& result : results) {
    const size_t i = tensors.size();
    SB_CHECK_TYPE(result.is_Tensor(), name_, ": result ", i, ": expected a tensor, got ",
                  result.tag_name());
    tensors.push_back(std::move(result).to_tensor());
    SB_CHECK(tensors.back().defined(), name_, ": result ", i,
             ": expected a tensor, got an undefined one");
  }
  return tensors;
}

std::vector<Tensor> FunctionArgument::call_regardless(const std::vector<Tensor>& arguments,
                                                      std::string_view layer,
                                                      std::string_view own) const {
  try {
    return (*this)(arguments);
  } catch (const Error& error) {
    const std::string_view what = error.what();
    // A graph that is run in a trace refuses what the trace gives it; other errors of this kind are
    // the function's own.
    const bool may_be_the_layers =
        error.kind() == std::string_view("RuntimeError") ||
        (error.kind() == std::string_view("ValueError") && what.starts_with("graph: "));
    if (!may_be_the_layers || what.find(own) != what.npos || what.starts_with(name_)) throw;
    rethrow_with_context(error,
                         str_cat(name_, ": ", layer, ", which runs it whatever the data say: "));
  }
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

namespace {
template <class T>
T value_of(std::string_view who, const Tensor& tensor) {
  try {
    return item(tensor).to<T>();
  } catch (const Error& error) {
    rethrow_with_context(error, str_cat(who, ": "));
  }
}
}  // namespace

bool truth_of(std::string_view who, const Tensor& tensor) { return value_of<bool>(who, tensor); }
int64_t integer_of(std::string_view who, const Tensor& tensor) {
  return value_of<int64_t>(who, tensor);
}

void check_slices(std::string_view op, const std::vector<Tensor>& xs, Slices needed) {
  SB_CHECK(!xs.empty(), op, ": xs: expected at least one tensor, got none");
  for (size_t i = 0; i < xs.size(); ++i) {
    SB_CHECK(xs[i].dim() > 0, op, ": xs: item ", i, ": expected a first dimension, got ",
             xs[i].describe());
    SB_CHECK(needed == Slices::AnyNumber || xs[i].sym_size(0).maybe_int() != 0, op, ": xs: item ",
             i, ": expected a first dimension that is not 0, got ", xs[i].describe());
    SB_CHECK(same_number(xs[i].sym_size(0), xs[0].sym_size(0)), op, ": xs: item ", i,
             ": expected a first dimension of ", xs[0].sym_size(0).to_string(),
             ", as that of item 0, got ", xs[i].describe());
  }
}

void check_same_strides(std::string_view who, size_t i, const Tensor& got, std::string_view of,
                        const Tensor& expected) {
  SB_CHECK(same_strides(expected, got), who, ": result ", i, ": expected ", strides_text(expected),
           ", as of ", of, ", got ", strides_text(got),
           "; a graph, and fake tensors, have fixed strides");
}

void check_same_metadata(std::string_view who, const std::vector<Tensor>& got, std::string_view of,
                         const std::vector<Tensor>& expected, Agree agree) {
  const std::string_view why = agree < Agree::GraphDTypes
                                   ? ""
                                   : "; a graph, and fake tensors, stand for whatever the data say";
  SB_CHECK(got.size() == expected.size(), who, ": expected ", expected.size(),
           " results, as many as ", of, ", got ", got.size(), why);
  for (size_t i = 0; i < got.size(); ++i) {
    const Tensor &a = expected[i], &b = got[i];
    SB_CHECK(a.dtype() == b.dtype() && a.device() == b.device() &&
                 (agree == Agree::DTypes || agree == Agree::GraphDTypes || same_sizes(a, b)),
             who, ": result ", i, ": expected ", a.describe(), ", as of ", of, ", got ",
             b.describe(), why);
    if (agree == Agree::GraphStrides) check_same_strides(who, i, b, of, a);
  }
}

bool runs_plainly(DispatchKeySet keys, const Stack& stack) {
  if (!keys.has(DispatchKey::Python)) return true;
  bool owned = false;
  for (const IValue& value : stack)
    value.for_each_tensor([&](const Tensor& t) { owned = owned || t.impl()->mode_data(); });
  return !owned && all_modes_only_watch();
}

namespace {

// Thrown out of a call of which a function has captured a tensor that requires a gradient. No
// Error: programs that catch those do not see it.
struct CapturedGradient {
  std::string what;
};

bool records(const Tensor& t) { return internal::grad_hooks->requires_grad(t); }

// Looks for such tensors while functions run: also for those that a function records where the
// call does not.
class GradientWatch final : public DispatchMode {
 public:
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    for (const IValue& value : absl::MakeConstSpan(*stack).last(op.entry().num_arguments()))
      check(value, op.name().to_string());
    op.call_boxed(stack);
  }
  std::string name() const override { return "GradientWatch"; }
  bool only_watches() const override { return true; }
  void watch_higher_order(std::string_view op, Stack* stack,
                          absl::FunctionRef<void()> go_on) override {
    for (const IValue& value : *stack) check(value, op);
    go_on();
  }
  std::vector<IValue> check_results(std::vector<IValue> results) const {
    for (const IValue& value : results) check(value, "nothing");
    return results;
  }

 private:
  static void check(const IValue& value, std::string_view op) {
    value.for_each_tensor([&](const Tensor& t) {
      if (records(t) && internal::grad_hooks->is_grad_enabled())
        throw CapturedGradient{
            str_cat(t.describe(), ", captured by a function that calls ", op, ",")};
    });
  }
};

// Whether functionalisation gets the call, now or when the modes above it have.
bool is_functionalized(DispatchKeySet keys, const Stack& stack) {
  if (keys.has(DispatchKey::Functionalize)) return true;
  if (!keys.has(DispatchKey::Python)) return false;
  bool any = get_mode(ModeKey::Functional) != nullptr;
  for (const IValue& value : stack) {
    value.for_each_tensor([&](const Tensor& t) {
      const IntrusivePtr<ModeData>& data = t.impl()->mode_data();
      any = any || (data && data->mode().mode_key() == ModeKey::Functional);
    });
  }
  return any;
}

// Runs the operator at these keys, and its functions as they run without a mode: with autograd's
// keys. Throws CapturedGradient.
void watch_captured(const HigherOrderOperator& op, DispatchKeySet below, Stack* stack) {
  const auto watch = std::make_shared<GradientWatch>();
  for (IValue& value : *stack) {
    value = Callable::map(value, [&](const IntrusivePtr<Callable>& f) {
      return [f, watch](std::vector<IValue> arguments) {
        const ModeGuard active(watch.get());
        return watch->check_results((*f)(std::move(arguments)));
      };
    });
  }
  op.redispatch_boxed(below, stack);
}

}  // namespace

void make_apart(std::vector<Tensor>* results, const std::vector<Tensor>& given) {
  for (size_t i = 0; i < results->size(); ++i) {
    Tensor& result = (*results)[i];
    const auto shares = [&](const Tensor& t) { return result.is_alias_of(t); };
    const bool shared =
        std::ranges::any_of(given, shares) ||
        std::any_of(results->begin(), results->begin() + static_cast<std::ptrdiff_t>(i), shares);
    if (shared) result = clone(result);
  }
}

void pass_lazy_bits(HigherOrderOperator* op) {
  op->fallthrough(DispatchKey::Conjugate);
  op->fallthrough(DispatchKey::Negative);
}

OperatorBase::Rule autograd_rule(const HigherOrderOperator& op) {
  return [&op](DispatchKeySet keys, Stack* stack) {
    const DispatchKeySet below =
        (keys - kAutogradFunctionalities) & DispatchKeySet::below(DispatchKey::ADInplaceOrView);
    // Values carry gradients below functionalisation.
    if (is_functionalized(keys, *stack) || runs_plainly(keys, *stack))
      return op.redispatch_boxed(below, stack);
    const DispatchMode* const mode = current_mode();
    std::string what;
    for (const IValue& value : *stack) {
      value.for_each_tensor([&](const Tensor& t) {
        if (records(t) && internal::grad_hooks->is_grad_enabled())
          what = str_cat(t.describe(), ", an argument,");
      });
    }
    if (what.empty()) {
      const Stack arguments = *stack;
      try {
        return watch_captured(op, below, stack);
      } catch (const CapturedGradient& captured) {
        what = captured.what;
        *stack = arguments;
      }
    }
    const std::string layer = str_cat("under ", mode ? mode->name() : "the mode of its arguments");
    SB_CHECK_NOT_IMPLEMENTED(
        internal::grad_hooks->is_grad_enabled(), op.name(), ": ", layer, ": ", what,
        " requires a gradient where a function turns gradients on, and the call runs with them "
        "off; make the call with gradients on");
    SB_CHECK_NOT_IMPLEMENTED(derived_call, op.name(), ": ", layer, ": ", what,
                             " requires a gradient, which is not computed there, as the program "
                             "does not link //transforms/control_flow/derivatives");
    derived_call(op, layer, below, stack);
  };
}

}  // namespace sb::control_flow
