#include "switchboard/autograd/register_autograd.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_join.h"
#include "switchboard/autograd/fallback.h"
#include "switchboard/autograd/function_node.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/recording.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/inspect/call_text.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/objects/library_handle.h"

namespace sb {
namespace {

using internal::FunctionKind;
using internal::FunctionNode;
using internal::TensorPlace;
using Kind = internal::TensorPlace::Kind;

Kind kind_of(const Type& type) {
  if (!type.has_tensor()) return Kind::Other;
  return outer_modifier(type.code()) == TypeModifier::List ? Kind::List : Kind::Tensor;
}

// How many arguments come before the keyword-only ones.
size_t num_positional(const FunctionSchema& schema) {
  const auto first = std::find_if(schema.arguments.begin(), schema.arguments.end(),
                                  [](const Argument& a) { return a.kwarg_only; });
  return static_cast<size_t>(first - schema.arguments.begin());
}

// How many of the positional arguments differ from their defaults, or come before one that does.
size_t num_passed(const FunctionSchema& schema, absl::Span<const IValue> positional) {
  size_t n = positional.size();
  while (n > 0 && schema.arguments[n - 1].default_value &&
         is_same_constant(positional[n - 1], *schema.arguments[n - 1].default_value))
    --n;
  return n;
}

// A view of its only tensor, as its only result.
bool is_view_of_one(const FunctionSchema& schema) {
  const auto is_tensor = [](const auto& a) { return a.type.has_tensor(); };
  return schema.is_view() && schema.returns.size() == 1 && is_tensor(schema.returns[0]) &&
         std::count_if(schema.arguments.begin(), schema.arguments.end(), is_tensor) == 1;
}

// Refuses what cannot have a gradient in this way. As `is_functional_schema` and
// `has_kwarg_only_tensors`.
void check_schema(const FunctionSchema& schema, TagSet tags) {
  const std::string op = schema.name.to_string();
  SB_CHECK(!tags.has(Tag::out), "register_autograd: ", op,
           ": an out= form has no gradient; register that of the functional operator: ",
           schema.to_string());
  const auto has_alias = [](const auto& a) { return a.alias.has_value(); };
  const bool is_functional =
      std::none_of(schema.arguments.begin(), schema.arguments.end(), has_alias) &&
      std::none_of(schema.returns.begin(), schema.returns.end(), has_alias) &&
      !schema.returns.empty();
  SB_CHECK(is_functional || is_view_of_one(schema), "register_autograd: ", op,
           ": expected an operator that returns something, writes to no argument and returns no "
           "view, unless it is of one tensor and the only result, got ",
           schema.to_string(), "; define a functional operator and register its gradient");
  for (const Argument& argument : schema.arguments) {
    SB_CHECK_NOT_IMPLEMENTED(!argument.kwarg_only || !argument.type.has_tensor(),
                             "register_autograd: ", op, ": expected positional tensors only, got '",
                             argument.name, "', which is keyword-only, in ", schema.to_string());
  }
}

void check_functions(const FunctionSchema& schema, const BackwardFunction& backward,
                     const SetupContext& setup) {
  const std::string who = str_cat("register_autograd: ", schema.name.to_string());
  std::vector<TensorPlace> results;
  for (const Return& r : schema.returns) results.push_back({kind_of(r.type)});
  backward.check(who + ": backward", results);
  const bool has_keywords = num_positional(schema) < schema.arguments.size();
  SB_CHECK(!setup || setup.takes_keywords() == has_keywords, who, ": setup_context: expected ",
           has_keywords ? "(ctx, inputs, keyword_only_inputs, output), as the operator has "
                          "keyword-only arguments"
                        : "(ctx, inputs, output), as the operator has no keyword-only arguments",
           ", got one of ", setup.takes_keywords() ? 4 : 3, " parameters: ", schema.to_string());
}

// The results on the end of a stack, as the node takes them, and back.
class StackResults {
 public:
  explicit StackResults(absl::Span<IValue> values) : values_(values), tensors_(values.size()) {
    for (size_t i = 0; i < values.size(); ++i) {
      const IValue& value = values[i];
      Kind kind = Kind::Other;
      if (value.is_Tensor()) {
        kind = Kind::Tensor;
        tensors_[i] = {value.to_tensor()};
      } else if (value.is_TensorList()) {
        kind = Kind::List;
        tensors_[i].assign(value.to_tensor_list().begin(), value.to_tensor_list().end());
      } else if (value.is_OptionalTensorList()) {
        kind = Kind::List;
        for (const auto& t : value.to_optional_tensor_list())
          tensors_[i].push_back(t ? *t : Tensor());
      }
      slots_.push_back({kind, absl::MakeSpan(tensors_[i])});
    }
  }
  absl::Span<const internal::ResultSlot> slots() const { return slots_; }
  void put_back() {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].is_Tensor()) {
        values_[i] = IValue(std::move(tensors_[i][0]));
      } else if (values_[i].is_TensorList()) {
        values_[i] = IValue(std::move(tensors_[i]));
      } else if (values_[i].is_OptionalTensorList()) {
        std::vector<std::optional<Tensor>> list;
        for (Tensor& t : tensors_[i])
          list.push_back(t.defined() ? std::optional<Tensor>(std::move(t)) : std::nullopt);
        values_[i] = IValue(std::move(list));
      }
    }
  }

 private:
  absl::Span<IValue> values_;
  std::vector<std::vector<Tensor>> tensors_;
  std::vector<internal::ResultSlot> slots_;
};

