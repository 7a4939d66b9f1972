#include "switchboard/dispatch/modes/logging_mode.h"

#include <algorithm>
#include <exception>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/inspect/call_text.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb {
namespace {

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

// Counts the calls that are under way, on exceptions too.
class LoggingMode::Deeper {
 public:
  explicit Deeper(LoggingMode* mode) : mode_(mode) { ++mode_->depth_; }
  ~Deeper() { --mode_->depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  LoggingMode* mode_;
};

void LoggingMode::forget_dead() {
  absl::erase_if(numbers_, [](const auto& entry) { return entry.second.tensor.expired(); });
  forget_at_ = std::max<size_t>(1024, 2 * numbers_.size());
}

std::pair<size_t, bool> LoggingMode::number_of(const Tensor& tensor) {
  const auto found = numbers_.find(tensor.impl());
  if (found != numbers_.end()) return {found->second.number, false};
  if (numbers_.size() >= forget_at_) forget_dead();
  numbers_[tensor.impl()] = {WeakIntrusivePtr<TensorImpl>(tensor.impl()), next_};
  return {next_++, true};
}

std::string LoggingMode::result_text(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  return str_cat("%", number_of(tensor).first, ": ", type_text(tensor));
}

std::string LoggingMode::tensor_text(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  const std::string number = wrapped_number_text(tensor);
  if (!number.empty()) return number;
  const auto [id, is_new] = number_of(tensor);
  return is_new ? str_cat("%", id, ": ", type_text(tensor)) : str_cat("%", id);
}

std::string LoggingMode::call_text(const OperatorHandle& op, const IValue* arguments) {
  const FunctionSchema& schema = op.schema();
  const auto is_default = [&](size_t i) {
    const std::optional<IValue>& value = schema.arguments[i].default_value;
    return value && is_same_constant(arguments[i], *value);
  };
  const auto text = [&](size_t i) {
    return value_text(arguments[i], [&](const Tensor& t) { return tensor_text(t); });
  };
  return str_cat(op.name().to_string(), "(", arguments_text(schema, is_default, text), ")");
}

void LoggingMode::write(const std::string& line) {
  const std::string indented = std::string(2 * depth_, ' ') + line;
  if (sink_)
    sink_(indented);
  else
    lines_.push_back(indented);
}

void LoggingMode::log(const std::string& call, const Stack& stack, size_t base,
                      absl::FunctionRef<void()> go_on) {
  try {
    Deeper deeper(this);
    go_on();
  } catch (const Error& error) {
    write(str_cat(call, " threw ", error.kind(), ": ", first_line(error.what())));
    throw;
  } catch (const std::exception& error) {
    write(str_cat(call, " threw: ", first_line(error.what())));
    throw;
  }
  std::vector<std::string> results;
  for (size_t i = base; i < stack.size(); ++i)
    results.push_back(value_text(stack[i], [&](const Tensor& t) { return result_text(t); }));
  write(results.empty() ? call : str_cat(absl::StrJoin(results, ", "), " = ", call));
}

void LoggingMode::call(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const size_t base = stack->size() - op.entry().num_arguments();
  log(call_text(op, stack->data() + base), *stack, base, [&] { op.call_boxed(stack); });
}

void LoggingMode::watch_higher_order(std::string_view op, Stack* stack,
                                     absl::FunctionRef<void()> go_on) {
  std::vector<std::string> arguments;
  for (const IValue& argument : *stack)
    arguments.push_back(value_text(argument, [&](const Tensor& t) { return tensor_text(t); }));
  log(str_cat(op, "(", absl::StrJoin(arguments, ", "), ")"), *stack, 0, go_on);
}

std::string LoggingMode::to_string() const {
  std::string text;
  for (const std::string& line : lines_) text += line + "\n";
  return text;
}

void LoggingMode::clear() {
  lines_.clear();
  numbers_.clear();
  next_ = 0;
}

}  // namespace sb
