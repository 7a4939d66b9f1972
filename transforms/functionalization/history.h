// How autograd sees the tensors of a functionalised program. Values are recorded as any tensors
// are: a gradient passes through a functionalised program by the values that stand for its tensors.

#ifndef SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_HISTORY_H_
#define SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_HISTORY_H_

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/modes/grad_hooks.h"

namespace sb::internal {

// Returns whether calls on values are recorded where the program's are: not in inference mode, and
// not where whoever started the program has excluded autograd.
bool records_values();

// For the time that the outermost functionalised program of a thread runs: notes whether autograd
// was excluded when it started.
class RecordsOfProgram {
 public:
  RecordsOfProgram();
  ~RecordsOfProgram();
  RecordsOfProgram(const RecordsOfProgram&) = delete;
  RecordsOfProgram& operator=(const RecordsOfProgram&) = delete;

 private:
  bool was_excluded_;
};

// The elements of `data` with the gradient of `old`, which has its shape, or is undefined: a tensor
// after a write that autograd did not see. `data` itself where neither requires a gradient.
Tensor with_history_of(const Tensor& old, const Tensor& data);

// Makes a functional tensor look to autograd as the plain one does that it stands for: a leaf that
// requires a gradient, or one that was computed. In the second case backward that is run inside of
// the program ends there in an error: what is outside would get no gradient.
void mirror_history(const Tensor& plain, const Tensor& functional);

}  // namespace sb::internal

#endif  // SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_HISTORY_H_
