// Inputs of random programs.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_INPUTS_H_
#define SWITCHBOARD_TESTS_COMPOSITION_INPUTS_H_

#include "switchboard/custom_ops/opcheck/argument_plan.h"
#include "switchboard/tests/composition/arguments.h"

namespace sb::composition {

// One to four tensors of few elements, most of sizes that fit one another: of many dtypes, with
// strides of all kinds, some on one memory, some of zero elements or one.
internal::ArgumentPlan random_inputs(Random& random);

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_INPUTS_H_
