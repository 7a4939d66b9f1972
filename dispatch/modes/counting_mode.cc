#include "switchboard/dispatch/modes/counting_mode.h"

#include <algorithm>

#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb {

std::vector<DispatchMode*> argument_modes(const OperatorHandle& op, const Stack& stack) {
  std::vector<DispatchMode*> modes;
  for (size_t i = stack.size() - op.entry().num_arguments(); i < stack.size(); ++i) {
    stack[i].for_each_tensor([&](const Tensor& t) {
      if (!t.impl()->mode_data()) return;
      DispatchMode* const mode = &t.impl()->mode_data()->mode();
      if (std::find(modes.begin(), modes.end(), mode) == modes.end()) modes.push_back(mode);
    });
  }
  return modes;
}

void CountingMode::call(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  ops_[op.name().to_string()].count();
  for (const DispatchMode* mode : argument_modes(op, *stack)) argument_modes_[mode->name()].count();
  op.call_boxed(stack);
}

void CountingMode::watch_higher_order(std::string_view op, Stack*,
                                      absl::FunctionRef<void()> go_on) {
  ops_[op].count();
  go_on();
}

int64_t CountingMode::count(std::string_view op) { return ops_[op].value(); }

int64_t CountingMode::total() const {
  int64_t total = 0;
  for (const auto& [op, count] : counts()) total += count;
  return total;
}

std::string CountingMode::to_string() const {
  std::vector<std::pair<std::string, int64_t>> sorted = counts();
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [op, count] : sorted) text += str_cat(count, "  ", op, "\n");
  return text;
}

void CountingMode::reset() {
  ops_.reset();
  argument_modes_.reset();
}

}  // namespace sb
