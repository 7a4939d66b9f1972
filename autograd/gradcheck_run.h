// The comparison itself, for gradcheck and gradgradcheck.

#ifndef SWITCHBOARD_AUTOGRAD_GRADCHECK_RUN_H_
#define SWITCHBOARD_AUTOGRAD_GRADCHECK_RUN_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/autograd/gradcheck.h"
#include "switchboard/core/str_cat.h"

namespace sb::internal {

// The names of the function's inputs and outputs, and a flag: outputs that require no gradient may
// depend on inputs, as those may that an operator marks as not differentiable.
struct GradcheckSubject {
  std::function<std::string(size_t)> input = [](size_t j) { return str_cat("input ", j); };
  std::function<std::string(size_t)> output = [](size_t i) { return str_cat("output ", i); };
  bool may_lose_gradients = true;
};

// Compares the gradients of the inputs that require one with differences.
GradcheckReport run_gradcheck(const DifferentiableFunction& f, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options, const GradcheckSubject& subject);

// Throws what gradcheck throws for inputs that cannot be checked. `what` they are: "input".
void check_gradcheck_inputs(std::string_view who, std::string_view what,
                            const std::vector<Tensor>& inputs);

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_GRADCHECK_RUN_H_
