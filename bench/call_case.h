// A call that is written as text, so that another library can make the same one.

#ifndef SWITCHBOARD_BENCH_CALL_CASE_H_
#define SWITCHBOARD_BENCH_CALL_CASE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/operator_handle.h"

namespace sb::bench {

// "aten::add.Tensor f32:1024x1024 f32:1024 alpha=2": an operator and its arguments, as
// vs_pytorch_cases.txt says. Throws ValueError for a text that is none, and what the operator
// throws for arguments that it does not take.
class CallCase {
 public:
  explicit CallCase(std::string_view text);

  // Calls it, boxed, so many times; where a tensor requires a gradient, backwards too.
  void run(int64_t times) const;

 private:
  explicit CallCase(const std::vector<std::string>& words);

  OperatorHandle op_;
  Stack arguments_;
  std::vector<Tensor> inputs_;  // those that require a gradient
  Tensor ones_;                 // the gradient of the first result
};

}  // namespace sb::bench

#endif  // SWITCHBOARD_BENCH_CALL_CASE_H_
