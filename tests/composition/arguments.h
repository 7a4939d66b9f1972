// Arguments for an operator, from the types of its schema and the tensors that a program has.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_ARGUMENTS_H_
#define SWITCHBOARD_TESTS_COMPOSITION_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "switchboard/dispatch/schema/function_schema.h"
#include "switchboard/tests/composition/program.h"

namespace sb::composition {

class Random {
 public:
  explicit Random(uint64_t seed) : random_(seed) {}
  size_t pick(size_t n) { return static_cast<size_t>(random_() % n); }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(pick(static_cast<size_t>(high - low + 1)));
  }
  bool chance(unsigned percent) { return pick(100) < percent; }
  template <class List>
  const auto& one_of(const List& list) {
    return list[pick(std::size(list))];
  }

 private:
  std::mt19937_64 random_;
};

// A tensor that a step may use, as it is at this point of the program.
struct Live {
  Ref ref;
  Tensor tensor;
};

struct PickedArguments {
  std::vector<Value> values;
  Stack stack;  // the same for the tensors as they are
};

// One value for each argument; nullopt where there is none of an argument's type. A fraction of
// what is picked makes sense to the operator, which refuses the rest.
std::optional<PickedArguments> pick_arguments(const FunctionSchema& schema,
                                              const std::vector<Live>& live, Random& random);

// Whether pick_arguments knows values of all types of the schema.
bool can_pick_arguments(const FunctionSchema& schema);

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_ARGUMENTS_H_
