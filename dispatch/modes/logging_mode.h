// A log of calls, one line for each.

#ifndef SWITCHBOARD_DISPATCH_MODES_LOGGING_MODE_H_
#define SWITCHBOARD_DISPATCH_MODES_LOGGING_MODE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "switchboard/dispatch/modes/mode.h"

namespace sb {

// Writes a line for each call that reaches it, and lets it go on. As PyTorch's `LoggingTensorMode`:
//
//   %2: float32[2, 3] = aten::add.Tensor(%0: float32[2, 3], %1: float32[2, 3], alpha=2)
//   %3: float32[2, 3] = aten::relu(%2)
//
// A tensor has one number as long as the mode lives, whatever views or copies of the handle there
// are; a tensor that the log has not met is shown with its type. Numbers that were made tensors are
// shown as numbers. Arguments that are the schema's defaults are left out. The line comes when the
// call is done; a call that throws says what. Calls that a kernel makes with this mode active again
// come before its own line, indented.
//
// It sees what arrives below autograd: composite operators as what they are made of. For one thread
// at a time.
class LoggingMode : public DispatchMode {
 public:
  using Sink = std::function<void(const std::string& line)>;

  // Keeps the lines.
  LoggingMode() = default;
  // Gives them to `sink` instead, without a line break. What that throws, the call throws.
  explicit LoggingMode(Sink sink) : sink_(std::move(sink)) {}

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override;
  std::string name() const override { return "LoggingMode"; }
  bool only_watches() const override { return true; }
  // The line comes after, and left of, those of the calls that the functions make.
  void watch_higher_order(std::string_view op, Stack* stack,
                          absl::FunctionRef<void()> go_on) override;

  const std::vector<std::string>& lines() const { return lines_; }
  // The lines as one text.
  std::string to_string() const;
  // Forgets lines and numbers.
  void clear();

 private:
  class Deeper;

  // "%3", and ": float32[2]" behind it the first time.
  std::string tensor_text(const Tensor& tensor);
  // The same always with its type, as results are shown.
  std::string result_text(const Tensor& tensor);
  // The number of the tensor; whether it is new.
  std::pair<size_t, bool> number_of(const Tensor& tensor);
  void forget_dead();
  std::string call_text(const OperatorHandle& op, const IValue* arguments);
  // Writes the call's line when go_on() is done, with what it left on the stack from `base` on.
  void log(const std::string& call, const Stack& stack, size_t base,
           absl::FunctionRef<void()> go_on);
  void write(const std::string& line);

  Sink sink_;
  std::vector<std::string> lines_;
  size_t depth_ = 0;
  size_t next_ = 0;
  // A weak reference keeps the address from being used again, but no memory alive.
  struct Known {
    WeakIntrusivePtr<TensorImpl> tensor;
    size_t number;
  };
  absl::flat_hash_map<const TensorImpl*, Known> numbers_;
  size_t forget_at_ = 1024;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MODES_LOGGING_MODE_H_
