#include "switchboard/transforms/control_flow/control_flow.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
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

// Thrown out of a call of which a function has captured a tensor that requires a gradient. No
// Error: programs that catch those do not see it.
struct CapturedGradient {
  std::string what;
};

bool records(const Tensor& t) { return internal::grad_hooks->requires_grad(t); }

// Looks for such tensors while functions run.
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

// Whether what the call does is what the functions do, one call after the other.
bool runs_plainly(DispatchKeySet keys, const Stack& stack) {
  if (!keys.has(DispatchKey::Python)) return true;
  bool owned = false;
  for (const IValue& value : stack)
    value.for_each_tensor([&](const Tensor& t) { owned = owned || t.impl()->mode_data(); });
  return !owned && all_modes_only_watch();
}

// Runs the operator at these keys, below autograd. Throws CapturedGradient.
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

OperatorBase::Rule autograd_rule(const HigherOrderOperator& op) {
  return [&op](DispatchKeySet keys, Stack* stack) {
    const DispatchKeySet below =
        (keys - kAutogradFunctionalities) & DispatchKeySet::below(DispatchKey::ADInplaceOrView);
    // Values carry gradients below functionalisation.
    const DispatchMode* const mode = current_mode();
    const bool functional =
        keys.has(DispatchKey::Functionalize) || (mode && mode->mode_key() == ModeKey::Functional);
    if (functional || runs_plainly(keys, *stack)) return op.redispatch_boxed(below, stack);
    std::string what;
    for (const IValue& value : *stack) {
      value.for_each_tensor([&](const Tensor& t) {
        if (records(t) && internal::grad_hooks->is_grad_enabled())
          what = str_cat(t.describe(), ", an argument,");
      });
    }
    if (what.empty()) {
      const BelowAutogradGuard guard;
      if (!internal::grad_hooks->is_grad_enabled()) return op.redispatch_boxed(below, stack);
      const Stack arguments = *stack;
      try {
        return watch_captured(op, below, stack);
      } catch (const CapturedGradient& captured) {
        what = captured.what;
        *stack = arguments;
      }
    }
    const std::string layer = str_cat("under ", mode ? mode->name() : "the mode of its arguments");
    SB_CHECK_NOT_IMPLEMENTED(derived_call, op.name(), ": ", layer, ": ", what,
                             " requires a gradient, which is not computed there, as the program "
                             "does not link //transforms/control_flow/derivatives");
    derived_call(op, layer, below, stack);
  };
}

namespace {

using internal::FunctionEffects;

// Another argument is written to than was known of: the call begins anew.
struct MoreIsWritten {};

// One call under functionalisation, and what its functions do.
class FunctionalCall {
 public:
  FunctionalCall(const HigherOrderOperator& op, FunctionCalls calls, size_t first_copied,
                 const FunctionalizeContext& context, const Stack& arguments)
      : op_(op), calls_(calls), first_copied_(first_copied), context_(context) {
    for (const IValue& argument : arguments)
      if (argument.is_TensorList() || argument.is_List())
        argument.for_each_tensor([&](const Tensor& t) { operands_.push_back(t); });
    written_.resize(operands_.size());
  }

  // A function, as one of values. Of a loop the last one carries.
  IValue function(const IntrusivePtr<Callable>& f, std::string who, bool carries) {
    return Callable::make(
        [this, who = std::move(who), carries,
         f = context_.functionalize(f->function())](std::vector<IValue> arguments) {
          FunctionEffects effects(who);
          std::vector<IValue> results = f(arguments);
          if (carries) follow(effects.shared, std::min(results.size(), first_copied_));
          note(effects, who, arguments, &results);
          return results;
        });
  }

  // Runs the operator on the values until it is known what is written to. The results, as
  // functional tensors.
  std::vector<IValue> run(const std::vector<IValue>& values) {
    std::vector<IValue> results;
    for (bool done = false; !done;) {
      results = values;
      shared_.clear();
      captured_.clear();
      carried_.clear();
      went_round_ = false;
      try {
        context_.redispatch([&] {
          plain_ = runs_plainly(op_.call_keys(results), results);
          op_.call_boxed(&results);
        });
        done = true;
      } catch (const MoreIsWritten&) {
      }
    }
    write(&results);
    for (size_t r = 0; r < results.size(); ++r) results[r] = result(r, results[r]);
    return results;
  }

