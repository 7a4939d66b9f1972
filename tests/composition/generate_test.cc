// What random programs are.

#include "switchboard/tests/composition/generate.h"

#include <set>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tests/composition/print_cpp.h"
#include "switchboard/tests/poison/poison.h"

namespace sb::composition {
namespace {

using Class = Operators::Class;

const Operators& operators() {
  test::poison_fresh_memory(0xa7);
  static const Operators all("");
  return all;
}
std::string text_of(uint64_t seed) {
  return test_code(generate(operators(), seed), "grad", "a program", "");
}

TEST_CASE("Every operator of the registry is drawn from, or counted as left out") {
  size_t n = operators().left_out();
  for (size_t c = 0; c < Operators::kClasses; ++c)
    n += operators().of(static_cast<Class>(c)).size();
  CHECK(n == default_dispatcher().all_ops().size());
  CHECK(operators().left_out() * 10 < n);
}

TEST_CASE("A program is what its seed says") {
  CHECK(text_of(7) == text_of(7));
  CHECK(text_of(7) != text_of(8));
}

TEST_CASE("Programs run, have results, and have operators of every kind in them") {
  std::set<Class> classes;
  std::set<Callee> callees;
  bool nested = false, captured = false, no_elements = false, shared = false;
  const auto look = [&](auto& self, const Block& block, size_t depth) -> void {
    for (Step step : block.steps) {
      callees.insert(step.callee);
      if (step.op)
        for (size_t c = 0; c < Operators::kClasses; ++c)
          for (const OperatorHandle& op : operators().of(static_cast<Class>(c)))
            if (op == *step.op) classes.insert(static_cast<Class>(c));
      nested = nested || (depth > 0 && !step.op);
      for (const Value& value : step.arguments)
        for (const std::optional<Ref>& ref : value.refs) captured |= ref && ref->depth > 0;
      for (const Block& inner : step.blocks) self(self, inner, depth + 1);
    }
  };
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Program program = generate(operators(), seed);
    CHECK_NOTHROW(run_block(program.block, program.make_inputs()));
    CHECK_FALSE(program.block.outputs.empty());
    look(look, program.block, 0);
    for (size_t i = 0; i < program.inputs.tensors.size(); ++i) {
      no_elements |= program.inputs.tensors[i].numel() == 0;
      shared |= program.inputs.shares_memory(i);
    }
  }
  CHECK(classes.size() == Operators::kClasses);
  CHECK(callees.size() == 5);
  CHECK(nested);
  CHECK(captured);
  CHECK(no_elements);
  CHECK(shared);
}

}  // namespace
}  // namespace sb::composition
