// Random calls of operators, on cpu and on meta, which must agree.

#ifndef SWITCHBOARD_TESTS_FUZZ_RANDOM_CALLS_H_
#define SWITCHBOARD_TESTS_FUZZ_RANDOM_CALLS_H_

#include <cstdint>
#include <string>

#include "switchboard/dispatch/dispatcher.h"

namespace sb::fuzz {

struct Outcome {
  bool succeeded = false;  // on the CPU
  std::string fault;       // what does not hold; empty if all does
  std::string call;        // the arguments, as text
};

// Calls the operator with the arguments of that seed on cpu and, made anew, on meta. It must hold:
//
// - What is thrown is an sb::Error, and leaves every argument on the CPU as it was, bit for bit.
// - Where cpu succeeds meta does, with the same dtypes, sizes and strides of results and of written
//   arguments; but meta may throw DataDependentOutputError and DynamicOutputShapeError.
// - Where meta refuses cpu does. (Not the other way: what is wrong may be an element.)
Outcome random_call(const OperatorHandle& op, uint64_t seed);

}  // namespace sb::fuzz

#endif  // SWITCHBOARD_TESTS_FUZZ_RANDOM_CALLS_H_
