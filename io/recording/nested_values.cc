#include "switchboard/io/recording/nested_values.h"

#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/schema/boxing.h"
#include "switchboard/dispatch/values/observed_values.h"

namespace sb::io {
namespace {

// The last `count` values of a stack.
absl::Span<const IValue> last(const Stack& stack, size_t count) {
  return absl::MakeConstSpan(stack).last(count);
}

}  // namespace

uint32_t NestedValues::next_event() {
  if (running_.empty()) return root_;
  Running& caller = running_.back();
  if (caller.event == RecordedEvent::kNone) return caller.event;
  const std::vector<uint32_t>& calls = calls_.children(caller.event);
  return caller.children < calls.size() ? calls[caller.children++] : RecordedEvent::kNone;
}

void NestedValues::enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) {
  next_->enter(op, keys, kernel);
  uint32_t event = next_event();
  if (event != RecordedEvent::kNone && run_.site(run_.events[event]).op != op.name().to_string())
    event = RecordedEvent::kNone;
  running_.push_back({event});
  if (event != RecordedEvent::kNone) note_arguments(event);
}

void NestedValues::leave(const OperatorEntry& op, DispatchKeySet keys) {
  const uint32_t event = running_.back().event;
  running_.pop_back();
  if (event != RecordedEvent::kNone && std::uncaught_exceptions() == exceptions_)
    note_results(event);
  next_->leave(op, keys);
}

void NestedValues::note_arguments(uint32_t event) {
  const absl::Span<const RecordedValue> recorded = run_.arguments(run_.events[event]);
  if (!values_.wants(recorded)) return;
  const internal::ObservedValues given = internal::observed_values;
  if (!given.frame)
    return values_.note(recorded, last(*given.stack, run_.site(run_.events[event]).num_arguments));
  Stack arguments;
  const absl::Span<const TypeCode> types = given.frame->description.types->arguments;
  for (size_t i = 0; i < types.size(); ++i)
    arguments.push_back(internal::box_argument(types[i], given.frame->arguments[i]));
  values_.note(recorded, arguments);
}

void NestedValues::note_results(uint32_t event) {
  const absl::Span<const RecordedValue> recorded = run_.results(run_.events[event]);
  if (!values_.wants(recorded)) return;
  const internal::ObservedValues given = internal::observed_values;
  if (!given.frame)
    return values_.note(recorded, last(*given.stack, run_.site(run_.events[event]).num_results));
  Stack results;
  const absl::Span<const TypeCode> types = given.frame->description.types->returns;
  for (size_t i = 0; i < types.size(); ++i)
    internal::with_result(types[i], given.frame->results[i],
                          [&](const auto& result) { results.push_back(internal::box(result)); });
  values_.note(recorded, results);
}

}  // namespace sb::io