 private:
  void note(const FunctionEffects& effects, const std::string& who,
            const std::vector<IValue>& arguments, std::vector<IValue>* results) {
    std::vector<Tensor> given;
    for (const IValue& argument : arguments)
      argument.for_each_tensor([&](const Tensor& t) { given.push_back(t); });
    shared_.push_back(effects.shared);
    captured_.insert(captured_.end(), effects.given_captured.begin(), effects.given_captured.end());
    // The copies of one function must not be views of what another one, or the program, has.
    for (size_t r = 0; r < std::min(results->size(), first_copied_); ++r) {
      IValue& value = (*results)[r];
      for (const Tensor& t : given) {
        if (!value.unchecked_tensor().is_alias_of(t)) continue;
        value = clone(value.unchecked_tensor());
        break;
      }
    }
    bool more = false;
    for (size_t i = 0; i < effects.written.size(); ++i) {
      if (!effects.written[i].defined()) continue;
      SB_CHECK_NOT_IMPLEMENTED(calls_ == FunctionCalls::OneOfThem, who,
                               ": under functionalization: it writes to argument ", i, ", ",
                               given[i].describe(), "; it must write to a clone");
      more = more || !written_[i];
      written_[i] = true;
    }
    if (more) throw MoreIsWritten();
    // Dense, so that functions that write agree with those that do not.
    for (size_t i = 0; i < written_.size(); ++i)
      if (written_[i])
        results->push_back(clone(effects.written[i].defined() ? effects.written[i] : given[i],
                                 MemoryFormat::Contiguous));
  }

  // What a carried tensor has to do with the operands.
  struct Carried {
    bool fresh = true;
    size_t operand = kNone;  // that it is
    static constexpr size_t kNone = std::numeric_limits<size_t>::max();
  };
  // Notes it after a function gave them.
  void follow(const std::vector<FunctionEffects::Shared>& shared, size_t num_carried) {
    std::vector<Carried> next(num_carried);
    for (const FunctionEffects::Shared& s : shared) {
      if (s.result >= num_carried) continue;
      const bool is_carried = s.argument < num_carried;
      // Where results are stacked, the others may be slices.
      const bool is_operand = is_carried ? !went_round_ : num_carried < first_copied_;
      Carried& now = next[s.result];
      if (is_carried && went_round_) now = carried_[s.argument];
      if (is_operand) now = {false, s.argument};
      if (!is_carried && !is_operand) now = {false, Carried::kNone};
      if (!s.same) now.operand = Carried::kNone;
    }
    carried_ = std::move(next);
    went_round_ = true;
  }

  // Takes what operands now hold off the results.
  void write(std::vector<IValue>* results) {
    size_t num_written = 0;
    for (const bool written : written_) num_written += written;
    size_t next = results->size() - num_written;
    for (size_t i = 0; i < written_.size(); ++i) {
      if (!written_[i]) continue;
      const Tensor value = context_.wrap((*results)[next++].to_tensor());
      const Tensor operand = context_.functional(operands_[i]);
      Stack copying{operand, value, false};
      internal::functionalize_call(context_, sb::copy_.handle(), &copying);
      operand.impl()->bump_version();
    }
    results->resize(results->size() - num_written);
  }

  IValue result(size_t r, const IValue& value) {
    if (r >= first_copied_) return wrap(value);
    if (const std::optional<FunctionEffects::Shared> always = shared_by_all(r)) {
      const Tensor operand = context_.functional(operands_[always->argument]);
      if (context_.owns(operand)) return always->same ? operand : view_of(operand, *always);
    }
    // A loop that ran is known; one that a graph or a fake mode stands for, only to the data.
    if (calls_ == FunctionCalls::AgainAndAgain && plain_) {
      const Carried now = r < carried_.size() ? carried_[r] : Carried();
      if (now.fresh && captured_.empty()) return wrap(value);
      if (now.operand != Carried::kNone) {
        const Tensor operand = context_.functional(operands_[now.operand]);
        if (context_.owns(operand)) return operand;
      }
    }
    const IValue wrapped = wrap(value);
    const std::string text =
        str_cat(op_.name(), ": under functionalization: only the data tell whether result ", r,
                " shares memory with what the functions are given, and one of both has been "
                "written to; write to a clone");
    const auto may_be = [&](const Tensor& other) {
      if (FunctionalTensorImpl* const impl = functional_impl(context_.functional(other)))
        functional_impl(wrapped.to_tensor())
            ->functional_storage()
            ->may_be(impl->functional_storage(), text);
    };
    for (const auto& call : shared_)
      for (const FunctionEffects::Shared& shared : call)
        if (calls_ == FunctionCalls::AgainAndAgain || shared.result == r)
          may_be(operands_[shared.argument]);
    for (const Tensor& t : captured_) may_be(t);
    return wrapped;
  }