// The kernel at Autograd. As `make_autograd_impl`.
class AutogradKernel {
 public:
  AutogradKernel(const FunctionSchema& schema, BackwardFunction backward, SetupContext setup)
      : kind_(std::make_shared<const FunctionKind>(
            FunctionKind{internal::backward_name(schema.name.to_string()), std::move(backward)})),
        setup_(std::move(setup)),
        op_(schema.name.to_string()),
        num_positional_(num_positional(schema)),
        num_arguments_(schema.arguments.size()),
        num_returns_(schema.returns.size()) {
    for (const Argument& a : schema.arguments) argument_names_.push_back(a.name);
    for (const Return& r : schema.returns) return_names_.push_back(r.name);
  }

  void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const {
    const absl::Span<const IValue> inputs = absl::MakeConstSpan(*stack).last(num_arguments_);
    if (!is_grad_enabled() || !any_needs_grad(inputs)) {
      const BelowAutogradGuard below;
      return op.redispatch_boxed(keys - kAutogradFunctionalities, stack);
    }
    const auto node = make_intrusive<FunctionNode>(kind_);
    for (const IValue& input : inputs.first(num_positional_)) node->take_input(input);
    node->set_num_passed(num_passed(op.schema(), inputs.first(num_positional_)));
    const Stack kept(inputs.begin(), inputs.end());
    {
      // Functionalisation makes the call again, for values, which are to be recorded as well.
      const GradModeGuard grad(is_functionalized(keys));
      const BelowAutogradGuard below;
      op.redispatch_boxed(keys - kAutogradFunctionalities, stack);
    }
    {
      const NoGradGuard no_grad;
      const BelowAutogradGuard below;
      if (setup_) set_up(node->context(), kept, absl::MakeConstSpan(*stack).last(num_returns_));
    }
    StackResults results(absl::MakeSpan(*stack).last(num_returns_));
    node->finish(results.slots());
    results.put_back();
  }

 private:
  static bool is_functionalized(DispatchKeySet keys) {
    return keys.has(DispatchKey::Functionalize) ||
           (keys.has(DispatchKey::Python) && get_mode(ModeKey::Functional));
  }
  static bool any_needs_grad(absl::Span<const IValue> inputs) {
    bool any = false;
    for (const IValue& input : inputs)
      input.for_each_tensor(
          [&](const Tensor& t) { any = any || (t.defined() && internal::needs_grad(t)); });
    return any;
  }

  void set_up(FunctionContext& ctx, absl::Span<const IValue> arguments,
              absl::Span<const IValue> results) const {
    const std::vector<std::string_view> names(argument_names_.begin(), argument_names_.end());
    const std::vector<std::string_view> result_names(return_names_.begin(), return_names_.end());
    const auto all_names = absl::MakeConstSpan(names);
    setup_(ctx, CallValues(op_, arguments.first(num_positional_), all_names.first(num_positional_)),
           CallValues(op_, arguments.subspan(num_positional_), all_names.subspan(num_positional_)),
           CallValues(op_, results, result_names));
  }

  std::shared_ptr<const FunctionKind> kind_;
  SetupContext setup_;
  std::string op_;
  size_t num_positional_;
  size_t num_arguments_;
  size_t num_returns_;
  std::vector<std::string> argument_names_;
  std::vector<std::string> return_names_;
};

}  // namespace

const IValue& CallValues::operator[](size_t index) const {
  SB_CHECK_INDEX(index < values_.size(), op_, ": no value ", index, ", there are ", values_.size());
  return values_[index];
}

const IValue& CallValues::operator[](std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  SB_CHECK_VALUE(
      found != names_.end() && !name.empty(), op_, ": no value '", name, "'; there are: ",
      absl::StrJoin(names_, ", ", [](std::string* out, std::string_view known) { *out += known; }));
  return values_[static_cast<size_t>(found - names_.begin())];
}

void register_autograd(const OpIdentifier& op, BackwardFunction backward,
                       SetupContext setup_context, Library& lib, SourceLocation where) {
  const std::string name = op.name().to_string();
  const OpOverload found(lib.dispatcher().find_op_or_throw(name));
  const FunctionSchema& schema = found.schema();
  check_schema(schema, found.tags());
  SB_CHECK(!found.has_kernel_for_dispatch_key(DispatchKey::CompositeImplicitAutograd),
           "register_autograd: ", name,
           ": the operator has a CompositeImplicitAutograd kernel, which is derived through the "
           "operators that it calls and hides one at Autograd; register it at "
           "CompositeExplicitAutograd to give it a gradient of its own: ",
           schema.to_string());
  check_functions(schema, backward, setup_context);
  lib.impl(name, DispatchKey::Autograd,
           AutogradKernel(schema, std::move(backward), std::move(setup_context)), where);
  explain_kernel(DispatchKey::Autograd, internal::explain_recording, where);
}

RegistrationHandle register_autograd(const OpIdentifier& op, BackwardFunction backward,
                                     SetupContext setup_context, SourceLocation where) {
  auto lib = std::make_unique<Library>(Library::Kind::Fragment, std::string(op.name().ns()),
                                       std::nullopt, where);
  register_autograd(op, std::move(backward), std::move(setup_context), *lib, where);
  return internal::library_handle(std::move(lib));
}

}  // namespace sb
