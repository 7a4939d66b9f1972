#include <algorithm>
#include <cstring>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/inspect/inspector.h"
#include "switchboard/dispatch/schema/schema_parser.h"
#include "switchboard/dispatch/slow_call.h"
#include "switchboard/dispatch/testing/order_case.h"
#include "switchboard/dispatch/values/coerce_argument.h"

namespace sb {
namespace {

using What = OrderStep::What;

// A tensor of zeros of exactly these keys, on the device of its backend. Where no allocator is
// registered for that it has a shape and no memory, as a meta tensor.
Tensor make_tensor(const OrderCase::TensorKeys& wanted, IntArrayRef shape) {
  if (wanted.undefined) return Tensor();
  DeviceType type = DeviceType::Meta;
  for (DispatchKey key : wanted.keys.keys())
    if (const std::optional<DeviceType> of_key = device_type_of(key)) type = *of_key;
  Allocator* allocator = find_allocator(type);
  if (!allocator) allocator = get_allocator(DeviceType::Meta);
  const bool numbered = type != DeviceType::CPU && type != DeviceType::Meta;
  const Tensor tensor = empty_generic(shape, allocator, wanted.keys, DType::Float32,
                                      Device(type, numbered ? int8_t{0} : int8_t{-1}));
  if (type == DeviceType::CPU) std::memset(tensor.data_ptr(), 0, tensor.nbytes());
  return tensor;
}

// The value of an argument from its text, in the grammar of the schema's own defaults.
IValue parse_value(const Argument& argument, const std::string& text) {
  const std::string schema =
      str_cat("f(", argument.type.to_string(), " ", argument.name, "=", text, ") -> ()");
  return *parse_schema(schema).arguments[0].default_value;
}

// Makes the arguments of the call, and refuses entries for arguments that are not there.
class CaseArguments {
 public:
  CaseArguments(const OrderCase& order, const FunctionSchema& schema)
      : order_(order), schema_(schema) {
    refuse_unknown(order.tensors, "keys", schema);
    refuse_unknown(order.shapes, "shapes", schema);
    refuse_unknown(order.args, "args", schema);
    for (size_t i = 0; i < schema.arguments.size(); ++i) stack_.push_back(value_of(i));
  }
  Stack take() { return std::move(stack_); }

 private:
  IValue value_of(size_t i) const {
    const Argument& argument = schema_.arguments[i];
    const std::string& name = argument.name;
    if (const auto it = order_.args.find(name); it != order_.args.end()) {
      try {
        return parse_value(argument, it->second);
      } catch (const Error& error) {
        rethrow_with_context(error, str_cat("args: ", name, ": "));
      }
    }
    const bool named = order_.tensors.contains(name);
    if (argument.type.has_tensor() && (named || !argument.default_value)) {
      const auto it = order_.tensors.find(named ? name : "*");
      if (it != order_.tensors.end()) return tensors(i, it->second);
    }
    if (argument.default_value) return *argument.default_value;
    if (argument.type.is_optional()) return IValue();
    SB_THROW(ValueError, order_.op, ": argument '", name, "' (", argument.type.to_string(),
             ") has no default, and neither keys nor args give it");
  }

  IValue tensors(size_t i, const std::vector<OrderCase::TensorKeys>& all) const {
    const Argument& argument = schema_.arguments[i];
    auto shape_of = [&]() -> std::vector<int64_t> {
      for (const std::string& name : {argument.name, std::string("*")})
        if (const auto it = order_.shapes.find(name); it != order_.shapes.end()) return it->second;
      return {2, 2};
    };
    std::vector<IValue> made;
    for (const OrderCase::TensorKeys& keys : all) made.push_back(make_tensor(keys, shape_of()));
    std::optional<IValue> value;
    if (made.size() == 1) value = coerce_argument(schema_, i, made[0]);
    if (!value) value = coerce_argument(schema_, i, IValue(std::move(made)));
    SB_CHECK_VALUE(value, order_.op, ": argument '", argument.name, "' is a ",
                   argument.type.to_string(), ", and takes no list of ", all.size(), " tensors");
    return *std::move(value);
  }

