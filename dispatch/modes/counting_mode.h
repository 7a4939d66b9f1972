// A mode that counts the calls of each operator.

#ifndef SWITCHBOARD_DISPATCH_MODES_COUNTING_MODE_H_
#define SWITCHBOARD_DISPATCH_MODES_COUNTING_MODE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/modes/named_counters.h"

namespace sb {

// The modes that own tensors among the arguments on the end of the stack, those in lists included,
// each once, in the order of the arguments. The counterpart of the `types` that
// `__torch_dispatch__` is given: which kinds of special tensors a call is about.
std::vector<DispatchMode*> argument_modes(const OperatorHandle& op, const Stack& stack);

// Counts the calls that reach it by operator, also those that throw, and lets them go on. One
// counting mode may be active on several threads.
class CountingMode : public DispatchMode {
 public:
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override;
  std::string name() const override { return "CountingMode"; }
  bool only_watches() const override { return true; }
  // Counted by the operator's name, "higher_order::cond", beside the calls that its functions make.
  void watch_higher_order(std::string_view op, Stack* stack,
                          absl::FunctionRef<void()> go_on) override;

  // Calls of "aten::add.Tensor", and of all operators.
  int64_t count(std::string_view op);
  int64_t total() const;
  // By operator, sorted by name.
  std::vector<std::pair<std::string, int64_t>> counts() const { return ops_.values(); }
  // Calls that had an argument which belongs to a mode, by the mode's name: "FakeTensorMode".
  std::vector<std::pair<std::string, int64_t>> counts_by_argument_mode() const {
    return argument_modes_.values();
  }
  // One line for each operator, the most called first: "3 aten::add.Tensor".
  std::string to_string() const;
  void reset();

 private:
  NamedCounters ops_;
  NamedCounters argument_modes_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MODES_COUNTING_MODE_H_
