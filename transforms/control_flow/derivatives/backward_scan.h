// The gradient of a function that runs again and again on what it carries: a scan from the last run
// to the first.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_DERIVATIVES_BACKWARD_SCAN_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_DERIVATIVES_BACKWARD_SCAN_H_

#include <memory>
#include <vector>

#include "switchboard/transforms/control_flow/derivatives/call_node.h"
#include "switchboard/transforms/control_flow/derivatives/derived_function.h"

namespace sb::control_flow {

// What comes to have a gradient when a function runs again and again on what it carries.
struct GradientFlow {
  // `requires_grad` says which of the inputs of the first run require one: carried, slices, fixed.
  // There is such a run: what is carried in the end comes of one.
  GradientFlow(const DerivedFunction& function, size_t num_carried,
               std::vector<bool> requires_grad);

  std::vector<bool> carried;  // to some run
  std::vector<bool> results;
};

// Gradients of what came of the runs, for each carried tensor or stacked result; undefined ones
// too.
struct GradientsOfRuns {
  Tensors last;     // of what is carried in the end
  Tensors next;     // of what each run gave to be carried on: one row for each
  Tensors rows;     // of what was carried to each: the same
  Tensors stacked;  // of what else each gave: the same
};

// One step back through a function
//
//   (carried..., slices..., fixed...) -> (next carried..., stacked...)
//
// A gradient is carried back for each carried tensor that has one; slices have one each, and what
// is fixed the sum.
//
// A gradient that does not come to a run is not zeros there, as where the runs are derived one by
// one: zeros times an infinite derivative are NaN. Which ones come may differ from run to run, as
// the last one gets those of the results and hands on others. So there are states, each with a
// function of its own, that runs go through: in the end one of them again and again, or several in
// turn.
struct BackwardStep {
  // `has` says which carried tensors may have one. `wanted` has an element for each of the slices
  // and then for each of the fixed tensors.
  BackwardStep(DerivedFunction* of, const std::vector<bool>& has, size_t num_slices,
               const std::vector<bool>& wanted, const GradientsOfRuns& gradients);

  // Those of which it gives gradients, in the order in which it gives them: zeros where none comes.
  std::vector<size_t> carried, slices, fixed;
  // By state: whether a step that begins in it hands on a gradient of each of `carried`.
  std::vector<std::vector<bool>> hands_on;
  // Of the i-th of `carried`.
  bool always_hands_on(size_t i) const;
  // By state: of (carried..., slices..., fixed..., gradients of next carried..., of stacked...).
  std::vector<IValue> functions;
  // The state behind the last one.
  size_t again;
  // Whether only the data tell which gradients a run hands on, as of a loop in it. There is one
  // state then, of every gradient that may come, and its function takes, behind the gradients,
  // whether each of `carried` has come; it gives that, and then the same of `fixed`, in the end.
  bool by_data = false;
};

// What a function was given when it ran again and again: one row for each run, and what is fixed.
struct Runs {
  Tensors carried, slices, fixed;
};

// Of what the runs were given. Undefined where the step gives none.
struct GradientsOfInputs {
  Tensors carried, slices, fixed;
  // Of a gradient of a carried tensor that comes after some numbers of runs alone: a bool tensor
  // that says whether it has come. Undefined for one that comes in any case.
  Tensors came;
  Tensors fixed_came;  // of fixed ones, the same
};

GradientsOfInputs run_backward_scan(const BackwardStep& step, const Runs& runs,
                                    const GradientsOfRuns& gradients);

// A gradient to begin with: dense, of zeros where it is undefined.
Tensor first_gradient(const Tensor& grad, const Tensor& like);

}  // namespace sb::control_flow

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_DERIVATIVES_BACKWARD_SCAN_H_
