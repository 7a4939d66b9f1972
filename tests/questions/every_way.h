// For questions: whether a program does the same in every way of running it.

#ifndef SWITCHBOARD_TESTS_QUESTIONS_EVERY_WAY_H_
#define SWITCHBOARD_TESTS_QUESTIONS_EVERY_WAY_H_

#include <functional>
#include <string>

#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::questions {

// The values of all results and then of the inputs; or the error.
inline std::string outcome(const Program& f, const Tensors& inputs) {
  std::string text;
  const std::string error = error_of([&] {
    Tensors all = f(inputs);
    all.insert(all.end(), inputs.begin(), inputs.end());
    for (const Tensor& t : all)
      for (const double v : values_of(t)) text += std::to_string(v) + " ";
  });
  return error == "no error" ? text : error;
}
// Eager, functionalised and as a graph, on fresh inputs, the program does the same; as a graph of
// the functionalised one that, too, or it is refused by name.
inline void check_every_way(const Program& f, const std::function<Tensors()>& inputs) {
  const std::string eager = outcome(f, inputs());
  CHECK_THAT(eager, !Contains("Error: "));
  CHECK(outcome(functionalize(f), inputs()) == eager);
  CHECK(outcome([&](const Tensors& in) { return trace(f, inputs()).run(in); }, inputs()) == eager);
  const std::string graph = outcome(
      [&](const Tensors& in) { return trace(functionalize(f), inputs()).run(in); }, inputs());
  if (graph != eager) CHECK_THAT(graph, StartsWith("NotImplementedError: higher_order::"));
}

}  // namespace sb::questions

#endif  // SWITCHBOARD_TESTS_QUESTIONS_EVERY_WAY_H_
