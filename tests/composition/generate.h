// Random programs of whatever operators the registry has.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_GENERATE_H_
#define SWITCHBOARD_TESTS_COMPOSITION_GENERATE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/tests/composition/program.h"

namespace sb::composition {

// The operators that programs are made of: all but those that are tagged nondeterministic_seeded,
// those with an argument that nothing can be picked for, and the layers' own. In classes, by their
// schemas.
class Operators {
 public:
  enum class Class : uint8_t { View, InPlace, Out, Functional, Custom };
  static constexpr size_t kClasses = 5;

  // `only`: those whose names contain this, in the place of each class.
  explicit Operators(const std::string& only);

  const std::vector<OperatorHandle>& of(Class c) const { return classes_[static_cast<size_t>(c)]; }
  size_t left_out() const { return random_ + other_types_ + of_layers_; }
  std::string to_string() const;

 private:
  std::array<std::vector<OperatorHandle>, kClasses> classes_;
  size_t random_ = 0, other_types_ = 0, of_layers_ = 0;
};

// What the program with this seed is. Every call in it succeeds, and no result depends on
// uninitialised memory or on the order in which elements are written; fresh memory must be
// poisoned.
// `trying` hears of each step before it runs in the frame: it may crash.
using Trying = std::function<void(const Step&, const Frame&)>;
Program generate(const Operators& operators, uint64_t seed, const Trying& trying = nullptr);

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_GENERATE_H_
