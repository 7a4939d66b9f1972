// Operators with effects, for tests: they write to a log, or change a queue.

#ifndef SWITCHBOARD_TESTS_EFFECTS_OPERATORS_H_
#define SWITCHBOARD_TESTS_EFFECTS_OPERATORS_H_

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/testing/places.h"

namespace sb::effects {

using Tensors = std::vector<Tensor>;
using Program = std::function<Tensors(const Tensors&)>;

constexpr char kQueueClass[] = "__torch__.torch.classes.effects.Queue";
struct Queue : OpaqueObject {
  std::string_view class_name() const override { return kQueueClass; }
  std::deque<Tensor> items;
};

// The operators of the namespace "effects", which by their schemas have an effect:
void note(std::string_view what);                         // (str what) -> ()
void note_value(std::string_view what, const Tensor& x);  // (str what, Tensor x) -> ()
void push(const IValue& queue, const Tensor& x);          // (Queue queue, Tensor x) -> ()
Tensor pop(const IValue& queue);                          // (Queue queue) -> Tensor
int64_t size(const IValue& queue);                        // (Queue queue) -> int
// and that is none: (int capacity) -> Queue
IValue make_queue();
// and those that are registered: a copy, (Tensor x) -> Tensor, and an in-place one with functional
// form twice, (Tensor(a!) x) -> Tensor(a!).
Tensor copied(const Tensor& x);
Tensor twice_(const Tensor& x);

// What the operators have written since the last call, "a, b=2".
std::string take_log();
// What f writes while it runs, and what it throws: "a; RuntimeError: ...".
std::string log_of(const std::function<void()>& f);

inline Tensor numbers(std::vector<double> values) {
  const auto size = static_cast<int64_t>(values.size());
  return test::tensor_of({size}, values);
}
// The elements: "1, 2".
std::string text_of(const Tensor& t);

}  // namespace sb::effects

#endif  // SWITCHBOARD_TESTS_EFFECTS_OPERATORS_H_