  // How the result looks at an operand, where each function that was called gave the same.
  std::optional<FunctionEffects::Shared> shared_by_all(size_t r) const {
    if (calls_ != FunctionCalls::OneOfThem || shared_.empty()) return std::nullopt;
    std::optional<FunctionEffects::Shared> all;
    for (const auto& call : shared_) {
      const auto found = std::ranges::find(call, r, &FunctionEffects::Shared::result);
      if (found == call.end() || (all && *all != *found)) return std::nullopt;
      all = *found;
    }
    return all;
  }

  static Tensor view_of(const Tensor& operand, const FunctionEffects::Shared& shared) {
    FunctionalTensorImpl& viewed = *functional_impl(operand);
    const IntrusivePtr<FunctionalStorage>& storage = viewed.functional_storage();
    const BelowFunctionalization below(viewed.owner());
    storage->apply_updates();
    const Tensor& base = storage->base(viewed.lineage());
    ViewChain chain = chain_to(
        base, ViewForm(shared.dtype, shared.sizes, shared.strides, shared.offset, shared.keys));
    Tensor value = apply_chain(chain, base);
    auto view = make_intrusive<FunctionalTensorImpl>(storage, viewed.lineage(), std::move(chain),
                                                     std::move(value), viewed.owner());
    view->share_version_counter(viewed);
    return Tensor(std::move(view));
  }

  IValue wrap(const IValue& value) const {
    IValue wrapped = context_.wrap(value);
    wrapped.for_each_tensor([&](const Tensor& t) {
      if (!internal::grad_hooks->requires_grad(t)) return;
      internal::grad_hooks->stop_gradient(
          t, str_cat(op_.name(),
                     ": under functionalization: backward, run inside of the program, "
                     "does not pass it; run backward outside"));
    });
    return wrapped;
  }

  const HigherOrderOperator& op_;
  const FunctionCalls calls_;
  const size_t first_copied_;
  const FunctionalizeContext& context_;
  std::vector<Tensor> operands_;
  std::vector<bool> written_;                                 // operands
  std::vector<std::vector<FunctionEffects::Shared>> shared_;  // of each call of a function
  std::vector<Tensor> captured_;
  std::vector<Carried> carried_;
  bool went_round_ = false;
  bool plain_ = true;  // below, the functions run as the data say
};

bool is_list_of_functions(const IValue& value) {
  return value.is_List() && !value.to_list().empty() && Callable::find(value.to_list()[0]);
}

}  // namespace

namespace {

// Whether nothing replaces or records what is called on the values of a call's arguments.
bool is_plain_below(const FunctionalizeApi& api, const Stack& arguments) {
  bool plain = true;
  for (const IValue& argument : arguments) {
    if (Callable::find(argument) || is_list_of_functions(argument)) continue;
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
                             "not computed there; run backward outside of the program");
  });
}

}  // namespace

FunctionalizeApiRule functionalized(const HigherOrderOperator& op,
                                    std::vector<std::string> function_names, FunctionCalls calls,
                                    std::function<size_t(const std::vector<IValue>&)> copied) {
  return [&op, names = std::move(function_names), calls, copied = std::move(copied)](
             const FunctionalizeApi& api, DispatchKeySet, Stack* stack) {
    const auto& context = dynamic_cast<const FunctionalizeContext&>(api);
    if (is_plain_below(api, *stack)) {
      context.run_in_place([&] { op.redispatch_boxed(DispatchKeySet(DispatchKey::CPU), stack); });
      return;
    }
    FunctionalCall call(op, calls, copied ? copied(*stack) : std::numeric_limits<size_t>::max(),
                        context, *stack);
    std::vector<IValue> values;
    size_t num_functions = 0;
    for (const IValue& argument : *stack) {
      if (const IntrusivePtr<Callable> function = Callable::find(argument)) {
        values.push_back(call.function(function, str_cat(op.name(), ": ", names.at(num_functions)),
                                       num_functions + 1 == names.size()));
        ++num_functions;
      } else if (is_list_of_functions(argument)) {
        std::vector<IValue> functions;
        for (const IValue& item : argument.to_list())
          functions.push_back(call.function(
              Callable::from(item),
              str_cat(op.name(), ": ", names.at(num_functions), " ", functions.size()), false));
        ++num_functions;
        values.emplace_back(std::move(functions));
      } else {
        values.push_back(api.unwrap(argument));
        check_gradients_pass(op, argument, values.back());
      }
    }
    *stack = call.run(values);
  };
}

}  // namespace sb::control_flow
