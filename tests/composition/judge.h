// The law: a program under a stack of layers gives eager's answer, or an error that names the
// operator and the layer.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_JUDGE_H_
#define SWITCHBOARD_TESTS_COMPOSITION_JUDGE_H_

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/tests/composition/compare.h"
#include "switchboard/tests/composition/layers.h"

namespace sb::composition {

using LayerStack = std::vector<const Layer*>;  // from the inside out

// "grad, functionalize".
std::string to_string(const LayerStack& stack);
LayerStack parse_stack(std::string_view text);
// Whether the stack has a meaning: each layer once, fake outermost, no gradient taken inside of a
// body or of a custom operator, where nothing is recorded, and no trace inside of
// functionalisation, where trace() refuses its inputs.
bool has_meaning(const LayerStack& stack);

struct Verdict {
  enum class Kind : uint8_t { Passed, Failed, Refused, DoesNotApply };
  Kind kind = Kind::Passed;
  std::string message;    // what differs, or the error
  std::string op, layer;  // that a refusal names
};

struct JudgeOptions {
  // One that cannot be recorded does not go under gradients.
  bool recorded = true;
  // Whether it has loops. What these carry has in a graph the strides that it begins with.
  bool loops = false;
  // Which results may come of branches; none by default. On fake tensors nobody knows which branch
  // is taken, and so what these results share memory with.
  std::vector<bool> of_branches = {};
  bool in_double = false;  // the inputs have been made so
};

// A function whose answers are known.
class Judge {
 public:
  // The function is called again and again, with inputs made anew.
  Judge(TensorFunction f, internal::ArgumentPlan inputs, JudgeOptions options = {});

  Verdict judge(const LayerStack& stack);
  // Whether the function, run plainly once more with other bytes in fresh memory, does the same.
  // Otherwise there is nothing to be compared with.
  bool is_determined();
  // Whether it writes to its inputs, or gives them or views of them or of one another.
  bool is_pure();
  // Whether its inputs have the histories in the end that they began with: detach_ is a write that
  // autograd alone sees.
  bool leaves_histories();
  // Whether it does the same with inputs that have their memory alone, which shows it no more than
  // they have: the gradient that a custom operator gives is one of its inputs.
  bool stays_within_inputs();
  bool has_differentiable_input() const;

 private:
  Tensors make_inputs() const;
  const Outcome& plain();
  const Outcome& graded();
  // Notes for `compared` what the numbers on the way to gradients are like. Returns whether all are
  // finite.
  bool note_the_way(Compared* compared) const;
  // Whether it calls one of the operators.
  bool calls(std::initializer_list<std::string_view> names) const;
  // Whether a call gives what shows the numbers of an argument as others, of another dtype.
  bool reinterprets() const;
  // Whether the function passes under the stack with its inputs in double precision.
  bool passes_in_double(const LayerStack& stack) const;

  TensorFunction f_;
  internal::ArgumentPlan inputs_;
  JudgeOptions options_;
  std::optional<Outcome> plain_, graded_;
  std::optional<bool> leaves_histories_, stays_within_inputs_;
};

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_JUDGE_H_
