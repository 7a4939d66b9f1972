// Checks gradients: those of backward against finite differences.
//
//   Tensor x = ...;                                  // float64 or complex128
//   set_requires_grad(x);
//   gradcheck([](const std::vector<Tensor>& in) { return std::vector<Tensor>{sin(in[0])}; }, {x});

#ifndef SWITCHBOARD_AUTOGRAD_GRADCHECK_H_
#define SWITCHBOARD_AUTOGRAD_GRADCHECK_H_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/tensor.h"

namespace sb {

// Thrown by gradcheck where gradients are wrong. As `GradcheckError`, a RuntimeError.
class GradcheckError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

// The function to differentiate. It computes its results from the tensors that it is given, leaves
// these as they are, and gives the same for the same.
using DifferentiableFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

struct GradcheckOptions {
  double eps = 1e-6;  // of the finite differences
  // |analytic - numeric| may be atol + rtol * |numeric|.
  double atol = 1e-5;
  double rtol = 1e-3;
  // The most by which results and gradients may differ from one run to the next.
  double nondet_tol = 0;
};

// A place where backward and finite differences differ: one element of an output by one of an
// input.
struct GradMismatch {
  std::string input;  // "input 1"; in gradgradcheck also "grad output 0"
  std::vector<int64_t> input_element;
  std::string output;  // "output 0"; in gradgradcheck "gradient of input 1"
  std::vector<int64_t> output_element;
  // The derivative of the imaginary part of a complex output's element, not of the real one.
  bool imaginary = false;
  // Of a complex input: the derivative by the real part plus i times that by the imaginary part.
  std::complex<double> analytic;
  std::complex<double> numeric;
};

struct GradcheckReport {
  std::string error;  // why the comparison could not be made, or what is wrong besides; or empty
  size_t compared = 0;
  size_t mismatches = 0;
  std::optional<GradMismatch> worst;  // of the mismatches

  bool passed() const { return error.empty() && mismatches == 0; }
  // Describes the failure in one line: "3 of 12 derivatives are not those of finite differences;
  // worst: output 0, element [1], by input 0, element [0, 1]: analytic 4, numeric 2". Empty if it
  // passed.
  std::string to_string() const;
};

// Compares the gradients of the inputs that require one with central differences, element by
// element. As `torch.autograd.gradcheck` (its slow mode). Complex numbers are pairs of real ones.
// It is also an error if
//
// - two runs on the same inputs differ, forward or backward, by more than nondet_tol;
// - a gradient of zeros comes back as something else;
// - no output requires a gradient, and one depends on an input all the same;
// - the outputs were not computed from the inputs, but from tensors that the function holds.
//
// The function runs on copies of those inputs, of the same strides, which share memory with
// nothing. Throws GradcheckError with the report; ValueError where no input requires a gradient or
// one that does is neither float64 nor complex128; RuntimeError for one with overlapping elements,
// as an expanded one, whose differences would be those of several elements at once; and what the
// function and its backward throw. For any number of threads; for inputs on any device that copy_
// reads.
void gradcheck(const DifferentiableFunction& f, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options = {});
// The same as data; throws what gradcheck throws but for GradcheckError.
GradcheckReport gradcheck_report(const DifferentiableFunction& f, const std::vector<Tensor>& inputs,
                                 const GradcheckOptions& options = {});

// The same for second derivatives: gradcheck of the gradients of f, as functions of the inputs and
// of the gradients of its outputs. Those that require one are checked in both; `grad_outputs` are
// random, the same in each run, where none are given. As `torch.autograd.gradgradcheck`. Besides:
// ValueError where `grad_outputs` are not one for each output that requires a gradient.
void gradgradcheck(const DifferentiableFunction& f, const std::vector<Tensor>& inputs,
                   const std::vector<Tensor>& grad_outputs = {},
                   const GradcheckOptions& options = {});
GradcheckReport gradgradcheck_report(const DifferentiableFunction& f,
                                     const std::vector<Tensor>& inputs,
                                     const std::vector<Tensor>& grad_outputs = {},
                                     const GradcheckOptions& options = {});

}  // namespace sb

#endif  // SWITCHBOARD_AUTOGRAD_GRADCHECK_H_
