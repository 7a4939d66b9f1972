// The ways of running a program with expectations: compositions/*.jsonl.
//
// Each makes fresh inputs and gives the first difference. It throws what the program throws, and
// Unsupported where Switchboard has no such way.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_WAYS_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_WAYS_H_

#include "switchboard/tests/conformance/composition.h"

namespace sb::conformance {

// As it is written: results, their aliasing, and what it wrote to inputs; or its error.
Difference run_eager(Composition& c);
// By functionalize(): elements of results and inputs.
Difference run_functionalized(Composition& c);
// As a graph, and as the graph of the functionalized program, each on fresh inputs: the same.
Difference run_traced(Composition& c);
// On fake tensors: dtype, shape and stride.
Difference run_fake(Composition& c);
// On fake tensors whose sizes are symbols: the shapes that their expressions give at other sizes,
// and that guards refuse none that PyTorch's admit.
Difference run_symbolic(Composition& c);
// As a function of one example, of inputs of its own: dtype, shape and elements. Then the same
// functionalised, and as a graph.
Difference run_vmap(Composition& c);

// Forward and backward; or its error, where the case says so.
Difference run_gradients(Composition& c);
// The same of the functionalized program.
Difference run_functionalized_gradients(Composition& c);
// Gradients of gradients: Hessian-vector products.
Difference run_hvp(Composition& c);
// Tangents, as derivatives of gradients by the gradients of the outputs.
Difference run_jvp(Composition& c);

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_WAYS_H_