  template <class Map>
  void refuse_unknown(const Map& entries, const char* what, const FunctionSchema& schema) const {
    for (const auto& [name, entry] : entries)
      SB_CHECK_VALUE(name == "*" || schema.find_argument(name), order_.op, ": ", what,
                     " names an argument '", name, "', and there is none in ", schema.to_string());
  }

  const OrderCase& order_;
  const FunctionSchema& schema_;
  Stack stack_;
};

// Writes down every kernel that runs.
class StepObserver : public CallObserver {
 public:
  explicit StepObserver(std::vector<OrderStep>* steps) : steps_(steps) {}

  void enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel&) override {
    const DispatchKey key = keys.highest_key();
    OrderStep step;
    step.op = op.name().to_string();
    step.key = key;
    op.dispatcher().inspect([&] {
      const Resolution resolution = op.resolve(key);
      if (resolution.kernel) step.place = to_string(resolution.kernel->where);
      step.from = resolution.rule == ResolutionRule::BackendFallback ? "fallback"
                  : is_alias_key(resolution.source) ? std::string(to_string(resolution.source))
                                                    : "key";
    });
    steps_->push_back(std::move(step));
  }
  void leave(const OperatorEntry&, DispatchKeySet) override {}

 private:
  std::vector<OrderStep>* steps_;
};

// The keys that a call passes over; its last step, if it is an error, is in `failure`.
std::vector<OrderStep> passed_over(const Explanation& explanation, OrderStep* failure) {
  std::vector<OrderStep> passed;
  for (const ExplainStep& looked_at : explanation.steps) {
    OrderStep step;
    step.op = explanation.op;
    step.key = looked_at.key;
    switch (looked_at.verdict) {
      case ExplainStep::Verdict::Excluded:
        step.what = What::Excluded;
        passed.push_back(std::move(step));
        break;
      case ExplainStep::Verdict::Fallthrough:
        step.what = What::FallsThrough;
        passed.push_back(std::move(step));
        break;
      case ExplainStep::Verdict::Taken:
        failure->what = What::Throws;
        break;
      default:
        step.what = What::Fails;
        *failure = std::move(step);
    }
  }
  return passed;
}

std::string list(const char* title, const std::vector<OrderStep>& steps, const std::string& op) {
  std::string text = str_cat("  ", title, "\n");
  for (const OrderStep& step : steps) text += str_cat("    ", to_string(step, op), "\n");
  return text;
}

}  // namespace

OrderResult run_order_case(const OrderCase& order, Dispatcher& dispatcher) {
  const OperatorHandle op = dispatcher.find_op_or_throw(order.op);
  const std::string name = op.name().to_string();
  Stack stack = CaseArguments(order, op.schema()).take();

  IncludeKeysGuard include(order.include);
  ExcludeKeysGuard exclude(order.exclude);
  const Explanation explanation = explain(op, stack);
  OrderStep failure;
  std::vector<OrderStep> actual = passed_over(explanation, &failure);
  if (std::none_of(order.expect.begin(), order.expect.end(),
                   [](const OrderStep& step) { return step.passed_over(); }))
    actual.clear();
  std::string error;
  try {
    StepObserver observer(&actual);
    ObserveCalls observe(&observer);
    op.call_boxed(&stack);
  } catch (const std::exception& thrown) {
    actual.push_back(failure);
    error = thrown.what();
  }

  size_t same = 0;
  while (same < order.expect.size() && same < actual.size() &&
         matches(order.expect[same], actual[same], name))
    ++same;
  OrderResult result;
  result.passed = same == order.expect.size() && same == actual.size();
  if (result.passed) {
    result.report = str_cat(name, "\n", list("took the expected order", actual, name));
    return result;
  }
  auto step = [&](const std::vector<OrderStep>& steps) {
    return same < steps.size() ? str_cat("'", to_string(steps[same], name), "'")
                               : std::string("the end of the call");
  };
  result.report =
      str_cat(name, ": step ", same + 1, ": expected ", step(order.expect), ", got ", step(actual),
              "\n", list("expected", order.expect, name), list("actual", actual, name));
  if (!error.empty()) result.report += str_cat("  it threw: ", error, "\n");
  result.report += str_cat("\nWhy it went there:\n", to_string(explanation));
  return result;
}

}  // namespace sb
