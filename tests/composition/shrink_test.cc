// What is printed of a failure is small.

#include "switchboard/tests/composition/shrink.h"

#include <algorithm>
#include <functional>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/tests/composition/generate.h"
#include "switchboard/tests/composition/print_cpp.h"
#include "switchboard/tests/poison/poison.h"

namespace sb::composition {
namespace {

bool uses(const Block& block, const std::function<bool(const Step&)>& is) {
  for (const Step& step : block.steps) {
    if (is(step)) return true;
    for (const Block& inner : step.blocks)
      if (uses(inner, is)) return true;
  }
  return false;
}
bool runs(const Program& program) {
  try {
    run_block(program.block, program.make_inputs());
  } catch (const std::exception&) {
    return false;
  }
  return true;
}
// The first random program that runs and for which `is` holds of a step.
Program find(const std::function<bool(const Step&)>& is, size_t steps) {
  test::poison_fresh_memory(0xa7);
  static const Operators operators("");
  for (uint64_t seed = 0;; ++seed) {
    Program program = generate(operators, seed);
    if (count_steps(program.block) >= steps && uses(program.block, is)) return program;
  }
}
size_t elements(const Program& program) {
  size_t n = 0;
  for (const internal::MemoryPlan& memory : program.inputs.memories) n += memory.elements.size();
  return n;
}
size_t lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_CASE("Only the call that shows something is left, on small inputs") {
  const auto is_cat = [](const Step& step) { return step.name() == "aten::cat"; };
  const auto shows = [&](const Program& p) { return runs(p) && uses(p.block, is_cat); };
  const Program small = shrink(find(is_cat, 6), shows);
  CHECK(shows(small));
  CHECK(count_steps(small.block) == 1);
  CHECK(small.block.inputs == 1);
  CHECK(small.block.outputs.empty());
  CHECK(elements(small) <= 1);
}

TEST_CASE("A call in the body of a loop comes out of it, where it shows the same there") {
  const auto has_relu_inside = [](const Step& step) {
    return step.callee != Callee::Operator &&
           uses(step.blocks.back(), [](const Step& s) { return s.op.has_value(); });
  };
  const auto any = [](const Program& p) { return runs(p) && !p.block.steps.empty(); };
  const Program small = shrink(find(has_relu_inside, 4), any);
  CHECK(count_steps(small.block) == 1);
  CHECK(small.block.steps[0].callee == Callee::Operator);
}

TEST_CASE("A loop that is needed stays, and is printed on at most 30 lines") {
  for (Callee callee : {Callee::Cond, Callee::WhileLoop, Callee::Map, Callee::Scan}) {
    const auto is = [&](const Step& step) { return step.callee == callee; };
    const auto shows = [&](const Program& p) { return runs(p) && uses(p.block, is); };
    const Program small = shrink(find(is, 5), shows);
    INFO(test_code(small, "functionalize", "a loop", ""));
    CHECK(shows(small));
    CHECK(lines(test_code(small, "functionalize", "a loop", "")) <= 30);
  }
}

TEST_CASE("No more programs are tried than is allowed") {
  int tried = 0;
  const auto shows = [&](const Program&) {
    ++tried;
    return true;
  };
  shrink(find([](const Step&) { return true; }, 6), shows, 3);
  CHECK(tried == 3);
}

}  // namespace
}  // namespace sb::composition
