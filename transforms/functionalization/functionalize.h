// Programs that mutate, run as programs that do not.

#ifndef SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONALIZE_H_
#define SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONALIZE_H_

#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb {

// f as a function that gives the same results and leaves its inputs the same, while f's own calls
// arrive below the Functionalize key without mutations: in-place operators, out= arguments and
// writes to views have become new values. What f writes to its inputs, or to other plain tensors
// that it uses, is copied to them at the end, by copy_. Results that share memory with an input do
// so afterwards. Gradients pass, to results and to inputs that f wrote to. As
// `torch.func.functionalize(f, remove='mutations')`.
//
//   TensorFunction g = functionalize(f);
//   std::vector<Tensor> results = g({x, y});
//
// f must hand its tensors to operators only: data pointers do not exist in between. Where f throws,
// its exception passes through, the thread's state is restored and the inputs are as they were.
// Inside of another functionalised program of the thread, g is f: the outer one does it all.
TensorFunction functionalize(TensorFunction f);

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONALIZE_H_
