// The law, on the first random programs. For more of them: see README.md.

#include "catch2/catch.hpp"
#include "switchboard/tests/composition/print_cpp.h"
#include "switchboard/tests/composition/trial.h"
#include "switchboard/tests/poison/poison.h"

namespace sb::composition {
namespace {

TEST_CASE("Programs do under every stack of layers what they do eagerly, or are refused by name") {
  test::poison_fresh_memory(0xa7);
  constexpr uint64_t kPrograms = 150;
  const Operators operators("");
  TrialOptions options;
  for (const Layer& layer : all_layers()) options.layers.push_back(&layer);
  size_t passed = 0, refused = 0;
  TrialEvents events;
  events.begin = [](const std::string&) {};
  events.undetermined = [] {};
  events.verdict = [&](const LayerStack& stack, const Verdict& verdict, const Program& program) {
    passed += verdict.kind == Verdict::Kind::Passed;
    refused += verdict.kind == Verdict::Kind::Refused;
    if (verdict.kind != Verdict::Kind::Failed) return;
    const Smallest small = smallest(program, stack, verdict);
    FAIL_CHECK(
        test_code(small.program, to_string(small.stack), to_string(small.stack), small.message));
  };
  for (uint64_t number = 0; number < kPrograms; ++number)
    run_trial(operators, options, number, events);
  CHECK(passed > kPrograms * 5);
  // Most of them gradients of control flow under a mode that records it, and shapes that data says.
  CHECK(refused * 25 <= passed + refused);
}

}  // namespace
}  // namespace sb::composition
