// Calls of random programs, of whatever operators there are, under stacks of layers.

#include <cstdint>

#include "catch2/catch.hpp"
#include "switchboard/tests/composition/trial.h"
#include "switchboard/tests/explain/explained_calls.h"

namespace sb::test {
namespace {

TEST_CASE("calls of random programs are explained as traced, under stacks of layers", "[explain]") {
  constexpr uint64_t kPrograms = 30;
  composition::TrialOptions options;
  for (const composition::Layer& layer : composition::all_layers())
    options.layers.push_back(&layer);
  composition::TrialEvents events;
  events.begin = [](const std::string&) {};
  events.verdict = [](const auto&, const auto&, const auto&) {};
  events.undetermined = [] {};
  const composition::Operators operators("");
  ExplainedCalls calls;
  {
    const ExplainCallsGuard explain(&calls);
    for (uint64_t number = 0; number < kPrograms; ++number)
      run_trial(operators, options, number, events);
  }
  WARN(calls.to_string());
  for (const std::string& text : calls.texts()) UNSCOPED_INFO(text);
  CHECK(calls.otherwise() == 0);
  CHECK(calls.as_traced() > 1000);
}

}  // namespace
}  // namespace sb::test
