#include "switchboard/tests/effects/operators.h"

#include <utility>

#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb::effects {
namespace {

using K = DispatchKey;

std::string* written() {
  static std::string* const log = new std::string;
  return log;
}
void write(std::string_view what) { *written() += str_cat(written()->empty() ? "" : ", ", what); }

Queue& queue_in(const IValue& value) {
  auto* const queue = dynamic_cast<Queue*>(value.to_object().get());
  SB_CHECK(queue, "effects: expected a queue");
  return *queue;
}

// A boxed kernel: takes the arguments off the stack, and puts what f gives in their place.
template <class F>
auto boxed(F f) {
  return [f](const OperatorHandle& op, DispatchKeySet, Stack* stack) {
    const auto first = stack->end() - static_cast<std::ptrdiff_t>(op.entry().num_arguments());
    const std::vector<IValue> arguments(first, stack->end());
    stack->erase(first, stack->end());
    for (IValue& result : f(arguments)) stack->push_back(std::move(result));
  };
}
using Values = std::vector<IValue>;

SB_LIBRARY(effects, m) {
  const std::string queue = str_cat(kQueueClass, " queue");
  m.define("note(str what) -> ()");
  m.impl("note", K::CompositeExplicitAutograd, boxed([](const Values& in) {
           write(in[0].to_string_view());
           return Values{};
         }));
  m.define("note_value(str what, Tensor x) -> ()");
  m.impl("note_value", K::CompositeExplicitAutograd, boxed([](const Values& in) {
           write(str_cat(in[0].to_string_view(), "=", text_of(in[1].to_tensor())));
           return Values{};
         }));
  m.define(str_cat("make_queue(int capacity) -> ", kQueueClass));
  m.impl("make_queue", K::CompositeExplicitAutograd, boxed([](const Values&) {
           return Values{IValue(IntrusivePtr<OpaqueObject>(make_intrusive<Queue>()))};
         }));
  m.define(str_cat("push(", queue, ", Tensor x) -> ()"));
  m.impl("push", K::CompositeExplicitAutograd, boxed([](const Values& in) {
           write(str_cat("push ", text_of(in[1].to_tensor())));
           queue_in(in[0]).items.push_back(in[1].to_tensor());
           return Values{};
         }));
  m.define(str_cat("pop(", queue, ") -> Tensor"));
  m.impl("pop", K::CompositeExplicitAutograd, boxed([](const Values& in) {
           std::deque<Tensor>& items = queue_in(in[0]).items;
           SB_CHECK(!items.empty(), "effects::pop: the queue is empty");
           Tensor x = std::move(items.front());
           items.pop_front();
           write(str_cat("pop ", text_of(x)));
           return Values{x};
         }));
  m.define(str_cat("size(", queue, ") -> int"));
  m.impl("size", K::CompositeExplicitAutograd, boxed([](const Values& in) {
           return Values{static_cast<int64_t>(queue_in(in[0]).items.size())};
         }));
  m.own(register_effect(m.define("copied(Tensor x) -> Tensor"), Effect::Ordered));
  m.impl("copied", K::CompositeExplicitAutograd, boxed([](const Values& in) {
           write(str_cat("copied ", text_of(in[0].to_tensor())));
           return Values{clone(in[0].to_tensor())};
         }));
  m.define("twice(Tensor x) -> Tensor");
  m.impl("twice", K::CompositeExplicitAutograd,
         boxed([](const Values& in) { return Values{in[0].to_tensor() * 2}; }));
  m.own(register_effect(m.define("twice_(Tensor(a!) x) -> Tensor(a!)"), Effect::Ordered));
  m.impl("twice_", K::CompositeExplicitAutograd, boxed([](const Values& in) {
           write(str_cat("twice_ ", text_of(in[0].to_tensor())));
           mul_(in[0].to_tensor(), in[0].to_tensor() * 0 + 2);
           return Values{in[0]};
         }));
}

Arguments call(std::string_view name, std::vector<IValue> arguments) {
  return default_dispatcher()
      .find_op_or_throw(str_cat("effects::", name))
      .call(std::move(arguments));
}

}  // namespace

void note(std::string_view what) { call("note", {what}); }
void note_value(std::string_view what, const Tensor& x) { call("note_value", {what, x}); }
void push(const IValue& queue, const Tensor& x) { call("push", {queue, x}); }
Tensor pop(const IValue& queue) { return call("pop", {queue})[0].to_tensor(); }
int64_t size(const IValue& queue) { return call("size", {queue})[0].to_int(); }
IValue make_queue() { return call("make_queue", {8})[0]; }
Tensor copied(const Tensor& x) { return call("copied", {x})[0].to_tensor(); }
Tensor twice_(const Tensor& x) { return call("twice_", {x})[0].to_tensor(); }

std::string take_log() { return std::exchange(*written(), ""); }

std::string log_of(const std::function<void()>& f) {
  take_log();
  std::string error;
  try {
    f();
  } catch (const Error& e) {
    error = str_cat("; ", e.kind(), ": ", e.what());
  }
  return take_log() + error;
}

std::string text_of(const Tensor& t) {
  std::string text;
  for (const double x : test::values_of(t)) text += str_cat(text.empty() ? "" : ", ", x);
  return text;
}

}  // namespace sb::effects
