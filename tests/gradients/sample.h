// Calls of operators to differentiate, written as text.

#ifndef SWITCHBOARD_TESTS_GRADIENTS_SAMPLE_H_
#define SWITCHBOARD_TESTS_GRADIENTS_SAMPLE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/objects/op_overload.h"

namespace sb::test {

struct Sample {
  std::string text;
  std::string op;  // "aten::add.Tensor"
  Arguments positional;
  KeywordArguments keyword;
  bool once = false;  // has no second derivative
  // Which of its tensors, in order, are symmetric and have to stay so: as (x + x^T) / 2.
  std::vector<size_t> symmetric;
};

// One line: "add.Tensor f[2,3] f[3] alpha=0.5", the operator's name without its namespace and its
// arguments, keywords behind. "once" before it says that there is no second derivative.
//
//   f[2,3]     float64 that requires a gradient, magnitudes 0.15 to 0.85, no two alike, signs mixed
//   p[2,3]     the same, positive; u[2,3]: 1.15 to 1.85; h[2,3]: a tenth of f
//   n[2,3]     as p, and requires no gradient; m[2,3]: as u
//   c[2,3]     complex128 that requires a gradient
//   i[2]{0,1}  int64 with these elements
//   b[2,3]     bool, true and false in turn
//   s[3,3]     symmetric, positive definite, requires a gradient (as s[2,3,3])
//   {f[2],f[2]}  a list of tensors;  {i[2]{0,1},None}  with holes
//   3  0.5  true  None  "mean"  [1,2]  [0.5,2.0]  [true,false]  float64
//
// Throws ValueError, naming the line, for what is none of these.
Sample parse_sample(std::string_view line);

// The lines that are written by hand, one or more for an operator.
const std::vector<std::string>& sample_lines();

// Arguments made up from the schema: tensors of a few shapes and domains, numbers that the names of
// arguments suggest. The first that the operator accepts, with results that have finite elements
// and require a gradient; as a line. "" where there is none.
std::string make_up_sample(const OperatorHandle& op);

}  // namespace sb::test

#endif  // SWITCHBOARD_TESTS_GRADIENTS_SAMPLE_H_
