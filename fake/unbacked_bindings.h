// Where in the results of a call the symbols are that it made.

#ifndef SWITCHBOARD_FAKE_UNBACKED_BINDINGS_H_
#define SWITCHBOARD_FAKE_UNBACKED_BINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb {

// A symbol that only data tells, and the first place that is it.
struct UnbackedBinding {
  enum class Part : uint8_t { Number, Size, Stride, StorageOffset };

  SymValue symbol;
  size_t result = 0;
  std::vector<size_t> elements;  // of lists in it, outermost first
  Part part = Part::Number;
  size_t dim = 0;  // of a size or stride

  std::string to_string() const;  // "u0 is result 0 .size(1)"
};

// Every symbol that the environment made after its first `before` ones, in their order, and has not
// found equal to another. Throws RuntimeError, naming the symbol and who made it, for one that is
// nowhere in the results: nobody could tell it when the data is there. As
// `compute_unbacked_bindings`.
//
//   const size_t before = env.symbols().size();
//   const std::vector<IValue> results = op.call(arguments);
//   for (const UnbackedBinding& b : unbacked_bindings(env, before, results)) ...
std::vector<UnbackedBinding> unbacked_bindings(const ShapeEnv& env, size_t before,
                                               absl::Span<const IValue> results);

// The call was made again, with these results: where they are real, the symbols get their values
// (ShapeEnv::bind_unbacked); where they are fake, the new symbols are the old ones from here on.
// Throws RuntimeError where a value breaks what is known of its symbol, ValueError for results
// without such places. As `rebind_unbacked`.
void rebind_unbacked(absl::Span<const UnbackedBinding> bindings, absl::Span<const IValue> results);

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_UNBACKED_BINDINGS_H_
